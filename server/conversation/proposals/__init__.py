"""Calls that wait for a yes."""
