"""Which client an address stands for, where clients are told apart by their addresses."""

import ipaddress
from functools import lru_cache
from typing import Final

_IPV6_PREFIX: Final = 64
"""Bits of an IPv6 address that one customer of a provider has, who may choose the others."""


@lru_cache(maxsize=4096)
def client_of(host: str) -> str:
    """Return the client behind an address: an IPv4 address, or a network of IPv6."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, _IPV6_PREFIX), strict=False))
    return str(address)


@lru_cache(maxsize=256)
def is_local_host(host: str) -> bool:
    """Return whether a host is this machine, by its loopback address or name."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
