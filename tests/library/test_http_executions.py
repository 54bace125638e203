"""Requests as authors write them, and what becomes of each."""

from pathlib import Path
from typing import Any

import pytest

from server.library.http_auth import HttpAuth
from server.library.http_model import (
    HttpBody,
    HttpExecution,
    HttpService,
    Pagination,
)
from server.library.loader import load_library
from server.library.model import Library, Template
from server.library.placeholders import parse_text, to_texts
from server.responses.mapping import ResponseMapping
from tests.library.samples import load

DOMAIN = """
domain_name: shop
api_config:
  base_url: https://api.example/v1/
  timeout: 7
  retries: 1
  headers: {X-Client: orbit, X-Lang: en}
authentication: {type: bearer, token: "${TOKEN}"}
"""


def library_of(folder: Path, template: str, domain: str = DOMAIN) -> Library:
    text = "templates:\n  - id: find\n    nl_examples: [Find a thing]\n" + template
    loaded = load(folder, domain, text, TOKEN="t0ps3cret", WEATHER_API_KEY="k3y")
    assert loaded.library is not None, loaded.problems
    assert loaded.problems == ()
    return loaded.library


def template_of(folder: Path, template: str, domain: str = DOMAIN) -> Template:
    return library_of(folder, template, domain).templates["find"]


def execution_of(folder: Path, template: str, domain: str = DOMAIN) -> HttpExecution:
    found = template_of(folder, template, domain).execution
    assert isinstance(found, HttpExecution)
    return found


def test_a_query_template_is_a_request_of_the_domains_service(tmp_path: Path) -> None:
    found = execution_of(
        tmp_path,
        """
    tool_type: query
    method: get
    endpoint: /things/{id}?kind={{ kind }}
    query_params: {page: 1, all: true, tags: ["{{ kind }}", x], flag: null}
    parameters: [{name: id, type: integer}, {name: kind}]
""",
    )
    request = found.request
    assert (found.operation, request.method, request.origin) == (
        "find",
        "GET",
        "https://api.example",
    )
    assert request.path.fill({"id": 3}, str) == "/v1/things/3"
    assert request.query == (
        ("kind", parse_text("{{ kind }}")),
        ("page", parse_text("1")),
        ("all", parse_text("true")),
        ("tags", (parse_text("{{ kind }}"), parse_text("x"))),
        ("flag", None),
    )
    assert request.headers == (("X-Client", parse_text("orbit")), ("X-Lang", parse_text("en")))
    auth = HttpAuth("bearer", secret="t0ps3cret")
    assert found.service == HttpService(auth=auth, timeout_s=7, retries=1)


NESTED = """
    function_schema:
      name: find_things
      parameters: [{name: what}]
    execution:
      type: http_call
      http_method: POST
      endpoint_template: https://api.example/v1/things
      body_template: '{"what": {{ what }}, "n": 2}'
"""
FLAT = """
    method: POST
    endpoint: /things
    body: {what: "{what}", n: 2}
    parameters: [{name: what}]
"""


def test_both_notations_are_the_same_request(tmp_path: Path) -> None:
    nested, flat = execution_of(tmp_path, NESTED), execution_of(tmp_path, FLAT)
    assert (nested.operation, flat.operation) == ("find_things", "find")
    bodies = [found.request.body for found in (nested, flat)]
    assert bodies[0] == HttpBody("json", {"what": parse_text("{{ what }}"), "n": 2})
    assert bodies[1] == HttpBody("json", {"what": parse_text("{what}"), "n": 2})
    assert nested.service == flat.service
    assert nested.request.path == flat.request.path


@pytest.mark.parametrize(
    ("more", "effect"),
    [
        ("method: GET", "read"),
        ("method: POST", "write"),
        ("method: DELETE", "write"),
        ("method: POST\n    effect: read", "read"),
        ("method: GET\n    effect: write", "write"),
    ],
)
def test_a_request_that_writes_says_so_by_its_method(
    tmp_path: Path, more: str, effect: str
) -> None:
    assert template_of(tmp_path, f"    endpoint: /x\n    {more}\n").effect == effect


def test_a_template_has_the_last_word(tmp_path: Path) -> None:
    found = execution_of(
        tmp_path,
        """
    endpoint: /x
    timeout: 2.5
    retries: 0
    backoff: 1
    cache_ttl: 60
    max_response_bytes: 1000
    max_response_values: 70
    max_redirects: 0
    headers: {x-lang: fr}
    auth: {type: api_key, key: abcd, in: query, name: appid}
""",
    )
    assert found.service == HttpService(
        auth=HttpAuth("api_key", secret="abcd", name="appid", place="query"),
        timeout_s=2.5,
        retries=0,
        backoff_s=1,
        max_response_bytes=1000,
        max_response_values=70,
        max_redirects=0,
        cache_ttl_s=60,
    )
    assert found.request.headers == (
        ("X-Client", parse_text("orbit")),
        ("x-lang", parse_text("fr")),
    )


@pytest.mark.parametrize("endpoint", ["https://other.example/x", "http://api.example/v1/x"])
def test_another_service_never_gets_the_domains_key_and_headers(
    tmp_path: Path, endpoint: str
) -> None:
    found = execution_of(tmp_path, f"    endpoint: {endpoint}\n")
    assert (found.service.auth, found.request.headers) == (HttpAuth(), ())
    assert found.service.timeout_s == 7


def test_without_a_base_url_the_key_goes_with_every_endpoint(tmp_path: Path) -> None:
    domain = "domain_name: d\nauthentication: {type: basic, username: me, password: 12345}\n"
    found = execution_of(tmp_path, "    endpoint: https://api.example/x\n", domain)
    assert found.service.auth == HttpAuth("basic", username="me", secret="12345")


def test_a_base_url_from_outside_takes_the_place_of_the_domains(tmp_path: Path) -> None:
    library_of(tmp_path, "    endpoint: /x\n")
    files = tmp_path / "domain.yaml", [tmp_path / "tools.yaml"]
    loaded = load_library(*files, {"TOKEN": "t"}, base_url="http://127.0.0.1:8080/y")
    library = loaded.library
    assert library is not None
    execution = library.templates["find"].execution
    assert isinstance(execution, HttpExecution)
    found = execution.request
    assert (found.origin, found.path.source) == ("http://127.0.0.1:8080", "/y/x")
    assert library.domain.http.covers(found.origin)


def test_a_base_url_of_the_template(tmp_path: Path) -> None:
    text = "    endpoint: /x\n    base_url: http://127.0.0.1:8080/y\n"
    found = execution_of(tmp_path, text)
    assert (found.request.origin, found.request.path) == (
        "http://127.0.0.1:8080",
        parse_text("/y/x"),
    )


def test_the_limit_of_calls_at_once_belongs_to_the_adapter(tmp_path: Path) -> None:
    domain = "domain_name: d\napi_config: {base_url: 'http://h', max_concurrency: 3}\n"
    assert library_of(tmp_path, "    endpoint: /x\n", domain).domain.http.max_concurrency == 3


@pytest.mark.parametrize(
    ("keys", "body"),
    [
        ("body: '{{ what }}'", HttpBody("json", parse_text("{{ what }}"))),
        ("body: [1, '{what}']", HttpBody("json", to_texts([1, "{what}"]))),
        ("form: {q: '{what}'}", HttpBody("form", to_texts({"q": "{what}"}))),
        ("text: 'Say {what}'", HttpBody("text", parse_text("Say {what}"))),
        (
            "text: '<{what}/>'\n    headers: {Content-Type: application/xml}",
            HttpBody("text", parse_text("<{what}/>"), "application/xml"),
        ),
    ],
)
def test_bodies_of_each_kind(tmp_path: Path, keys: str, body: HttpBody) -> None:
    text = f"    method: POST\n    endpoint: /x\n    parameters: [{{name: what}}]\n    {keys}\n"
    assert execution_of(tmp_path, text).request.body == body


def test_how_the_answer_is_read(tmp_path: Path) -> None:
    found = execution_of(
        tmp_path,
        """
    endpoint: /x
    response_type: json
    response_mapping: {items: data, fields: [id, name], total: meta.total, error: error}
    pagination: {style: offset, param: from, size_param: size, page_size: 50, max_pages: 3}
""",
    )
    assert found.response_type == "json"
    assert found.mapping == ResponseMapping(
        "data", {"id": "id", "name": "name"}, "meta.total", "error"
    )
    assert found.pagination == Pagination("offset", "from", "size", 50, start=0, max_pages=3)


def test_what_a_preparation_supplies_needs_no_parameter(tmp_path: Path) -> None:
    found = execution_of(
        tmp_path,
        """
    endpoint: /at?lat={lat}
    parameters: [{name: city}]
    prepare:
      endpoint: https://geo.example/find
      query_params: {name: "{city}"}
      response_mapping: {items: results, fields: {lat: latitude}}
      not_found: "There is no {city}."
""",
    )
    assert found.prepare is not None
    assert found.prepare.request.origin == "https://geo.example"
    assert found.prepare.not_found == parse_text("There is no {city}.")
    assert found.prepare.request.query == (("name", parse_text("{city}")),)


SEED_TEMPLATES = """
    version: "1.0.0"
    description: "Get current weather conditions for a location"
    tool_type: "function"
    function_schema:
      name: "get_current_weather"
      description: "Retrieve current weather data including temperature and conditions"
      parameters:
        - name: location
          type: string
          required: true
          description: "City name or location"
          example: "London"
        - name: units
          type: string
          required: false
          description: "Temperature units: 'metric' or 'imperial'"
          default: "metric"
          enum: ["metric", "imperial"]
    execution:
      type: "http_call"
      http_method: "GET"
      endpoint_template: "https://weather.example/data/2.5/weather?q={location}&units={units}"
      headers:
        Content-Type: "application/json"
        X-API-Key: "${WEATHER_API_KEY}"
    tags: ["weather", "api", "external"]
"""


def test_a_key_from_the_environment_is_never_shown(tmp_path: Path) -> None:
    template = template_of(tmp_path, SEED_TEMPLATES, "domain_name: d\n")
    found = template.execution
    assert isinstance(found, HttpExecution)
    assert ("X-API-Key", parse_text("k3y")) in found.request.headers
    assert "k3y" not in repr(template)


def test_nothing_of_a_request_is_forgotten(tmp_path: Path) -> None:
    """Two libraries that differ in any key differ in what they do."""
    base: dict[str, Any] = {"endpoint": "/x"}
    changes: dict[str, str] = {
        "timeout": "3",
        "retries": "5",
        "backoff": "2",
        "max_response_bytes": "9",
        "max_redirects": "1",
        "cache_ttl": "4",
        "headers": "{A: b}",
        "query_params": "{a: b}",
        "response_type": "text",
        "response_mapping": "{items: a}",
        "pagination": "{style: link}",
        "form": "{a: b}",
        "body": "{a: b}",
        "text": "a",
        "base_url": "http://h",
        "authentication": "{type: none}",
    }
    plain = execution_of(tmp_path, "".join(f"    {k}: {v}\n" for k, v in base.items()))
    for key, value in changes.items():
        changed = execution_of(tmp_path, f"    endpoint: /x\n    {key}: {value}\n")
        assert changed != plain, key
