"""Configurations and libraries with mistakes in them, each with what is said of it."""
