"""`domain.yaml` and template files, read into one validated `Library`.

`loader.load_library` reads one; `model` has its types, `parameter_types` the types that a
parameter may have, `http_model` the requests; the other modules build these from YAML.
"""
