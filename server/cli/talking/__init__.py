"""A conversation at the terminal: who answers, what is shown, and the loop between them."""
