"""What is counted and timed, for Prometheus. No label ever holds what a person wrote."""
