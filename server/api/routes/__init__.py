"""One module for each group of calls; each has a `router`."""
