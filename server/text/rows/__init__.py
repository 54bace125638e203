"""Questions about rows that stand beside them: the words, what they name, what they come to."""
