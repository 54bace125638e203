"""Calling HTTP services: filling requests, sending them, reading what comes back."""
