"""What stands between a proposed call and the tool: one chain, one file for each step."""
