"""An endpoint as authors write it, cut into origin, path and query once and for all.

What a placeholder may reach is decided here: the path and the query's values, never
the scheme, the host, the port or the name of a query parameter.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote_plus, urlsplit

from server.library.placeholders import PlaceholderInvalid, Slot, Text, parse_text

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
    path: Text
    query: tuple[tuple[str, Text | None], ...] = ()


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


def _path(parts: list[Part]) -> Text:
    source = "".join(part if isinstance(part, str) else "x" for part in parts)
    if any(segment in (".", "..") for segment in source.split("/")):
        raise PlaceholderInvalid(f"the path {source!r} climbs; write it without . and ..")
    quoted = [quote(part, safe=PATH_SAFE) if isinstance(part, str) else part for part in parts]
    joined = [part for part in quoted if part != ""]
    if not joined or not (isinstance(joined[0], str) and joined[0].startswith("/")):
        joined.insert(0, "/")
    return Text(source, tuple(joined))


def _pairs(parts: list[Part]) -> Iterable[tuple[str, Text | None]]:
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


def _name_and_value(pair: list[Part]) -> tuple[str, Text | None]:
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
    return name, Text(source, value)


def _short(text: str) -> str:
    # Addresses may hold a key; a message shows no more than where it begins.
    return text if len(text) <= 40 else f"{text[:37]}…"
