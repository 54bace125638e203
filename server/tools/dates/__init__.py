"""Dates: read as people write them, written as people ask, and measured."""
