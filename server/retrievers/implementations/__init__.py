"""The retrievers that ship with the server."""
