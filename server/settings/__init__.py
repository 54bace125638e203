"""The configuration: YAML with positions, `import:` and `${ENV}`, read into Pydantic models.

`loader.load_settings` reads it into `models.Settings`; `documents` and `validation` read any
other YAML file so that each problem names its line.
"""
