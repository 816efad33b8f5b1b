"""PCKV (USENIX Security 2020): one module for each notebook page."""
