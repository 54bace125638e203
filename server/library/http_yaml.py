"""Requests, services and answers as authors write them."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from server.library.http_auth import AuthenticationYaml
from server.settings.fields import LibraryModel


def _uppercase(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _paths_by_name(value: Any) -> Any:
    return {name: name for name in value} if isinstance(value, list) else value


_InCapitals = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
_InSmallLetters = Literal["get", "post", "put", "patch", "delete"]

Method = Annotated[
    _InCapitals,
    BeforeValidator(_uppercase, json_schema_input_type=_InCapitals | _InSmallLetters),
]


PathsByName = Annotated[
    dict[str, str],
    BeforeValidator(_paths_by_name, json_schema_input_type=dict[str, str] | tuple[str, ...]),
]


class ServiceYaml(LibraryModel):
    """What calls to a service share: written once for the domain, or for one template."""

    base_url: str = ""
    """Address that relative endpoints are joined to."""
    headers: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Headers by name; one whose argument has no value is not sent."""
    timeout: float | None = Field(default=None, gt=0, le=600)
    """Seconds that a call may take, retries and further pages included."""
    retries: int | None = Field(default=None, ge=0, le=10)
    """How often a call that may be sent twice is tried again."""
    backoff: float | None = Field(default=None, gt=0, le=60)
    """Seconds before the first retry; each further one waits twice as long."""
    max_response_bytes: int | None = Field(default=None, ge=1, le=100_000_000)
    """Largest answer that is read."""
    max_response_values: int | None = Field(default=None, ge=1, le=1_000_000)
    """Most values in an answer, at any depth; every cell of a table is one."""
    max_redirects: int | None = Field(default=None, ge=0, le=10)
    """How many redirects are followed, on the same host alone."""
    cache_ttl: float | None = Field(default=None, ge=0)
    """Seconds that the answer to a GET may be used again; 0 keeps none."""


class ApiConfigYaml(ServiceYaml):
    """The service that the domain's endpoints belong to."""

    max_concurrency: int = Field(default=64, ge=1, le=1000)
    """How many calls of the adapter may be under way at once."""


class ResponseMappingYaml(LibraryModel):
    """What to take from an answer, in JMESPath."""

    items: str = ""
    """Path to the item, or to the list of items; the whole answer when left out."""
    fields: PathsByName = Field(default_factory=dict)
    """Fields of an item: each name with its path, or a list of names."""
    total: str = ""
    """Path to how many items there are, beyond those in the answer."""
    error: str = ""
    """Expression that yields a message, or true, when the answer reports a failure."""


class PaginationYaml(LibraryModel):
    """How further pages are asked for."""

    style: Literal["page", "offset", "cursor", "link"]
    """By page number, by offset, by a cursor in the answer, or by its Link header."""
    param: str = ""
    """Query parameter of the page number, the offset or the cursor."""
    size_param: str = ""
    """Query parameter of the page size."""
    page_size: int = Field(default=0, ge=0, le=10_000)
    """Items on a page; a shorter page is the last one."""
    start: int | None = Field(default=None, ge=0)
    """Number of the first page (1), or the first offset (0)."""
    next: str = ""
    """JMESPath to the next cursor."""
    max_pages: int = Field(default=5, ge=1, le=1000)
    """Pages that are asked for at most."""
    max_items: int = Field(default=500, ge=1, le=100_000)
    """Items that are gathered at most."""


class ReadingYaml(ServiceYaml):
    """A call without a method of its own: where it goes, and how its answer is read."""

    endpoint: str | None = None
    """Address, absolute or relative to `base_url`, with `{{ name }}` or `{name}`."""
    endpoint_template: str | None = None
    """Another spelling of `endpoint`."""
    query_params: dict[str, Any] = Field(default_factory=dict)
    """Query parameters by name; one whose argument has no value is not sent."""
    authentication: AuthenticationYaml | None = None
    """How the service knows us, when it is not as the domain says."""
    auth: AuthenticationYaml | None = None
    """Another spelling of `authentication`."""
    response_type: Literal["auto", "json", "csv", "text"] = "auto"
    """What the answer is; `auto` goes by its content type."""
    response_mapping: ResponseMappingYaml | None = None
    """What to take from the answer."""


class PrepareYaml(ReadingYaml):
    """A GET made first. The fields of its first item are placeholders of the request."""

    not_found: str = ""
    """What to say when it finds nothing."""


class HttpYaml(ReadingYaml):
    """Keys that describe a request."""

    method: Method | None = None
    """GET, POST, PUT, PATCH or DELETE; GET when left out."""
    http_method: Method | None = None
    """Another spelling of `method`."""
    body: Any = None
    """JSON body; a text that is one placeholder sends the value itself."""
    body_template: Any = None
    """Another spelling of `body`."""
    form: dict[str, Any] | None = None
    """Fields of a form, as the body."""
    text: str | None = None
    """Plain text, as the body."""
    pagination: PaginationYaml | None = None
    """How further pages are asked for."""
    prepare: PrepareYaml | None = None
    """A call made first, whose fields this one needs."""


REQUEST_TEXTS = (
    *("endpoint", "endpoint_template", "query_params", "headers"),
    *("body", "body_template", "form", "text"),
)
"""Keys whose texts may hold placeholders; those of `prepare` may as well."""
