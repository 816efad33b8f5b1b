"""The papers: a function for each figure, table and theorem check, and the verdicts on them."""
