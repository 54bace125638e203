"""Rows: a list of objects, read, filtered, ordered and summed up."""
