"""The types every stage speaks, and the seams between stages."""
