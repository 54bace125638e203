"""What is read of a question, one thing after the other: each step uses up some of its words."""
