"""What was called and refused, chained so that no entry goes missing unseen."""
