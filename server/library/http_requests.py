"""From a request as it is written to the one that the HTTP engine fills and sends."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from jmespath.exceptions import JMESPathError

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
    QueryValue,
    parse_endpoint,
)
from server.library.http_yaml import (
    ApiConfigYaml,
    HttpYaml,
    PaginationYaml,
    PrepareYaml,
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
from server.library.problems import Section, one_spelling
from server.responses.mapping import ResponseMapping, compile_path
from server.settings.yaml_tree import Unresolved

_TOKEN: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_FIXED: Final = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "te", "upgrade", "expect")
)
"""Headers that decide where a request goes or where it ends."""

_BASE_URL_PLACES: Final = "under api_config of the domain, or under config.http of the adapter"

_FIELDS: Final = {
    "timeout": "timeout_s",
    "backoff": "backoff_s",
    "cache_ttl": "cache_ttl_s",
    **{
        name: name
        for name in ("retries", "max_response_bytes", "max_response_values", "max_redirects")
    },
}


def build_defaults(
    api: ApiConfigYaml,
    section: Section,
    authentication: AuthenticationYaml | None,
    authentication_section: Section,
) -> HttpDefaults:
    base_url, origin = api.base_url.strip().rstrip("/"), ""
    if base_url:
        try:
            origin = parse_endpoint(base_url).origin
        except PlaceholderInvalid as invalid:
            _complain(section.part("base_url"), "bad-endpoint", f"base_url: {invalid}")
    return HttpDefaults(
        base_url=base_url,
        origin=origin,
        headers=_headers(api.headers, section.part("headers")),
        service=_override(HttpService(auth=_auth(authentication, authentication_section)), api),
        max_concurrency=api.max_concurrency,
    )


def _complain(section: Section, kind: str, what: str) -> None:
    # A text with a missing variable is a problem already, and what it lacks is known.
    if not isinstance(section.value, Unresolved):
        section.add(kind, what)


def _override(service: HttpService, written: ServiceYaml) -> HttpService:
    values = {field: getattr(written, key) for key, field in _FIELDS.items()}
    changes: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    return replace(service, **changes)


def _auth(written: AuthenticationYaml | None, section: Section) -> HttpAuth:
    """Return how the service knows us; without a secret nothing is sent, and a warning says so."""
    if written is None or written.type == "none":
        return HttpAuth()
    key = AUTH_SCHEMES[written.type].secret_key
    secret = getattr(written, key).strip()
    if not secret:
        what = f"authentication: {key} is empty, so calls go out without it"
        section.warn("empty-secret", what, key)
        return HttpAuth()
    if not secret.isascii() or not secret.isprintable():
        what = f"authentication: {key} holds characters that no header can carry"
        section.add("bad-header", what, key)
    if written.in_ == "header":
        _check_header_name(written.name, section.part("name"))
    return HttpAuth(written.type, written.username, secret, written.name, written.in_)


def _headers(
    written: dict[str, str | int | float | bool], section: Section
) -> tuple[tuple[str, PlaceholderText], ...]:
    headers = []
    for name, value in written.items():
        _check_header_name(name, section.part(name))
        try:
            text = parse_text(_wire(value).strip())
        except PlaceholderInvalid as invalid:
            section.add("bad-placeholder", f"header {name!r}: {invalid}", name)
            continue
        own = "".join(part for part in text.parts if isinstance(part, str))
        if not own.isascii() or not own.isprintable():
            what = f"header {name!r} holds characters that no header can carry"
            section.add("bad-header", what, name)
            continue
        headers.append((name, text))
    return tuple(headers)


def _check_header_name(name: str, section: Section) -> None:
    if not _TOKEN.fullmatch(name):
        section.add("bad-header", f"{name!r} cannot name a header")
    elif name.lower() in _FIXED:
        what = f"the header {name!r} belongs to the connection and cannot be set"
        section.add("bad-header", what)


@dataclass(frozen=True, slots=True)
class WrittenRequest:
    """The keys of a request, and where each of them stands."""

    part: ReadingYaml
    section: Section
    places: Mapping[str, Section] = field(default_factory=dict)
    """Keys that stand elsewhere than in `section`."""

    def at(self, name: str) -> Section:
        return self.places.get(name, self.section.part(name))

    def one_of(self, *names: str) -> tuple[Any, str]:
        return one_spelling(self.part, self.at, *names)


def build_http(
    operation: str, written: WrittenRequest, defaults: HttpDefaults
) -> HttpExecution | None:
    """Return how the request runs, or None when it cannot; problems say why."""
    part = cast(HttpYaml, written.part)
    method, _ = written.one_of("method", "http_method")
    call = _call(written, method or "GET", defaults)
    prepare = None
    if part.prepare is not None:
        prepare = _preparation(part.prepare, written.at("prepare"), defaults)
    if call is None or (part.prepare is not None and prepare is None):
        return None
    return HttpExecution(
        operation=operation,
        request=call[0],
        service=call[1],
        mapping=_mapping(part.response_mapping, written.at("response_mapping")),
        response_type=part.response_type,
        pagination=_pagination(part.pagination, written.at("pagination")),
        prepare=prepare,
    )


def _call(
    written: WrittenRequest, method: HttpMethod, defaults: HttpDefaults
) -> tuple[HttpRequest, HttpService] | None:
    part = written.part
    place = _endpoint(written, defaults)
    if place is None:
        return None
    ours = defaults.covers(place.origin)
    auth = defaults.service.auth if ours else HttpAuth()
    own_auth, spelling = written.one_of("authentication", "auth")
    if own_auth is not None:
        auth = _auth(own_auth, written.at(spelling))
    own = _headers(part.headers, written.at("headers"))
    named = {name.lower() for name, _ in own}
    inherited = [(n, text) for n, text in defaults.headers if ours and n.lower() not in named]
    request = HttpRequest(
        method=method,
        origin=place.origin,
        path=place.path,
        query=(*place.query, *_query(part, written.at("query_params"))),
        headers=(*inherited, *own),
        body=_body(part, written) if isinstance(part, HttpYaml) else None,
    )
    return request, _override(replace(defaults.service, auth=auth), part)


def _preparation(
    part: PrepareYaml, section: Section, defaults: HttpDefaults
) -> HttpPreparation | None:
    call = _call(WrittenRequest(part, section), "GET", defaults)
    mapping = _mapping(part.response_mapping, section.part("response_mapping"))
    if not mapping.fields:
        what = "prepare supplies nothing: name what it finds under response_mapping.fields"
        _complain(section, "missing-key", what)
    not_found = _parse(part.not_found, section.part("not_found")) if part.not_found else None
    return HttpPreparation(*call, mapping, part.response_type, not_found) if call else None


def _mapping(part: ResponseMappingYaml | None, section: Section) -> ResponseMapping:
    if part is None:
        return ResponseMapping()
    for name in ("items", "total", "error"):
        _check_path(getattr(part, name), section.part(name))
    for name, path in part.fields.items():
        _check_path(path, section.part("fields", name))
    return ResponseMapping(part.items, part.fields, part.total, part.error)


def _pagination(part: PaginationYaml | None, section: Section) -> Pagination | None:
    if part is None:
        return None
    if part.style != "link" and not part.param:
        what = f"pagination by {part.style} needs the query parameter it goes in (param)"
        _complain(section, "missing-key", what)
    if part.style == "cursor" and not part.next:
        what = "pagination by cursor needs the JMESPath of the next cursor (next)"
        _complain(section, "missing-key", what)
    if part.size_param and not part.page_size:
        _complain(section.part("size_param"), "missing-key", "size_param needs a page_size")
    _check_path(part.next, section.part("next"))
    start = part.start if part.start is not None else int(part.style == "page")
    return Pagination(**{**part.model_dump(), "start": start})


def _endpoint(written: WrittenRequest, defaults: HttpDefaults) -> Endpoint | None:
    endpoint, name = written.one_of("endpoint", "endpoint_template")
    if endpoint is None:
        _complain(written.section, "missing-key", "names no endpoint to call")
        return None
    try:
        return parse_endpoint(endpoint, written.part.base_url or defaults.base_url)
    except BaseUrlMissing as invalid:
        what = f"{name}: {invalid}, and there is no base_url; write it {_BASE_URL_PLACES}"
        _complain(written.at(name), "no-base-url", what)
    except PlaceholderInvalid as invalid:
        _complain(written.at(name), "bad-endpoint", f"{name}: {invalid}")
    return None


def _query(part: ReadingYaml, section: Section) -> Iterator[tuple[str, QueryValue]]:
    for name, value in part.query_params.items():
        here = section.part(name)
        if isinstance(value, list):
            texts = [_parse(_wire(each), here.part(n)) for n, each in enumerate(value)]
            yield name, tuple(text for text in texts if text is not None)
        elif isinstance(value, dict):
            _complain(here, "wrong-type", f"{name}: expected a value or a list")
        else:
            yield name, _parse(_wire(value), here) if value is not None else None


def _body(part: HttpYaml, written: WrittenRequest) -> HttpBody | None:
    json, spelling = written.one_of("body", "body_template")
    given = {spelling: json, "form": part.form, "text": part.text}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        kinds = " and ".join("body" if name == spelling else name for name in named)
        what = f"a request has one body, and here are {kinds}"
        _complain(written.at(named[1]), "duplicate-key", what)
    if not named:
        return None
    headers = {name.lower(): str(value) for name, value in part.headers.items()}
    content_type = headers.get("content-type", "")
    try:
        if named[0] == "text":
            return HttpBody("text", parse_text(part.text or ""), content_type)
        if named[0] == "form":
            return HttpBody("form", to_texts(part.form), content_type)
        content = parse_json_text(json) if isinstance(json, str) else to_texts(json)
        return HttpBody("json", content, content_type)
    except PlaceholderInvalid as invalid:
        is_json = named[0] == spelling
        hint = "; for another kind of body write `text:`" if is_json else ""
        what = f"{'body' if is_json else named[0]}: {invalid}{hint}"
        _complain(written.at(named[0]), "bad-body", what)
        return None


def _parse(source: str, section: Section) -> PlaceholderText | None:
    try:
        return parse_text(source)
    except PlaceholderInvalid as invalid:
        _complain(section, "bad-placeholder", str(invalid))
        return None


def _check_path(path: str, section: Section) -> None:
    try:
        if path:
            compile_path(path)
    except JMESPathError as invalid:
        reason = str(invalid).partition("\n")[0].rstrip(":")
        _complain(section, "bad-path", f"{path!r} is not JMESPath: {reason}")


def _wire(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
