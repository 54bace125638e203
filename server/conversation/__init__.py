"""What a conversation remembers, and what in it waits for a yes."""
