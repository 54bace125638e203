"""Local stand-ins for the public services that the examples call."""
