"""What calls to a service share: the domain's defaults, and a template's own over them."""

import re
from dataclasses import replace
from typing import Any, Final

from server.library.endpoints import origin_of
from server.library.findings import Findings
from server.library.http import HttpAuth, HttpDefaults, HttpService
from server.library.http_yaml import ApiConfigYaml, AuthenticationYaml, ServiceYaml
from server.library.placeholders import PlaceholderInvalid, Text, parse_text
from server.settings.nodes import Unresolved
from server.settings.source import Document, Keys

_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FIXED: Final = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "te", "upgrade", "expect")
)
"""Headers that decide where a request goes or where it ends."""

_FIELDS: Final = {
    "timeout": "timeout_s",
    "retries": "retries",
    "backoff": "backoff_s",
    "max_response_bytes": "max_response_bytes",
    "max_redirects": "max_redirects",
    "cache_ttl": "cache_ttl_s",
}
_SECRET_KEYS: Final = {"basic": "password", "bearer": "token", "api_key": "key"}


def build_defaults(
    api: ApiConfigYaml,
    api_at: Keys,
    authentication: AuthenticationYaml | None,
    authentication_at: Keys,
    document: Document,
    findings: Findings,
) -> HttpDefaults:
    """The domain's service, as its templates fall back to it."""
    base_url, origin = api.base_url.strip().rstrip("/"), ""
    if base_url:
        try:
            origin = origin_of(base_url)
        except PlaceholderInvalid as invalid:
            keys = (*api_at, "base_url")
            if not isinstance(document.at(keys), Unresolved):
                findings.add("bad-endpoint", f"base_url: {invalid}", document.where(keys))
    auth = build_auth(authentication, document, authentication_at, findings)
    return HttpDefaults(
        base_url=base_url,
        origin=origin,
        headers=build_headers(api.headers, document, (*api_at, "headers"), findings),
        service=override(HttpService(auth=auth), api),
        max_concurrency=api.max_concurrency,
    )


def override(service: HttpService, written: ServiceYaml) -> HttpService:
    """The service with those settings that are written."""
    changes: dict[str, Any] = {
        field: getattr(written, key)
        for key, field in _FIELDS.items()
        if getattr(written, key) is not None
    }
    return replace(service, **changes) if changes else service


def build_auth(
    written: AuthenticationYaml | None, document: Document, at: Keys, findings: Findings
) -> HttpAuth:
    """How the service knows us; without a secret nothing is sent, and a warning says so."""
    if written is None or written.type == "none":
        return HttpAuth()
    key = _SECRET_KEYS[written.type]
    secret = getattr(written, key).strip()
    where = document.where((*at, key))
    if not secret:
        what = f"authentication: {key} is empty, so calls go out without it"
        findings.warn("empty-secret", what, where)
        return HttpAuth()
    if not secret.isascii() or not secret.isprintable():
        what = f"authentication: {key} holds characters that no header can carry"
        findings.add("bad-header", what, where)
    if written.in_ == "header":
        _check_header_name(written.name, document, (*at, "name"), findings)
    return HttpAuth(written.type, written.username, secret, written.name, written.in_)


def build_headers(
    written: dict[str, str | int | float | bool],
    document: Document,
    at: Keys,
    findings: Findings,
) -> tuple[tuple[str, Text], ...]:
    """Headers with their texts cut at placeholders."""
    headers = []
    for name, value in written.items():
        where = document.where((*at, name))
        _check_header_name(name, document, (*at, name), findings)
        source = str(value).lower() if isinstance(value, bool) else str(value)
        try:
            text = parse_text(source.strip())
        except PlaceholderInvalid as invalid:
            findings.add("bad-placeholder", f"header {name!r}: {invalid}", where)
            continue
        own = "".join(part for part in text.parts if isinstance(part, str))
        if not own.isascii() or not own.isprintable():
            what = f"header {name!r} holds characters that no header can carry"
            findings.add("bad-header", what, where)
            continue
        headers.append((name, text))
    return tuple(headers)


def _check_header_name(name: str, document: Document, at: Keys, findings: Findings) -> None:
    if not _TOKEN.fullmatch(name):
        findings.add("bad-header", f"{name!r} cannot name a header", document.where(at))
    elif name.lower() in _FIXED:
        what = f"the header {name!r} belongs to the connection and cannot be set"
        findings.add("bad-header", what, document.where(at))
