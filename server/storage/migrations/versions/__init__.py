"""One file for each version, and only ever one more."""
