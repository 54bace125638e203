"""From a question to typed arguments, each with the place it was read from."""
