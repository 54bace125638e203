"""YAML with positions, `import:` and `${ENV}`, read into Pydantic models."""
