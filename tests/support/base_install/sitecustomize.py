"""Read at its start by any Python with this folder on PYTHONPATH: a base install, and no way out.

`BASE_INSTALL` names a JSON file: the packages that cannot be imported, as `missing`, and as
`attempts` the file that is told of whatever would leave this machine.
"""

import asyncio
import ipaddress
import json
import os
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SAID = json.loads(Path(os.environ["BASE_INSTALL"]).read_text("utf-8"))
_MISSING = frozenset(_SAID["missing"])
_ATTEMPTS = Path(_SAID["attempts"])
_OUTGOING = {
    "socket.connect": 1,
    "socket.sendto": 1,
    "socket.getaddrinfo": 0,
    "socket.gethostbyname": 0,
}
"""Which argument of an audit event is the address, or the name of a host."""


class _Missing:
    """Finds nothing of what a base install has not, and keeps others from finding it."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> None:
        if name.partition(".")[0] in _MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _is_outside(host: object) -> bool:
    if host is None or host in ("", "localhost"):
        return False
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else str(host))
    except ValueError:
        return True
    return not (address.is_loopback or address.is_unspecified)


def _watch(event: str, args: tuple[Any, ...]) -> None:
    if event not in _OUTGOING:
        return
    address = args[_OUTGOING[event]]
    if isinstance(address, tuple):
        address = address[0]
    elif event in ("socket.connect", "socket.sendto"):
        return  # a path: a socket of this machine
    if _is_outside(address):
        with _ATTEMPTS.open("a", encoding="utf-8") as attempts:
            attempts.write(f"{event} {address}\n")
        raise PermissionError(f"nothing may leave this machine, not even for {address}")


class _AsyncioLoop(types.ModuleType):
    """In the place of uvloop, whose connections no audit event tells of."""

    new_event_loop = staticmethod(asyncio.new_event_loop)


sys.meta_path.insert(0, _Missing())
sys.modules["uvloop"] = _AsyncioLoop("uvloop")
sys.addaudithook(_watch)
