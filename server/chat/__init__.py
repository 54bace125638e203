"""One turn, from question to answer: `pipeline` runs it, `adapter` is what it runs in."""
