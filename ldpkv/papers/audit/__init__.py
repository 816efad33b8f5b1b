"""APT, the sequential auditor (arXiv 2602.06518): one module for each notebook page."""
