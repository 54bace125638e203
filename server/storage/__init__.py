"""Databases, private files and the secret of the installation."""
