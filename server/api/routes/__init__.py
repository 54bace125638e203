"""One file per group of calls."""
