"""What is kept for those who watch a server: traces, the log of decisions, usage by key.

Metrics are in `server.metrics`; `server.chat.observation` says what of a turn goes where.
"""
