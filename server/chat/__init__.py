"""One turn, from question to answer."""
