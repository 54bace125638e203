"""Databases that the examples ask, made up: a shop, and the trips of rented bicycles."""
