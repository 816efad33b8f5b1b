"""Claims of HISKV: one module a notebook page."""
