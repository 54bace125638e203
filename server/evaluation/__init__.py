"""A library's questions, what the system made of them, and how good that was."""
