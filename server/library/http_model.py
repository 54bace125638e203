"""How a template calls an HTTP service: frozen, resolved, ready to be filled."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal
from urllib.parse import quote, unquote_plus, urlsplit

from server.library.http_auth import HttpAuth
from server.library.placeholders import PlaceholderInvalid, PlaceholderText, Slot, parse_text

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
    path: PlaceholderText
    query: tuple[tuple[str, PlaceholderText | tuple[PlaceholderText, ...] | None], ...] = ()
    headers: tuple[tuple[str, PlaceholderText], ...] = field(default=(), repr=False)
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

    auth: HttpAuth = field(default_factory=HttpAuth)
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
    headers: tuple[tuple[str, PlaceholderText], ...] = field(default=(), repr=False)
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
    not_found: PlaceholderText | None = None
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
    if isinstance(value, PlaceholderText):
        return set(value.names)
    if isinstance(value, Mapping):
        return set().union(*(_names_in(item) for item in value.values()))
    if isinstance(value, list | tuple):
        return set().union(*(_names_in(item) for item in value))
    return set()


PATH_SAFE: Final = "/%:@!$&'()*,;=+~-._"
"""Characters of the author's own path that stay as they are written."""

_ABSOLUTE: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_NETLOC: Final = re.compile(r"[^/?#]*")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")

Part = str | Slot


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
            raise BaseUrlMissing(f"{endpoint!r} is relative, and there is no base_url")
        endpoint = f"{base_url.strip().rstrip('/')}/{endpoint.lstrip('/')}"
    absolute = _ABSOLUTE.match(endpoint)
    scheme = absolute["scheme"].lower() if absolute else ""
    if absolute is None or scheme not in ("http", "https"):
        raise PlaceholderInvalid(f"{_short(endpoint)!r} does not begin with http:// or https://")
    rest = absolute["rest"]
    netloc = _netloc(rest)
    path, query = _cut_query(parse_text(rest[len(netloc) :]).parts)
    return Endpoint(f"{scheme}://{netloc.lower()}", _path(path), tuple(_pairs(query)))


def origin_of(url: str) -> str:
    """`scheme://host[:port]` of an absolute address without placeholders there.

    Raises:
        PlaceholderInvalid: not an http(s) address.
    """
    return parse_endpoint(url).origin


def _netloc(rest: str) -> str:
    found = _NETLOC.match(rest)
    netloc = found.group() if found else ""
    if "{" in netloc:
        raise PlaceholderInvalid(f"a placeholder cannot stand in the host ({_short(netloc)!r})")
    if "@" in netloc:
        raise PlaceholderInvalid("credentials cannot stand in the address; use authentication")
    if not _HOST.fullmatch(netloc) or (urlsplit(f"//{netloc}").port or 1) > 65535:
        raise PlaceholderInvalid(f"{_short(netloc)!r} is not a host")
    return netloc


def _cut_query(parts: Iterable[Part]) -> tuple[list[Part], list[Part]]:
    path: list[Part] = []
    query: list[Part] = []
    current = path
    for part in parts:
        if isinstance(part, Slot):
            current.append(part)
            continue
        text, fragment, _ = part.partition("#")
        if current is path and "?" in text:
            before, _, text = text.partition("?")
            path.append(before)
            current = query
        current.append(text)
        if fragment:
            break
    return path, query


def _path(parts: list[Part]) -> PlaceholderText:
    source = "".join(part if isinstance(part, str) else "x" for part in parts)
    if any(segment in (".", "..") for segment in source.split("/")):
        raise PlaceholderInvalid(f"the path {source!r} climbs; write it without . and ..")
    quoted = [quote(part, safe=PATH_SAFE) if isinstance(part, str) else part for part in parts]
    joined = [part for part in quoted if part != ""]
    if not joined or not (isinstance(joined[0], str) and joined[0].startswith("/")):
        joined.insert(0, "/")
    return PlaceholderText(source, tuple(joined))


def _pairs(parts: list[Part]) -> Iterable[tuple[str, PlaceholderText | None]]:
    for pair in filter(None, _split(parts, "&")):
        name, value = _name_and_value(pair)
        if name:
            yield unquote_plus(name), value


def _split(parts: Iterable[Part], separator: str) -> Iterable[list[Part]]:
    current: list[Part] = []
    for part in parts:
        if isinstance(part, Slot):
            current.append(part)
            continue
        first, *more = part.split(separator)
        current.append(first)
        for piece in more:
            yield current
            current = [piece]
    yield current


def _name_and_value(pair: list[Part]) -> tuple[str, PlaceholderText | None]:
    first = pair[0]
    if isinstance(first, Slot):
        raise PlaceholderInvalid("a placeholder cannot name a query parameter")
    name, equals, start = first.partition("=")
    if not equals:
        if len(pair) > 1:
            raise PlaceholderInvalid("a placeholder cannot name a query parameter")
        return name, None
    pieces: list[Part] = [start, *pair[1:]]
    value = tuple(
        unquote_plus(piece) if isinstance(piece, str) else piece for piece in pieces if piece != ""
    )
    source = "".join(p if isinstance(p, str) else f"{{{{ {p.expression} }}}}" for p in value)
    return name, PlaceholderText(source, value)


def _short(text: str) -> str:
    # Addresses may hold a key; a message shows no more than where it begins.
    return text if len(text) <= 40 else f"{text[:37]}…"
