"""Calls that wait for a confirmation."""
