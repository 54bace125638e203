"""What decides. A decider turns a question into a decision, and runs nothing: see `base`."""
