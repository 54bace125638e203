"""Asking in the name of somebody, as a gateway that the server trusts."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from time import time

import httpx

from server.core.gateway import HEADERS, sign_caller


@dataclass(frozen=True, slots=True)
class GatewaySignature(httpx.Auth):
    """Signs each request for one user. `secret` is `access.gateway.secret` of the server."""

    user_id: str
    role: str
    secret: str = field(repr=False)
    clock_s: Callable[[], float] = time

    requires_request_body = True

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        who, stamp = (self.user_id, self.role), str(int(self.clock_s()))
        signature = sign_caller(
            self.secret.encode(), request.method, request.url.path, *who, stamp, request.content
        )
        request.headers.update(dict(zip(HEADERS, (*who, stamp, signature), strict=True)))
        yield request
