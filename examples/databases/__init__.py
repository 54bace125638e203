"""Databases that the examples ask, made up by a script: a shop, and the trips of rented bicycles."""
