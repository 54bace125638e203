"""Questions about rows."""
