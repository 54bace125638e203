"""Where calls may go: every host is resolved, checked and connected to here."""

import ipaddress
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpcore
import httpx

from server import __version__
from server.errors import Problem
from server.library.http_model import HttpExecution
from server.library.model import Library

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")

_NOT_PUBLIC: Final = tuple(
    map(
        ipaddress.ip_network,
        # Site-local (deprecated), documentation, ORCHIDv2, 6to4 relays.
        ("fec0::/10", "3fff::/20", "2001:20::/28", "192.88.99.0/24"),
    )
)
"""Not on the open internet, although `is_global` of Python says so."""


class AddressRefused(httpcore.ConnectError):
    """The host may not be called, or its address is one that must not be called."""


class RedirectUnusable(httpx.ProtocolError):
    """A service sends its caller on to what is no address."""


@dataclass(frozen=True, slots=True)
class EgressPolicy:
    """The only `allowed_hosts`, if any, and those that may stand on private addresses.

    Both are written as `host` or `host:port`.
    """

    allowed_hosts: frozenset[str] = frozenset()
    private_hosts: frozenset[str] = frozenset()

    def admits(self, host: str, port: int) -> bool:
        return not self.allowed_hosts or _listed(self.allowed_hosts, host, port)

    def may_be_private(self, host: str, port: int) -> bool:
        return _listed(self.private_hosts, host, port)


def _listed(hosts: frozenset[str], host: str, port: int) -> bool:
    name = host.lower().rstrip(".")
    bracketed = f"[{name}]" if ":" in name else name
    return not hosts.isdisjoint({name, bracketed, f"{bracketed}:{port}"})


def is_public(address: Address) -> bool:
    """Whether an address, or the one that IPv6 wraps around it, is on the open internet."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is None and address.teredo is not None:
            inner = address.teredo[1]
        if inner is not None:
            return is_public(inner)
        if int(address) >> 32 == 0:
            return False  # the old IPv4-compatible form, ::127.0.0.1
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


class EgressBackend(httpcore.AsyncNetworkBackend):
    def __init__(self, egress: EgressPolicy) -> None:
        self._egress = egress
        self._network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the signature is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Raises `AddressRefused`, or as httpcore does."""
        if not self._egress.admits(host, port):
            raise AddressRefused(f"{host} is not among the hosts that may be called")
        try:
            with anyio.fail_after(timeout):
                addresses = await _resolve(host, port)
        except TimeoutError as late:
            raise httpcore.ConnectTimeout(f"{host} was not resolved in time") from late
        private = self._egress.may_be_private(host, port)
        if not private and not all(map(is_public, addresses)):
            raise AddressRefused(f"{host} is on an address that must not be called")
        failure: httpcore.ConnectError | None = None
        for address in addresses:
            try:
                return await self._network.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except httpcore.ConnectError as failed:
                failure = failed
        raise failure or httpcore.ConnectError(f"{host} has no address")

    async def sleep(self, seconds: float) -> None:
        await self._network.sleep(seconds)


async def _resolve(host: str, port: int) -> list[Address]:
    try:
        found = await anyio.getaddrinfo(host, port, type=1)
    except (OSError, UnicodeError) as unknown:
        raise httpcore.ConnectError(f"{host} could not be resolved") from unknown
    texts = dict.fromkeys(str(entry[4][0]).split("%")[0] for entry in found)
    return [ip_address(text) for text in texts]


MAX_CONNECTIONS: Final = 100
_KEEPALIVE_S: Final = 30.0
_CONNECT_TIMEOUT_S: Final = 10.0


_ERRORS: Final[Mapping[type[Exception], type[httpx.TransportError]]] = {
    getattr(httpcore, name): getattr(httpx, name)
    for name in (
        *("ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout"),
        *("ConnectError", "ReadError", "WriteError"),
        *("UnsupportedProtocol", "LocalProtocolError", "RemoteProtocolError"),
    )
}


class EgressTransport(httpx.AsyncBaseTransport):
    def __init__(self, egress: EgressPolicy) -> None:
        self._connections = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=MAX_CONNECTIONS,
            max_keepalive_connections=MAX_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=EgressBackend(egress),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        with _errors_of_httpx():
            response = await self._connections.handle_async_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(
                        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        received = httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(response),
            extensions=response.extensions,
        )
        if received.has_redirect_location and not _is_address(received.headers["location"]):
            await received.aclose()
            raise RedirectUnusable("the address to go on to is none")
        return received

    async def aclose(self) -> None:
        await self._connections.aclose()


def _is_address(location: str) -> bool:
    try:
        return httpx.URL(location).scheme in ("", "http", "https")
    except (httpx.InvalidURL, ValueError):
        return False


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors_of_httpx():
            async for part in self._response.aiter_stream():
                yield part

    async def aclose(self) -> None:
        await self._response.aclose()


@contextmanager
def _errors_of_httpx() -> Iterator[None]:
    try:
        yield
    except tuple(_ERRORS) as failed:
        kind = next(_ERRORS[base] for base in type(failed).__mro__ if base in _ERRORS)
        raise kind(str(failed)) from failed


def open_client(
    transport: httpx.AsyncBaseTransport | None = None, egress: EgressPolicy | None = None
) -> httpx.AsyncClient:
    """Return a pooled client that follows nothing, keeps no cookies and has no deadline.

    Only connecting is limited, so that a host that swallows packets leaves time to retry.
    """
    # A cookie set for one caller must never travel with another one's call.
    no_cookies = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(
        transport=transport or EgressTransport(egress or EgressPolicy()),
        headers={"user-agent": f"orbit/{__version__}", "accept-encoding": "gzip"},
        timeout=httpx.Timeout(None, connect=_CONNECT_TIMEOUT_S),
        follow_redirects=False,
        cookies=no_cookies,
    )


_PORTS = {"http": 80, "https": 443}


def _is_private(host: str) -> bool:
    try:
        return not is_public(ip_address(host))
    except ValueError:
        return host.rstrip(".") == "localhost"


def host_problems(library: Library, egress: EgressPolicy) -> list[Problem]:
    """Return the templates whose requests the adapter lets go nowhere; names are not resolved."""
    problems = []
    for template in library.templates.values():
        execution = template.execution
        if not isinstance(execution, HttpExecution):
            continue
        prepared = [] if execution.prepare is None else [execution.prepare.request]
        for request in (execution.request, *prepared):
            place = urlsplit(request.origin)
            host, port = place.hostname or "", place.port or _PORTS.get(place.scheme, 0)
            what = f"template {template.id!r} calls {place.netloc}, which is "
            if not egress.admits(host, port):
                allowed = ", ".join(sorted(egress.allowed_hosts))
                what += f"not among http.allowed_hosts ({allowed})"
                wrong = Problem(what, template.where, "host-not-allowed", template=template.id)
                problems.append(wrong)
            elif _is_private(host) and not egress.may_be_private(host, port):
                what += "private, so it will be refused; "
                what += "list it in config.http.private_hosts to allow it"
                wrong = Problem(what, template.where, "private-host", "warning", template.id)
                problems.append(wrong)
    return problems
