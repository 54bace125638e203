"""Functions of the operator's own, as tools."""
