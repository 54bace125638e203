"""The written record of every tool call and refusal, as a chain that shows changes."""
