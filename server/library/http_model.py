"""HTTP requests, services and responses of templates, ready to be filled with arguments."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal
from urllib.parse import quote, unquote_plus, urlsplit

from server.core.suggestions import shortened
from server.library.http_auth import HttpAuth
from server.library.placeholders import PlaceholderInvalid, PlaceholderText, Slot, parse_text
from server.responses.decoder import ResponseType
from server.responses.mapping import NO_MAPPING, ResponseMapping

HttpMethod = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
IDEMPOTENT: Final[frozenset[HttpMethod]] = frozenset(("GET", "PUT", "DELETE"))
"""Methods that may safely be sent again."""

HTTP_TOOL: Final = "http_call"
"""The tool name of calls over HTTP."""

BodyKind = Literal["json", "form", "text"]
PageStyle = Literal["page", "offset", "cursor", "link"]

_MAX_SHOWN: Final = 40
"""Addresses may hold a key; a message shows no more than where it begins."""

_SECRET_WORDS: Final = ("auth", "key", "token", "secret", "password", "cookie")


@dataclass(frozen=True, slots=True)
class HttpBody:
    """`content` is JSON-like with `PlaceholderText` leaves, pairs of a form, or a text."""

    kind: BodyKind
    content: Any
    content_type: str = ""


QueryValue = PlaceholderText | tuple[PlaceholderText, ...] | None
"""The value of a query parameter; None for a bare `?flag`."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request with placeholders, of which none can stand in `origin`."""

    method: HttpMethod
    origin: str
    """`scheme://host[:port]`, lower-cased, no credentials."""
    path: PlaceholderText
    query: tuple[tuple[str, QueryValue], ...] = ()
    headers: tuple[tuple[str, PlaceholderText], ...] = field(default=(), repr=False)
    body: HttpBody | None = None

    @property
    def names(self) -> frozenset[str]:
        """The arguments that its placeholders take."""
        texts = _texts((self.path, self.query, self.headers, self.body and self.body.content))
        return frozenset().union(*(text.names for text in texts))


def _texts(value: Any) -> Iterator[PlaceholderText]:
    if isinstance(value, PlaceholderText):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


@dataclass(frozen=True, slots=True)
class HttpService:
    """What the calls to one service share."""

    auth: HttpAuth = field(default_factory=HttpAuth)
    timeout_s: float = 30.0
    retries: int = 2
    """How often a call that may be sent twice is tried again."""
    backoff_s: float = 0.2
    """Pause before the first retry; each further one takes twice as long."""
    max_response_bytes: int = 4_000_000
    max_response_values: int = 100_000
    """Values of an answer, at any depth: every cell of a table counts."""
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
    headers: tuple[tuple[str, PlaceholderText], ...] = field(default=(), repr=False)
    service: HttpService = HttpService()
    max_concurrency: int = 64

    def covers(self, origin: str) -> bool:
        return self.origin in ("", origin)


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
    not_found: PlaceholderText | None = None
    """What to say when the preparation finds no item."""


@dataclass(frozen=True, slots=True)
class HttpExecution:
    """Call an HTTP service and read its answer."""

    operation: str
    request: HttpRequest
    service: HttpService = HttpService()
    mapping: ResponseMapping = NO_MAPPING
    response_type: ResponseType = "auto"
    pagination: Pagination | None = None
    prepare: HttpPreparation | None = None
    tool: ClassVar[str] = HTTP_TOOL

    @property
    def names(self) -> frozenset[str]:
        """The arguments that it takes, for the call that is made first as well."""
        first = self.prepare
        if first is None:
            return self.request.names
        said = first.not_found.names if first.not_found is not None else frozenset[str]()
        return self.request.names | first.request.names | said


def secrets_of(request: HttpRequest, service: HttpService) -> tuple[str, ...]:
    """Return the texts of a call that no message may ever show."""
    found = {service.auth.secret}
    for name, text in request.headers:
        if any(word in name.lower() for word in _SECRET_WORDS):
            words = " ".join(part for part in text.parts if isinstance(part, str))
            found |= set(words.split()) - {"Bearer", "Basic", "Token"}
    return tuple(secret for secret in found if len(secret) > 3)


PATH_SAFE: Final = "/%:@!$&'()*,;=+~-._"
"""Characters of the author's own path that stay as they are written."""

_ABSOLUTE: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<netloc>[^/?#]*)(?P<rest>.*)", re.DOTALL
)
_HOST: Final = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")


class BaseUrlMissing(PlaceholderInvalid):
    """A relative endpoint that nothing makes absolute."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a request goes. `query` keeps the author's order; None is a bare `?flag`."""

    origin: str
    path: PlaceholderText
    query: tuple[tuple[str, PlaceholderText | None], ...] = ()


def parse_endpoint(endpoint: str, base_url: str = "") -> Endpoint:
    """Cut an endpoint, absolute or relative to `base_url`.

    Raises:
        BaseUrlMissing: it is relative, and there is nothing to join it to.
        PlaceholderInvalid: not an http(s) address, or a placeholder where none may be.
    """
    endpoint = endpoint.strip()
    if not _ABSOLUTE.match(endpoint):
        if not base_url:
            raise BaseUrlMissing(_not_absolute(endpoint))
        endpoint = f"{base_url.strip().rstrip('/')}/{endpoint.lstrip('/')}"
    absolute = _ABSOLUTE.match(endpoint)
    scheme = absolute["scheme"].lower() if absolute else ""
    if absolute is None or scheme not in ("http", "https"):
        raise PlaceholderInvalid(_not_absolute(endpoint))
    netloc, rest = absolute["netloc"], parse_text(absolute["rest"])
    _check_netloc(netloc)
    # Placeholders may hold what separates elsewhere, so that each is a number meanwhile.
    slots = [part for part in rest.parts if isinstance(part, Slot)]
    numbers = iter(range(len(slots)))
    marked = "".join(
        f"\0{next(numbers)}\0" if isinstance(part, Slot) else part.replace("\0", "")
        for part in rest.parts
    )
    path, _, query = marked.partition("#")[0].partition("?")
    return Endpoint(f"{scheme}://{netloc.lower()}", _path(path, slots), tuple(_pairs(query, slots)))


def _not_absolute(endpoint: str) -> str:
    return f"{shortened(endpoint, _MAX_SHOWN)!r} does not begin with http:// or https://"


def _check_netloc(netloc: str) -> None:
    shown = shortened(netloc, _MAX_SHOWN)
    if "{" in netloc:
        raise PlaceholderInvalid(
            f"a placeholder cannot stand in the host ({shortened(netloc, _MAX_SHOWN)!r})"
        )
    if "@" in netloc:
        raise PlaceholderInvalid("credentials cannot stand in the address; use authentication")
    if not _HOST.fullmatch(netloc) or (urlsplit(f"//{netloc}").port or 1) > 65535:
        raise PlaceholderInvalid(f"{shown!r} is not a host")


def _path(marked: str, slots: Sequence[Slot]) -> PlaceholderText:
    path = marked if marked.startswith("/") else f"/{marked}"
    if any(segment in (".", "..") for segment in path.split("/")):
        raise PlaceholderInvalid(f"the path {path!r} climbs; write it without . and ..")
    return _rejoin(path, slots, lambda text: quote(text, safe=PATH_SAFE))


def _pairs(marked: str, slots: Sequence[Slot]) -> Iterator[tuple[str, PlaceholderText | None]]:
    for pair in marked.split("&"):
        name, equals, value = pair.partition("=")
        if "\0" in name:
            raise PlaceholderInvalid("a placeholder cannot name a query parameter")
        if name:
            text = _rejoin(value, slots, unquote_plus) if equals else None
            yield unquote_plus(name), text


def _rejoin(marked: str, slots: Sequence[Slot], decode: Callable[[str], str]) -> PlaceholderText:
    """The text with its placeholders back; what the author wrote between them is decoded."""
    pieces = enumerate(marked.split("\0"))  # a text, the number of a slot, a text …
    parts = [slots[int(piece)] if n % 2 else decode(piece) for n, piece in pieces]
    source = "".join(p if isinstance(p, str) else f"{{{{ {p.expression} }}}}" for p in parts)
    return PlaceholderText(source, tuple(part for part in parts if part != ""))
