"""Questions to tables that belong together, read into one query by the words of a data model."""
