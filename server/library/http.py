"""How a template calls an HTTP service: frozen, resolved, ready to be filled."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from server.library.placeholders import Text

HttpMethod = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
IDEMPOTENT: Final[frozenset[HttpMethod]] = frozenset(("GET", "PUT", "DELETE"))
"""Methods that may be sent twice and mean the same."""

HTTP_TOOL: Final = "http_call"
"""What calls over HTTP name as their tool."""

BodyKind = Literal["json", "form", "text"]
ResponseType = Literal["auto", "json", "csv", "text"]
PageStyle = Literal["page", "offset", "cursor", "link"]

_SECRET_WORDS: Final = ("auth", "key", "token", "secret", "password", "cookie")


@dataclass(frozen=True, slots=True)
class HttpAuth:
    """How a service knows us. `secret` is the password, the token or the key."""

    kind: Literal["none", "basic", "bearer", "api_key"] = "none"
    username: str = ""
    secret: str = field(default="", repr=False)
    name: str = "X-API-Key"
    """Header or query parameter that carries an API key."""
    place: Literal["header", "query"] = "header"


@dataclass(frozen=True, slots=True)
class HttpBody:
    """`content` is a JSON-like value with `Text` leaves, pairs of a form, or a `Text`."""

    kind: BodyKind
    content: Any
    content_type: str = ""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request with holes. No hole can stand in `origin`.

    A query parameter's value is None (`?flag`), a `Text`, or a tuple of them.
    """

    method: HttpMethod
    origin: str
    """`scheme://host[:port]`, lower-cased, no credentials."""
    path: Text
    query: tuple[tuple[str, Text | tuple[Text, ...] | None], ...] = ()
    headers: tuple[tuple[str, Text], ...] = field(default=(), repr=False)
    body: HttpBody | None = None

    @property
    def names(self) -> frozenset[str]:
        """Names of all arguments that the request uses."""
        found = set(self.path.names)
        for _, value in self.query:
            for text in value if isinstance(value, tuple) else (value,):
                found |= text.names if text else set()
        for _, text in self.headers:
            found |= text.names
        if self.body is not None:
            found |= _names_in(self.body.content)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class HttpService:
    """What the calls to one service share."""

    auth: HttpAuth = HttpAuth()
    timeout_s: float = 30.0
    retries: int = 2
    """How often a call that may be sent twice is tried again."""
    backoff_s: float = 0.2
    """Pause before the first retry; each further one takes twice as long."""
    max_response_bytes: int = 4_000_000
    max_redirects: int = 3
    cache_ttl_s: float = 0.0
    """How long the answer to a GET may be used again; 0 keeps none."""


@dataclass(frozen=True, slots=True)
class HttpDefaults:
    """The service of a domain, which its templates fall back to.

    Its headers and its key go to its own origin alone: an endpoint elsewhere gets
    neither. Without a base URL there is no other meaning than every endpoint.
    """

    base_url: str = ""
    origin: str = ""
    headers: tuple[tuple[str, Text], ...] = field(default=(), repr=False)
    service: HttpService = HttpService()
    max_concurrency: int = 64

    def covers(self, origin: str) -> bool:
        return self.origin in ("", origin)

    def with_auth(self, auth: HttpAuth) -> HttpService:
        return replace(self.service, auth=auth)


@dataclass(frozen=True, slots=True)
class ResponseMapping:
    """What to take from an answer, in JMESPath.

    Without `items` the whole body is the item, or the items when it is a list.
    """

    items: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    total: str = ""
    error: str = ""
    """When this yields something, the answer is a failure and this says why."""


@dataclass(frozen=True, slots=True)
class Pagination:
    """How further pages are asked for, and when to stop."""

    style: PageStyle
    param: str = ""
    """Query parameter that carries the page number, the offset or the cursor."""
    size_param: str = ""
    page_size: int = 0
    start: int = 1
    next: str = ""
    """JMESPath to the cursor of the next page (style `cursor`)."""
    max_pages: int = 5
    max_items: int = 500


@dataclass(frozen=True, slots=True)
class HttpPreparation:
    """A GET made first; its mapped fields become further placeholders."""

    request: HttpRequest
    service: HttpService
    mapping: ResponseMapping
    response_type: ResponseType = "auto"
    not_found: Text | None = None
    """What to say when the preparation finds no item."""


@dataclass(frozen=True, slots=True)
class HttpExecution:
    """Call an HTTP service and read its answer."""

    operation: str
    request: HttpRequest
    service: HttpService = HttpService()
    mapping: ResponseMapping = ResponseMapping()
    response_type: ResponseType = "auto"
    pagination: Pagination | None = None
    prepare: HttpPreparation | None = None

    @property
    def tool(self) -> str:
        return HTTP_TOOL

    @property
    def names(self) -> frozenset[str]:
        """Names of the arguments that the calls use, without what `prepare` supplies."""
        found = self.request.names
        if self.prepare is None:
            return found
        supplied = self.prepare.mapping.fields.keys()
        return (found - supplied) | self.prepare.request.names


def secrets_of(request: HttpRequest, service: HttpService) -> tuple[str, ...]:
    """Return the texts of a call that no message may ever show."""
    found = {service.auth.secret}
    for name, text in request.headers:
        if any(word in name.lower() for word in _SECRET_WORDS):
            words = " ".join(part for part in text.parts if isinstance(part, str))
            found |= set(words.split()) - {"Bearer", "Basic", "Token"}
    return tuple(secret for secret in found if len(secret) > 3)


def _names_in(value: Any) -> set[str]:
    if isinstance(value, Text):
        return set(value.names)
    if isinstance(value, Mapping):
        return set().union(*(_names_in(item) for item in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(_names_in(item) for item in value))
    return set()
