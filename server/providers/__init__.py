"""Models of others, each behind a port: one file for one provider."""
