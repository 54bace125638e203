"""Where connections are opened: one pool for each adapter.

Every address that a request may reach is resolved and connected to here and nowhere
else, so this is the one place that limits where calls can go.
"""

from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final

import httpx

from server import __version__
from server.tools.http.cage import Cage, CagedTransport

MAX_CONNECTIONS: Final = 100
_KEEPALIVE_S: Final = 30.0
_CONNECT_TIMEOUT_S: Final = 10.0


def open_client(
    transport: httpx.AsyncBaseTransport | None = None, cage: Cage | None = None
) -> httpx.AsyncClient:
    """Return a pooled client that follows nothing, keeps no cookies and never waits itself.

    Deadlines belong to the caller; only connecting has a limit of its own, so that a
    host that swallows packets leaves time for another try. Without a `cage` none but
    public addresses are called.
    """
    limits = httpx.Limits(
        max_connections=MAX_CONNECTIONS,
        max_keepalive_connections=MAX_CONNECTIONS,
        keepalive_expiry=_KEEPALIVE_S,
    )
    # A cookie set for one caller must never travel with another one's call.
    no_cookies = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(
        transport=transport or CagedTransport(cage or Cage(), limits, httpx.create_ssl_context()),
        headers={"user-agent": f"orbit/{__version__}", "accept-encoding": "gzip"},
        timeout=httpx.Timeout(None, connect=_CONNECT_TIMEOUT_S),
        follow_redirects=False,
        cookies=no_cookies,
    )
