"""Requests with their placeholders filled and every value encoded for its place."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, time
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from server.core.json import to_json
from server.errors import ArgumentsInvalid
from server.library.http_auth import AUTH_SCHEMES
from server.library.http_model import HttpBody, HttpMethod, HttpRequest, HttpService
from server.library.placeholders import NO_VALUE, ExpressionFailed, PlaceholderText

_HEADER_SAFE: Final = "".join(map(chr, range(0x20, 0x7F)))
_LITERAL_QUERY_SAFE: Final = "-._~!$'()*,;:@/?[]"


def encode_value(value: Any) -> str:
    """Return a value as text, or raise `ArgumentsInvalid`: not finite, or not Unicode."""
    match value:
        case str():
            text = value
        case bool():
            text = "true" if value else "false"
        case float() | Decimal():
            text = _number_text(value)
        case date() | time():
            text = value.isoformat()
        case Mapping():
            text = to_json(value)
        case list() | tuple():
            text = ",".join(map(encode_value, value))
        case _:
            text = str(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ArgumentsInvalid("the text holds half of a character (a lone surrogate)") from None
    return text


def path_segment(value: Any) -> str:
    """Return a value encoded for a path, or raise `ArgumentsInvalid` when it is empty."""
    text = encode_value(value)
    if not text:
        raise ArgumentsInvalid("an empty value cannot stand in a path")
    return quote(text, safe="")


def query_value(value: Any) -> str:
    return quote(encode_value(value), safe="")


def query_literal(text: str) -> str:
    """Return the author's own text for a query, which may have the commas of a list."""
    return quote(text, safe=_LITERAL_QUERY_SAFE)


def header_value(value: Any) -> str:
    """Return a value as one line of ASCII, or raise `ArgumentsInvalid` at control characters."""
    text = encode_value(value)
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise ArgumentsInvalid("line breaks and control characters cannot stand in a header")
    return quote(text, safe=_HEADER_SAFE)


def encode_scalar(value: Any) -> Any:
    """Return a value as JSON knows it, or raise `ArgumentsInvalid`: not finite."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return encode_value(value)
        case float() if math.isfinite(value):
            return value
        case Decimal() if math.isfinite(value):
            return int(value) if value == value.to_integral_value() else float(value)
        case Mapping():
            return {str(name): encode_scalar(item) for name, item in value.items()}
        case list() | tuple():
            return [encode_scalar(item) for item in value]
        case _:
            return encode_value(value)


def _number_text(value: float | Decimal) -> str:
    if not math.isfinite(value):
        raise ArgumentsInvalid(f"{value} is not a finite number")
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    if exact == exact.to_integral_value():
        exact = exact.to_integral_value()
    return format(exact, "f")


_CONTENT_TYPES: Final = {
    "json": "application/json",
    "form": "application/x-www-form-urlencoded",
    "text": "text/plain; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class FilledRequest:
    """What will be sent. Query names and values are encoded already."""

    method: HttpMethod
    address: str = field(repr=False)
    """Scheme, host and path."""
    query: tuple[tuple[str, str | None], ...] = field(default=(), repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    content: bytes | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        if not self.query:
            return self.address
        pairs = (name if value is None else f"{name}={value}" for name, value in self.query)
        return f"{self.address}?{'&'.join(pairs)}"

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def with_query(self, name: str, value: Any) -> "FilledRequest":
        kept = tuple(pair for pair in self.query if pair[0] != name)
        return replace(self, query=(*kept, (query_literal(name), query_value(value))))


def fill_request(
    request: HttpRequest, service: HttpService, arguments: Mapping[str, Any]
) -> FilledRequest:
    """Fill a request's placeholders and sign it, or raise `ArgumentsInvalid`.

    Query parameters, headers and body fields whose argument has no value are left out.
    """
    try:
        scheme = AUTH_SCHEMES[service.auth.kind]
        signed = scheme.query(service.auth).items()
        query = (
            *_fill_query(request, arguments),
            *((query_literal(name), query_value(value)) for name, value in signed),
        )
        headers = _fill_headers(request, arguments) | dict(scheme.headers(service.auth))
        return FilledRequest(
            method=request.method,
            address=request.origin + _fill_path(request, arguments),
            query=query,
            headers=tuple(headers.items()),
            content=_fill_body(request.body, arguments),
        )
    except ExpressionFailed as failed:
        raise ArgumentsInvalid(str(failed)) from failed


def _fill_path(request: HttpRequest, arguments: Mapping[str, Any]) -> str:
    path = request.path.fill(arguments, path_segment)
    if path is None:
        missing = sorted(n for n in request.path.names if arguments.get(n) is None)
        raise ArgumentsInvalid(f"no value for {', '.join(missing) or 'the path'}")
    if any(segment in (".", "..") for segment in path.split("/")):
        raise ArgumentsInvalid("'.' and '..' cannot stand in a path")
    return path


def _fill_query(request: HttpRequest, arguments: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    pairs: list[tuple[str, str | None]] = []
    for name, value in request.query:
        encoded = query_literal(name)
        if value is None:
            pairs.append((encoded, None))
            continue
        for text in value if isinstance(value, tuple) else (value,):
            pairs += [(encoded, item) for item in _fill_query_value(text, arguments)]
    return pairs


def _fill_query_value(text: PlaceholderText, arguments: Mapping[str, Any]) -> list[str]:
    slot = text.only_slot
    if slot is not None:
        value = slot.value(arguments)
        if isinstance(value, list | tuple):
            return [query_value(item) for item in value]
    filled = text.fill(arguments, query_value, query_literal)
    return [] if filled is None else [filled]


def _fill_headers(request: HttpRequest, arguments: Mapping[str, Any]) -> dict[str, str]:
    headers = {}
    if request.body is not None:
        kind = request.body.content_type or _CONTENT_TYPES[request.body.kind]
        headers["content-type"] = kind
    for name, text in request.headers:
        filled = text.fill(arguments, header_value)
        if filled is not None:
            headers[name.lower()] = filled.strip()
    return headers


def _fill_body(body: HttpBody | None, arguments: Mapping[str, Any]) -> bytes | None:
    if body is None:
        return None
    filled = _fill_value(body.content, arguments)
    if filled is NO_VALUE:
        return None
    if body.kind == "json":
        return to_json(encode_scalar(filled)).encode()
    if body.kind == "form":
        pairs = {
            name: [*map(encode_value, value)]
            if isinstance(value, list | tuple)
            else encode_value(value)
            for name, value in dict(filled).items()
        }
        return urlencode(pairs, doseq=True).encode()
    return encode_value(filled).encode()


def _fill_value(value: Any, arguments: Mapping[str, Any]) -> Any:
    if isinstance(value, PlaceholderText):
        slot = value.only_slot
        if slot is not None:
            return slot.value(arguments)
        filled = value.fill(arguments, encode_value)
        return NO_VALUE if filled is None else filled
    if isinstance(value, Mapping):
        items = {name: _fill_value(item, arguments) for name, item in value.items()}
        return {name: item for name, item in items.items() if item is not NO_VALUE}
    if isinstance(value, list | tuple):
        return [item for item in (_fill_value(v, arguments) for v in value) if item is not NO_VALUE]
    return value
