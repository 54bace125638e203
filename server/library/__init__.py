"""domain.yaml and template files, read into one validated Library."""
