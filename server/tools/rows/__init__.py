"""Rows, which are lists of objects: read, and their fields found, compared and summed up."""
