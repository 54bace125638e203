"""Commit events: kept with the call that they report, and delivered at least once."""
