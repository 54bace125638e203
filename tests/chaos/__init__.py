"""What a server bears: stopped databases, hostile clients, clocks that jump."""
