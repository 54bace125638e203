"""Classes that `implementation:` names."""
