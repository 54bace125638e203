"""What a question decides when it goes on with a conversation."""
