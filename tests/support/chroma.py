"""A ChromaDB server on loopback."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.ports import free_port


@contextmanager
def chroma_server(path: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """A ChromaDB server of its own, on loopback: its port, and its process."""
    port = free_port()
    # As Chroma's own command does, which also imports what an install from the lock has not.
    run = "import sys, chromadb_rust_bindings as chroma; chroma.cli(['chroma', *sys.argv[1:]])"
    command = [sys.executable, "-c", run, "run", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--path", str(path)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as server:
        try:
            for _ in range(600):
                try:
                    httpx.get(f"http://127.0.0.1:{port}/api/v2/heartbeat").raise_for_status()
                    break
                except httpx.HTTPError:
                    time.sleep(0.05)
            yield port, server
        finally:
            server.terminate()
