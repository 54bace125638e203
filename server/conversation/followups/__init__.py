"""What a message means that goes on with what was said."""
