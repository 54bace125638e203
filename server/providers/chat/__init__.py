"""Models that speak: one file a provider, and what stands before every one of them."""
