"""Templates as authors write them, run by the executor against a service on loopback."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.core.tools import ToolCall, ToolResult
from server.library.http_model import HTTP_TOOL
from server.library.model import Library
from server.tools.executor import ToolExecutor
from server.tools.http.engine import HttpCalls
from server.tools.registry import ToolRegistry
from tests.library.samples import load
from tests.tools.http.upstream import Answering, Upstream, always, calculated, reply, upstream

SECRET = "k3y-of-the-weather"

TEMPLATES = """
templates:
  - id: "get_current_weather"
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
      endpoint_template: "https://api.openweathermap.org/data/2.5/weather?q={location}&units={units}"
      headers:
        Content-Type: "application/json"
        X-API-Key: "${WEATHER_API_KEY}"  # Environment variable

    nl_examples:
      - "What's the weather in London?"
      - "Current weather in New York"
      - "How's the weather in Paris today?"

    tags: ["weather", "api", "external"]

  - id: "get_weather"
    description: "Get current weather for a location"
    tool_type: "query"  # Standard HTTP query

    nl_examples:
      - "What's the weather in Paris?"
      - "Show me weather for New York"

    method: "GET"
    endpoint: "/weather"
    query_params:
      location: "{{ location }}"
"""
DOMAIN = """
domain:
  name: "weather"
api_config:
  base_url: "https://weather.example"
  timeout: 1
  retries: 0
"""


class Elsewhere(httpx.AsyncHTTPTransport):
    """Takes every call to the service of a test, wherever it was meant to go."""

    def __init__(self, there: Upstream) -> None:
        super().__init__()
        self._there = httpx.URL(there.origin)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(
            scheme=self._there.scheme, host=self._there.host, port=self._there.port
        )
        return await super().handle_async_request(request)


def library(folder: Path) -> Library:
    loaded = load(folder, DOMAIN, TEMPLATES, WEATHER_API_KEY=SECRET)
    assert loaded.library is not None, loaded.problems
    return loaded.library


def run(
    folder: Path, answering: Answering, template: str, arguments: dict[str, Any]
) -> tuple[ToolResult, list[Any]]:
    async def go() -> tuple[ToolResult, list[Any]]:
        async with upstream(answering) as service:
            calls = HttpCalls.of(library(folder), Elsewhere(service))
            executor = ToolExecutor(ToolRegistry([]), http=calls)
            call = ToolCall(template, HTTP_TOOL, template, arguments)
            result = await executor.execute(call, timeout_s=5)
            await executor.aclose()
            return result, service.asked

    return asyncio.run(go())


def test_the_documented_function_template_runs_as_it_stands(tmp_path: Path) -> None:
    answering = calculated(
        lambda asked: reply({"q": asked.query, "key": asked.headers["x-api-key"] == SECRET})
    )
    result, (asked,) = run(tmp_path, answering, "get_current_weather", {"location": "New York"})
    assert (asked.method, asked.target) == (
        "GET",
        "/data/2.5/weather?q=New%20York&units=metric",
    )
    assert asked.headers["host"] == "api.openweathermap.org"
    assert (str(result.status), result.tool_name, result.operation, result.parameters) == (
        "success",
        "http_call",
        "get_current_weather",
        {"location": "New York"},
    )
    assert result.result["result"] == {"q": [["q", "New York"], ["units", "metric"]], "key": True}


def test_the_documented_query_template_runs_as_it_stands(tmp_path: Path) -> None:
    result, (asked,) = run(
        tmp_path, always(reply({"sky": "clear"})), "get_weather", {"location": "Paris"}
    )
    assert (asked.target, asked.headers["host"]) == ("/weather?location=Paris", "weather.example")
    assert (str(result.status), result.result["sky"]) == ("success", "clear")


async def _silence(*_: Any) -> None:
    await asyncio.sleep(30)


@pytest.mark.parametrize(
    ("answering", "status", "message"),
    [
        (
            always(reply({"message": f"bad key {SECRET}"}, status=401)),
            "error",
            "api.openweathermap.org answered 401 Unauthorized: bad key ***",
        ),
        (
            always(reply(body=b"<html>", content_type="text/html", status=502)),
            "error",
            "api.openweathermap.org answered 502 Bad Gateway",
        ),
    ],
)
def test_a_failure_names_the_service_and_never_the_key(
    tmp_path: Path, answering: Answering, status: str, message: str
) -> None:
    result, _ = run(tmp_path, answering, "get_current_weather", {"location": "x"})
    assert (str(result.status), result.error_message, result.result) == (status, message, None)


@pytest.mark.parametrize(
    ("status", "body", "rejection"),
    [
        (404, {"message": f"no city {SECRET}"}, "no city ***"),
        (409, {"detail": "two of that name"}, "two of that name"),
        (422, None, "422 Unprocessable Entity"),
        (401, {"message": "who are you"}, None),
        (429, {"message": "slower"}, None),
        (500, {"message": "broken"}, None),
    ],
)
def test_a_service_that_does_not_take_the_arguments_is_told_from_one_that_fails(
    tmp_path: Path, status: int, body: Any, rejection: str | None
) -> None:
    answering = always(reply(body, status=status) if body else reply(body=b"", status=status))
    result, _ = run(tmp_path, answering, "get_current_weather", {"location": "x"})
    assert (str(result.status), result.rejection) == ("error", rejection)
    assert "rejection" not in result.to_dict()


def test_a_slow_service_is_a_timeout(tmp_path: Path) -> None:
    result, _ = run(tmp_path, _silence, "get_weather", {"location": "x"})
    assert (str(result.status), result.error_message) == (
        "timeout",
        "weather.example did not answer in time",
    )


def test_an_argument_that_cannot_stand_there_is_an_error(tmp_path: Path) -> None:
    result, asked = run(tmp_path, always(reply({})), "get_weather", {"location": "\ud800"})
    assert (str(result.status), asked) == ("error", [])


def test_a_call_reaches_nothing_but_its_own_template(tmp_path: Path) -> None:
    result, asked = run(tmp_path, always(reply({})), "another", {"location": "x"})
    assert (str(result.status), result.error_message, asked) == (
        "error",
        "template 'another' makes no HTTP call",
        [],
    )


def test_a_library_without_requests_opens_no_connections(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert loaded.library is not None
    assert HttpCalls.of(loaded.library) is None
