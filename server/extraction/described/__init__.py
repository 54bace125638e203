"""Arguments for templates that have no examples: read by what their descriptions say."""
