"""From a request as it is written to the one that the HTTP engine fills and sends."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from jmespath.exceptions import JMESPathError

from server.library.expressions import compile_path
from server.library.http_auth import AUTH_SCHEMES, AuthenticationYaml, HttpAuth
from server.library.http_model import (
    BaseUrlMissing,
    Endpoint,
    HttpBody,
    HttpDefaults,
    HttpExecution,
    HttpMethod,
    HttpPreparation,
    HttpRequest,
    HttpService,
    Pagination,
    ResponseMapping,
    origin_of,
    parse_endpoint,
)
from server.library.http_yaml import (
    ApiConfigYaml,
    HttpYaml,
    PaginationYaml,
    ReadingYaml,
    ResponseMappingYaml,
    ServiceYaml,
)
from server.library.placeholders import (
    PlaceholderInvalid,
    PlaceholderText,
    parse_json_text,
    parse_text,
    to_texts,
)
from server.library.problems import ProblemCollector
from server.settings.documents import Document, Keys
from server.settings.yaml_tree import Unresolved

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


def build_defaults(
    api: ApiConfigYaml,
    api_at: Keys,
    authentication: AuthenticationYaml | None,
    authentication_at: Keys,
    document: Document,
    findings: ProblemCollector,
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
    written: AuthenticationYaml | None, document: Document, at: Keys, findings: ProblemCollector
) -> HttpAuth:
    """How the service knows us; without a secret nothing is sent, and a warning says so."""
    if written is None or written.type == "none":
        return HttpAuth()
    key = AUTH_SCHEMES[written.type].secret_key
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
    findings: ProblemCollector,
) -> tuple[tuple[str, PlaceholderText], ...]:
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


def _check_header_name(name: str, document: Document, at: Keys, findings: ProblemCollector) -> None:
    if not _TOKEN.fullmatch(name):
        findings.add("bad-header", f"{name!r} cannot name a header", document.where(at))
    elif name.lower() in _FIXED:
        what = f"the header {name!r} belongs to the connection and cannot be set"
        findings.add("bad-header", what, document.where(at))


@dataclass(frozen=True, slots=True)
class WrittenRequest:
    """The keys of a request, wherever the author keeps each, and where that is."""

    part: HttpYaml
    places: dict[str, Keys]
    at: Keys

    def keys(self, name: str) -> Keys:
        return self.places.get(name, (*self.at, name))


def build_http(
    operation: str,
    written: WrittenRequest,
    defaults: HttpDefaults,
    document: Document,
    findings: ProblemCollector,
) -> HttpExecution | None:
    """Return how the request runs, or None when it cannot; problems say why."""
    builder = _RequestBuilder(defaults, document, findings)
    part = written.part
    method = _one(builder, part.method, part.http_method, written, ("method", "http_method"))
    call = builder.call(part, written, cast(HttpMethod, method or "GET"))
    prepare = None
    if part.prepare is not None:
        prepare = builder.preparation(part.prepare, written.keys("prepare"))
    if call is None or (part.prepare is not None and prepare is None):
        return None
    request, service = call
    paging = part.pagination
    return HttpExecution(
        operation=operation,
        request=request,
        service=service,
        mapping=builder.mapping(part.response_mapping, written.keys("response_mapping")),
        response_type=part.response_type,
        pagination=builder.pagination(paging, written.keys("pagination")) if paging else None,
        prepare=prepare,
    )


@dataclass(frozen=True, slots=True)
class _RequestBuilder:
    defaults: HttpDefaults
    document: Document
    findings: ProblemCollector

    def complain(self, kind: str, what: str, at: Keys) -> None:
        # A text with a missing variable is a problem already, and what it lacks is known.
        if not isinstance(self.document.at(at), Unresolved):
            self.findings.add(kind, what, self.document.where(at))

    def call(
        self, part: ReadingYaml, written: WrittenRequest, method: HttpMethod
    ) -> tuple[HttpRequest, HttpService] | None:
        """The request and the service it goes to."""
        place = self._endpoint(part, written)
        if place is None:
            return None
        ours = self.defaults.covers(place.origin)
        auth = self.defaults.service.auth
        own_auth = _one(self, part.authentication, part.auth, written, ("authentication", "auth"))
        if own_auth is not None:
            auth_at = written.keys("authentication" if part.auth is None else "auth")
            auth = build_auth(own_auth, self.document, auth_at, self.findings)
        elif not ours:
            auth = HttpService().auth
        own = build_headers(part.headers, self.document, written.keys("headers"), self.findings)
        inherited = self.defaults.headers if ours else ()
        named = {name.lower() for name, _ in own}
        headers = (*((n, text) for n, text in inherited if n.lower() not in named), *own)
        service = override(self.defaults.with_auth(auth), part)
        body = self._body(part, written) if isinstance(part, HttpYaml) else None
        request = HttpRequest(
            method=method,
            origin=place.origin,
            path=place.path,
            query=(*place.query, *self._query(part, written.keys("query_params"))),
            headers=headers,
            body=body,
        )
        return request, service

    def preparation(self, part: Any, at: Keys) -> HttpPreparation | None:
        call = self.call(part, WrittenRequest(part, {}, at), "GET")
        mapping = self.mapping(part.response_mapping, (*at, "response_mapping"))
        if not mapping.fields:
            what = "prepare supplies nothing: name what it finds under response_mapping.fields"
            self.complain("missing-key", what, at)
        not_found = None
        if part.not_found:
            not_found = self._text(part.not_found, (*at, "not_found"))
        if call is None:
            return None
        request, service = call
        return HttpPreparation(request, service, mapping, part.response_type, not_found)

    def mapping(self, part: ResponseMappingYaml | None, at: Keys) -> ResponseMapping:
        if part is None:
            return ResponseMapping()
        for name in ("items", "total", "error"):
            self._check_path(getattr(part, name), (*at, name))
        for name, path in part.fields.items():
            self._check_path(path, (*at, "fields", name))
        return ResponseMapping(part.items, part.fields, part.total, part.error)

    def pagination(self, part: PaginationYaml, at: Keys) -> Pagination:
        if part.style != "link" and not part.param:
            what = f"pagination by {part.style} needs the query parameter it goes in (param)"
            self.complain("missing-key", what, at)
        if part.style == "cursor" and not part.next:
            what = "pagination by cursor needs the JMESPath of the next cursor (next)"
            self.complain("missing-key", what, at)
        if part.size_param and not part.page_size:
            self.complain("missing-key", "size_param needs a page_size", (*at, "size_param"))
        self._check_path(part.next, (*at, "next"))
        start = part.start if part.start is not None else int(part.style == "page")
        return Pagination(
            style=part.style,
            param=part.param,
            size_param=part.size_param,
            page_size=part.page_size,
            start=start,
            next=part.next,
            max_pages=part.max_pages,
            max_items=part.max_items,
        )

    def _endpoint(self, part: ReadingYaml, written: WrittenRequest) -> Endpoint | None:
        names = ("endpoint", "endpoint_template")
        endpoint = _one(self, part.endpoint, part.endpoint_template, written, names)
        if endpoint is None:
            self.complain("missing-key", "names no endpoint to call", written.at)
            return None
        base_url = part.base_url or self.defaults.base_url
        try:
            return parse_endpoint(endpoint, base_url)
        except PlaceholderInvalid as invalid:
            name = names[0] if part.endpoint is not None else names[1]
            kind = "no-base-url" if isinstance(invalid, BaseUrlMissing) else "bad-endpoint"
            self.complain(kind, f"{name}: {invalid}", written.keys(name))
            return None

    def _query(
        self, part: ReadingYaml, at: Keys
    ) -> Sequence[tuple[str, PlaceholderText | tuple[PlaceholderText, ...] | None]]:
        pairs: list[tuple[str, PlaceholderText | tuple[PlaceholderText, ...] | None]] = []
        for name, value in part.query_params.items():
            if isinstance(value, list):
                texts = [self._text(_wire(each), (*at, name, n)) for n, each in enumerate(value)]
                pairs.append((name, tuple(text for text in texts if text is not None)))
            elif isinstance(value, dict):
                self.complain("wrong-type", f"{name}: expected a value or a list", (*at, name))
            else:
                text = self._text(_wire(value), (*at, name))
                pairs.append((name, text if value is not None else None))
        return pairs

    def _body(self, part: HttpYaml, written: WrittenRequest) -> HttpBody | None:
        json = _one(self, part.body, part.body_template, written, ("body", "body_template"))
        given = {"body": json, "form": part.form, "text": part.text}
        named = [name for name, value in given.items() if value is not None]
        if len(named) > 1:
            what = f"a request has one body, and here are {' and '.join(named)}"
            self.complain("duplicate-key", what, written.keys(named[1]))
        if not named:
            return None
        content_type = self._content_type(part)
        at = written.keys(named[0])
        if named[0] == "body" and part.body is None:
            at = written.keys("body_template")
        try:
            if named[0] == "text":
                return HttpBody("text", parse_text(part.text or ""), content_type)
            if named[0] == "form":
                return HttpBody("form", to_texts(part.form), content_type)
            content = parse_json_text(json) if isinstance(json, str) else to_texts(json)
            return HttpBody("json", content, content_type)
        except PlaceholderInvalid as invalid:
            hint = "; for another kind of body write `text:`" if named[0] == "body" else ""
            self.complain("bad-body", f"{named[0]}: {invalid}{hint}", at)
            return None

    def _content_type(self, part: HttpYaml) -> str:
        headers = {name.lower(): str(value) for name, value in part.headers.items()}
        return headers.get("content-type", "")

    def _text(self, source: str, at: Keys) -> PlaceholderText | None:
        try:
            return parse_text(source)
        except PlaceholderInvalid as invalid:
            self.complain("bad-placeholder", str(invalid), at)
            return None

    def _check_path(self, path: str, at: Keys) -> None:
        if not path:
            return
        try:
            compile_path(path)
        except JMESPathError as invalid:
            reason = str(invalid).partition("\n")[0].rstrip(":")
            self.complain("bad-path", f"{path!r} is not JMESPath: {reason}", at)


def _wire(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _one(
    builder: _RequestBuilder,
    first: Any,
    second: Any,
    written: WrittenRequest,
    names: tuple[str, str],
) -> Any:
    """The value of a key that has two spellings; both is a problem."""
    if first is not None and second is not None:
        what = f"{names[0]} and {names[1]} mean the same; keep one"
        builder.complain("duplicate-key", what, written.keys(names[1]))
    return first if first is not None else second
