"""Shared by every test: one async backend, and no network beyond loopback."""

import ipaddress
import sys
from typing import Any

import pytest

_LOCAL_NAMES = {"localhost", "ip6-localhost", ""}


def _is_loopback(host: object) -> bool:
    if not isinstance(host, str) or host in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_outside(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        address = args[1]
        if isinstance(address, tuple) and not _is_loopback(address[0]):
            raise PermissionError(f"tests may only reach loopback, not {address[0]}")


sys.addaudithook(_refuse_outside)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("local_model")]
    if not marked:
        return
    from tests.support.local_model import why_not

    if reason := why_not():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))
