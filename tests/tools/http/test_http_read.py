"""Answers of every shape: what is read, mapped and refused."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from server.errors import ToolFailed
from server.library.http_model import HttpPreparation
from server.library.placeholders import parse_text
from server.responses.mapping import ResponseMapping
from server.tools.http.engine import HttpEngine
from tests.tools.http.calls import FAST, LOOPBACK, ask, execution, request
from tests.tools.http.upstream import always, calculated, in_turn, reply, upstream

WEATHER = {"name": "Rome", "main": {"temp": 21.5, "unit": "C"}, "clouds": None}
CITIES = {"results": [{"name": "Rome", "pop": 2}, {"name": "Bari", "pop": 1}], "count": 2}


def run(answer: bytes, **more: Any) -> dict[str, Any]:
    return ask(always(answer), "GET", "/x", **more)[0]


def refused(answer: bytes, **more: Any) -> str:
    with pytest.raises(ToolFailed) as failed:
        run(answer, **more)
    return str(failed.value).partition(" ")[2]


def test_one_thing_shows_its_fields_beside_the_rest() -> None:
    mapping = ResponseMapping(fields={"city": "name", "temp": "main.temp", "rain": "rain.mm"})
    result = run(reply(WEATHER), mapping=mapping, arguments={"q": "Rome"})
    del result["service"]
    item = {"city": "Rome", "temp": 21.5, "rain": None}
    assert result == {
        "operation": "op",
        "input": {"q": "Rome"},
        "status_code": 200,
        "count": 1,
        "total": 1,
        "complete": True,
        "items": [item],
        "result": item,
        **item,
    }


def test_many_things_are_items_with_a_total() -> None:
    mapping = ResponseMapping(items="results", fields={"city": "name"}, total="count")
    result = run(reply(CITIES), mapping=mapping)
    assert {name: result[name] for name in ("result", "count", "total", "complete")} == {
        "result": [{"city": "Rome"}, {"city": "Bari"}],
        "count": 2,
        "total": 2,
        "complete": True,
    }


def test_a_total_beyond_what_came_says_that_more_is_there() -> None:
    result = run(reply(CITIES | {"count": "40"}), mapping=ResponseMapping("results", total="count"))
    assert (result["count"], result["total"], result["complete"]) == (2, 40, False)


@pytest.mark.parametrize(
    ("data", "mapping", "expected"),
    [
        ({"a": 1}, ResponseMapping(), {"a": 1}),
        ([1, 2], ResponseMapping(), [1, 2]),
        ([], ResponseMapping(), []),
        (5, ResponseMapping(), 5),
        ({"nothing": "here"}, ResponseMapping(items="results"), []),
        ({"results": {"a": 1}}, ResponseMapping(items="results"), {"a": 1}),
        (CITIES, ResponseMapping(items="results[?pop > `1`].name"), ["Rome"]),
        (CITIES, ResponseMapping(fields={"n": "length(results)"}), {"n": 2}),
    ],
)
def test_a_mapping_takes_what_it_names(data: Any, mapping: ResponseMapping, expected: Any) -> None:
    assert run(reply(data), mapping=mapping)["result"] == expected


@pytest.mark.parametrize(
    ("answer", "mapping", "message"),
    [
        (reply({"results": "soon"}), ResponseMapping(items="results"), "in another shape"),
        (reply({"a": 5}), ResponseMapping(fields={"n": "length(a)"}), "in another shape"),
        (
            reply({"error": "limit\x07 reached"}),
            ResponseMapping(error="error"),
            "says: limit reached",
        ),
        (reply({"ok": False}), ResponseMapping(error="!ok"), "reported an error"),
        (
            reply(body=b"<html>", content_type="text/html; charset=x"),
            ResponseMapping(items="a"),
            "answered something other than JSON or CSV (it calls it text/html)",
        ),
        (
            reply(body=b'{"a": [1, ', content_type="application/problem+json"),
            ResponseMapping(),
            "answered something that is not JSON (it calls it application/problem+json)",
        ),
        (reply(body=b"[" * 100_000), ResponseMapping(), "not JSON"),
        (reply(body=b"\xff\xfe{", content_type=""), ResponseMapping(items="a"), "not JSON"),
        (reply(body=b"\x89PNG", content_type="image/png"), ResponseMapping(), "cannot be read"),
        (reply(body=b"\xff", content_type="text/plain"), ResponseMapping(), "encoding"),
        (reply(body=b"a\x00b", content_type="text/plain"), ResponseMapping(), "is not text"),
        (reply(body=b"x", content_type="text/plain; charset=evil"), ResponseMapping(), "encoding"),
        (reply(body=b"a,b\n1,2,3\n", content_type="text/csv"), ResponseMapping(), "longer"),
        (reply(body=b'a\n"x"y\n', content_type="text/csv"), ResponseMapping(), "not CSV"),
    ],
)
def test_what_cannot_be_used_is_told(answer: bytes, mapping: ResponseMapping, message: str) -> None:
    assert message in refused(answer, mapping=mapping)


def test_an_error_that_repeats_a_secret_is_blacked_out() -> None:
    mapping = ResponseMapping(error="error")
    message = refused(
        reply({"error": "key hunter2 is void"}), mapping=mapping, headers={"X-Key": "hunter2"}
    )
    assert message == "says: key *** is void"


def test_csv_becomes_rows() -> None:
    answer = reply(
        body='\ufeffSymbol,Close\r\nAAPL,230.5\r\n"A,B",N/D\r\n'.encode(), content_type="text/csv"
    )
    mapping = ResponseMapping(fields={"symbol": "Symbol", "price": "to_number(Close)"})
    assert run(answer, mapping=mapping)["result"] == [
        {"symbol": "AAPL", "price": 230.5},
        {"symbol": "A,B", "price": None},
    ]


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", "Grüße\n".encode(), "Grüße"),
        ("text/plain; charset=latin-1", "Grüße".encode("latin-1"), "Grüße"),
        ("", b"plain", "plain"),
    ],
)
def test_text_is_text(content_type: str, body: bytes, text: str) -> None:
    assert run(reply(body=body, content_type=content_type))["result"] == text


def test_an_expected_type_overrides_the_label() -> None:
    mislabelled = reply(body=b'{"a": 1}', content_type="text/html")
    assert run(mislabelled, response_type="json")["result"] == {"a": 1}
    assert run(mislabelled, response_type="text")["result"] == '{"a": 1}'


@pytest.mark.parametrize("status", [200, 201, 204])
def test_an_empty_answer_is_a_success_with_nothing(status: int) -> None:
    result = run(reply(body=b"", status=status, content_type=""))
    assert (result["result"], result["status_code"], result["count"]) == (None, status, 0)


def test_a_large_answer_is_read_too() -> None:
    rows = [{"id": n, "text": "x" * 50} for n in range(5000)]
    assert run(reply(rows), mapping=ResponseMapping(fields={"id": "id"}))["count"] == 5000


def prepared(answering: Any, **more: Any) -> dict[str, Any]:
    async def go() -> dict[str, Any]:
        async with upstream(answering) as service:
            geocoding = request("GET", "/geo?name={city}&no={none}", base_url=service.origin)
            call = execution(
                "GET",
                "/at?lat={lat}&days={days}",
                base_url=service.origin,
                prepare=HttpPreparation(
                    geocoding,
                    FAST,
                    ResponseMapping("results", {"lat": "lat", "place": "name"}),
                    not_found=parse_text("I know no place called {city}."),
                ),
                **more,
            )
            engine = HttpEngine(egress=LOOPBACK)
            try:
                result = await engine.run(call, {"city": "Rome", "days": 2})
            finally:
                await engine.close()
            return result | {"asked": [asked.target for asked in service.asked]}

    return asyncio.run(go())


def test_a_preparation_supplies_placeholders_and_fields() -> None:
    found = reply({"results": [{"lat": 41.9, "name": "Roma"}, {"lat": 1, "name": "Rome, GA"}]})
    result = prepared(in_turn(found, reply({"temp": 20})))
    assert (result["asked"], result["place"], result["temp"]) == (
        ["/geo?name=Rome", "/at?lat=41.9&days=2"],
        "Roma",
        20,
    )


@pytest.mark.parametrize("data", [{}, {"results": []}, {"results": [{"other": 1}]}])
def test_a_preparation_that_finds_nothing_says_so_in_the_authors_words(data: Any) -> None:
    with pytest.raises(ToolFailed, match=r"^I know no place called Rome\.$"):
        prepared(always(reply(data)))


def test_a_cached_answer_is_not_asked_for_again() -> None:
    async def go() -> list[str]:
        async with upstream(calculated(lambda asked: reply(asked.target))) as service:
            kept = replace(FAST, cache_ttl_s=60)
            read = execution("GET", "/r?q={q}", base_url=service.origin, service=kept)
            write = execution("POST", "/w", base_url=service.origin, service=kept)
            engine = HttpEngine(egress=LOOPBACK)
            for call, q in ((read, 1), (read, 1), (read, 2), (write, 1), (write, 1)):
                await engine.run(call, {"q": q})
            await engine.close()
            return [asked.target for asked in service.asked]

    assert asyncio.run(go()) == ["/r?q=1", "/r?q=2", "/w", "/w"]
