"""The adapters as MCP servers: templates are tools, over HTTP and standard input and output.

Open `server.py` first. Only `http.py` and `peer.py` are imported before the SDK is, which is an
extra.
"""
