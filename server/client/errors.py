"""What asking a server may come to, besides an answer.

OrbitError
└── ClientError
    ├── ServerUnreachable   nothing came: not there, too late, or it broke off
    ├── ResponseInvalid     what came is nothing that a server of this kind says
    └── Refused             the server says why it does not answer
        ├── KeyRefused      no good key, or one that may not do this (401, 403)
        └── TryLater        asked too often, or something is down (429, 503)
"""

from collections.abc import Mapping, Sequence
from typing import Any

from server.errors import OrbitError


class ClientError(OrbitError):
    code = "client_error"


class ServerUnreachable(ClientError):
    """`__cause__` is what httpx says."""

    code = "server_unreachable"


class ResponseInvalid(ClientError):
    code = "response_invalid"


class Refused(ClientError):
    """The error of a response. `code` is the server's, as its documentation lists them.

    `status` is 200 where an answer had begun to stream.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        request_id: str = "",
        details: Sequence[Mapping[str, Any]] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.request_id = request_id
        self.details = tuple(details)
        self.retry_after_s = retry_after_s


class KeyRefused(Refused):
    pass


class TryLater(Refused):
    """`retry_after_s` is how long to wait, where the server says it."""
