"""Ports for programs that have to be told one, since they cannot take any and say which."""

import itertools
import os
import random
import socket

_PORTS = range(20_000, 32_000)  # below those that Linux gives to connections and to port 0
_SHARES = 8

_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_share = _PORTS[_worker % _SHARES :: _SHARES]
_next = itertools.cycle(_share)
for _ in range(random.randrange(len(_share))):  # another run may be under way beside this one
    next(_next)


def free_port() -> int:
    """One that nothing listens on, and that no worker beside this one is given meanwhile."""
    for port in itertools.islice(_next, len(_share)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise RuntimeError("no port is free")
