"""Tools that run in process: a registry, an executor, a lint, and three tools."""
