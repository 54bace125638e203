"""How services know us: each scheme of authentication, its keys in YAML and what it sends."""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, Field

from server.settings.fields import LibraryModel

AuthKind = Literal["none", "basic", "bearer", "api_key"]


def _some(value: Any) -> Any:
    # In YAML an unset `${NAME:-}` is nothing at all, and a password of digits a number.
    if value is None:
        return ""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


_Text = Annotated[str, BeforeValidator(_some, json_schema_input_type=str | int | None)]
Secret = Annotated[_Text, Field(repr=False)]


class AuthenticationYaml(LibraryModel):
    """How a service knows us. Keep secrets in the environment: `${NAME}`."""

    type: AuthKind
    """`none`, `basic` (username and password), `bearer` (token) or `api_key` (key)."""
    username: _Text = ""
    """Name for `basic`."""
    password: Secret = ""
    """Password for `basic`."""
    token: Secret = ""
    """Token for `bearer`."""
    key: Secret = ""
    """Key for `api_key`."""
    name: str = Field(default="X-API-Key", min_length=1)
    """Header or query parameter that carries the key."""
    in_: Literal["header", "query"] = Field(default="header", alias="in")
    """Where the key travels."""


@dataclass(frozen=True, slots=True)
class HttpAuth:
    """How a service knows us. `secret` is the password, the token or the key."""

    kind: AuthKind = "none"
    username: str = ""
    secret: str = field(default="", repr=False)
    name: str = "X-API-Key"
    """Header or query parameter that carries an API key."""
    place: Literal["header", "query"] = "header"


@dataclass(frozen=True, slots=True)
class AuthScheme:
    """A scheme of authentication.

    `secret_key` is the key of `AuthenticationYaml` that holds the secret. `headers` and
    `query` return what goes with each request, not yet encoded.
    """

    secret_key: str
    headers: Callable[[HttpAuth], Mapping[str, str]] = lambda _: {}
    query: Callable[[HttpAuth], Mapping[str, str]] = lambda _: {}


def _basic_headers(auth: HttpAuth) -> Mapping[str, str]:
    pair = f"{auth.username}:{auth.secret}".encode()
    return {"authorization": f"Basic {base64.b64encode(pair).decode()}"}


AUTH_SCHEMES: Final[dict[AuthKind, AuthScheme]] = {
    "none": AuthScheme(""),
    "basic": AuthScheme("password", _basic_headers),
    "bearer": AuthScheme("token", lambda auth: {"authorization": f"Bearer {auth.secret}"}),
    "api_key": AuthScheme(
        "key",
        lambda auth: {auth.name.lower(): auth.secret} if auth.place == "header" else {},
        lambda auth: {auth.name: auth.secret} if auth.place == "query" else {},
    ),
}
