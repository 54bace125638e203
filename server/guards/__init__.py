"""Guards: what a question may not be about, told before anything runs."""
