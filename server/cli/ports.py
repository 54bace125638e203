"""Whether a port is free, and who has it when it is not."""

import errno
import os
import socket
from pathlib import Path
from typing import Final

from server.errors import OrbitError

_LISTENING: Final = "0A"
_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


class PortUnusable(OrbitError):
    """The server cannot listen where it was asked to; the message says why."""

    code = "port_unusable"


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 takes any free one. May raise PortUnusable."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        # Connections that are closing must not keep a restart from its own port.
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(2048)
    except OSError as refused:
        listening.close()
        raise PortUnusable(_why_refused(host, port, refused)) from refused
    return listening


def check_free(host: str, port: int) -> int:
    """Return the port, or a free one for 0, if it can be listened on, or raise PortUnusable."""
    with listen(host, port) as probe:
        bound: int = probe.getsockname()[1]
        return bound


def listener_on(port: int) -> str | None:
    """Return the process that listens on a port as `name (pid N)`; None when it cannot be told."""
    sockets = {
        fields[9]
        for table in _TABLES
        if table.exists()
        for fields in (line.split() for line in table.read_text().splitlines()[1:])
        if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port
    }
    links = {f"socket:[{inode}]" for inode in sockets - {"0"}}
    for process in Path("/proc").glob("[0-9]*") if links else ():
        try:
            if any(os.readlink(fd) in links for fd in (process / "fd").iterdir()):
                name = (process / "comm").read_text(encoding="utf-8", errors="replace").strip()
                return f"{name} (pid {process.name})"
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue  # it ended just now, or belongs to somebody else
    return None


def _why_refused(host: str, port: int, refused: OSError) -> str:
    if isinstance(refused, socket.gaierror) or refused.errno == errno.EADDRNOTAVAIL:
        return f"{host!r} is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all"
    if refused.errno == errno.EADDRINUSE:
        owner = listener_on(port)
        by = f" by {owner}" if owner else ""
        return f"port {port} on {host} is taken{by}: end that, or choose another with --port"
    if refused.errno == errno.EACCES:
        return f"port {port} is for the system's own use: choose one from 1024 up with --port"
    return f"cannot listen on port {port} of {host}: {refused.strerror}"
