"""Telling others what was committed."""
