"""Calls to HTTP services, by `engine.HttpCalls`.

`request` fills, `sender` sends, `response` reads, `pagination` gathers pages, and `egress`
decides where connections may go.
"""
