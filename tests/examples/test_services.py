"""The stand-ins answer in the shapes of the services that they stand in for."""

import asyncio
from datetime import date
from typing import Any

import httpx
import pytest

from examples.services.app import create_app

DAY = date(2025, 6, 1)


def ask(method: str, target: str, *, json: Any = None, **trouble: Any) -> httpx.Response:
    async def run() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(lambda: DAY, **trouble))
        async with httpx.AsyncClient(transport=transport, base_url="http://demo") as client:
            return await client.request(method, target, json=json)

    return asyncio.run(run())


def get(target: str) -> Any:
    return ask("GET", target).json()


def test_the_largest_place_comes_first() -> None:
    (found,) = get("/v1/search?name=london&count=1")["results"]
    assert (found["name"], found["country"], found["latitude"]) == (
        "London",
        "United Kingdom",
        51.51,
    )


def test_a_country_after_a_comma_tells_places_apart() -> None:
    (found,) = get("/v1/search?name=London, Canada")["results"]
    assert found["country"] == "Canada"


def test_accents_do_not_matter() -> None:
    assert get("/v1/search?name=zurich")["results"][0]["name"] == "Zürich"


def test_an_unknown_place_has_no_results_at_all() -> None:
    assert get("/v1/search?name=Atlantis") == {"generationtime_ms": 0.5}


def test_current_weather_comes_with_units() -> None:
    answer = get(
        "/v1/forecast?latitude=51.51&longitude=-0.13&current=temperature_2m,wind_speed_10m"
        "&temperature_unit=fahrenheit"
    )
    assert answer["current_units"]["temperature_2m"] == "°F"
    assert answer["current"]["time"] == "2025-06-01T12:00"
    assert isinstance(answer["current"]["temperature_2m"], float)


def test_wind_comes_in_the_unit_that_is_asked_for() -> None:
    query = "/v1/forecast?latitude=51.51&longitude=-0.13&current=wind_speed_10m&wind_speed_unit="
    found = {unit: get(query + unit) for unit in ("kmh", "mph", "ms", "kn")}
    shown = {
        (answer["current"]["wind_speed_10m"], answer["current_units"]["wind_speed_10m"])
        for answer in found.values()
    }
    assert shown == {(25.8, "km/h"), (16.0, "mp/h"), (7.2, "m/s"), (13.9, "kn")}
    assert ask("GET", query + "furlongs").status_code == 400


def test_a_forecast_has_a_column_for_each_value() -> None:
    answer = get("/v1/forecast?latitude=1&longitude=2&daily=temperature_2m_max&forecast_days=3")
    assert answer["daily"]["time"] == ["2025-06-01", "2025-06-02", "2025-06-03"]
    assert len(answer["daily"]["temperature_2m_max"]) == 3


def test_a_forecast_may_be_for_one_day() -> None:
    answer = get(
        "/v1/forecast?latitude=1&longitude=2&daily=precipitation_sum"
        "&start_date=2025-06-03&end_date=2025-06-03"
    )
    assert answer["daily"]["time"] == ["2025-06-03"]


@pytest.mark.parametrize(
    "target",
    [
        "/v1/forecast?latitude=1&longitude=2&daily=precipitation_sum&start_date=2025-06-03",
        "/v1/forecast?latitude=1&longitude=2&daily=precipitation_sum&start_date=2025-06-03"
        "&end_date=2025-06-03&forecast_days=3",
        "/v1/forecast?latitude=1&longitude=2&daily=precipitation_sum&start_date=2026-06-03"
        "&end_date=2026-06-03",
        "/v1/forecast?latitude=1",
        "/v1/forecast?latitude=100&longitude=0",
        "/v1/forecast?latitude=1&longitude=2&current=luck",
        "/v1/forecast?latitude=1&longitude=2&daily=temperature_2m_max&forecast_days=17",
        "/v1/search",
    ],
)
def test_a_wrong_question_gets_a_reason(target: str) -> None:
    answer = ask("GET", target)
    assert (answer.status_code, answer.json()["error"]) == (400, True)


def test_rates_are_for_one_unit_of_the_base() -> None:
    assert get("/v1/latest?base=USD&symbols=EUR") == {
        "amount": 1.0,
        "base": "USD",
        "date": "2025-06-01",
        "rates": {"EUR": 0.8},
    }


@pytest.mark.parametrize(
    ("target", "status"),
    [("/v1/latest?base=XXX", 404), ("/v1/latest?base=EUR&symbols=EUR", 422)],
)
def test_a_pair_without_a_rate_is_refused(target: str, status: int) -> None:
    assert ask("GET", target).status_code == status


def test_rates_of_a_day_at_a_weekend_are_those_of_the_friday_before() -> None:
    sunday, friday = (get(f"/v1/2025-04-{day}?base=USD&symbols=EUR,GBP") for day in ("20", "18"))
    assert sunday == friday
    assert (friday["date"], set(friday["rates"])) == ("2025-04-18", {"EUR", "GBP"})


@pytest.mark.parametrize("day", ["2025-06-02", "1999-01-03", "2025-02-30"])
def test_there_are_no_rates_of_days_to_come_or_before_the_euro(day: str) -> None:
    assert ask("GET", f"/v1/{day}?base=USD&symbols=EUR").status_code == 404


def test_places_are_found_by_kind_and_by_name() -> None:
    kinds = get("/search?q=pharmacies in Vienna&limit=2&format=jsonv2")
    assert [(row["type"], row["address"]["city"]) for row in kinds] == [("pharmacy", "Vienna")] * 2
    (tower,) = get("/search?q=Eiffel Tower")
    assert (tower["lat"], tower["address"]["country"]) == ("48.8583000", "France")
    assert get("/search?q=Paris")[0]["extratags"] == {"population": "2138551"}
    assert get("/search?q=rooftop saunas in Vienna") == get("/search?q=Atlantis") == []


@pytest.mark.parametrize("target", ["/search", "/search?q=Paris&limit=50"])
def test_a_search_for_nothing_is_refused(target: str) -> None:
    assert ask("GET", target).status_code == 400


def test_a_quote_is_a_line_of_csv() -> None:
    answer = ask("GET", "/q/l/?s=aapl.us&f=sd2t2ohlcvn&h&e=csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.text.splitlines()[1] == (
        "AAPL.US,2025-06-01,22:00:00,229.3,232.6,228.1,230.5,1000000,APPLE"
    )


def test_an_unknown_symbol_has_no_figures() -> None:
    assert "ZZZZ.US,N/D,N/D" in ask("GET", "/q/l/?s=zzzz.us&f=sd2t2ohlcvn&h&e=csv").text


def test_a_notification_is_published_to_its_topic() -> None:
    sent = ask("POST", "/", json={"topic": "ops", "message": "hi", "priority": 4}).json()
    assert {name: sent[name] for name in ("event", "topic", "message", "priority")} == {
        "event": "message",
        "topic": "ops",
        "message": "hi",
        "priority": 4,
    }


@pytest.mark.parametrize("message", [{"topic": "a b"}, {"topic": "x", "priority": 9}, [1]])
def test_a_bad_notification_is_refused(message: Any) -> None:
    assert ask("POST", "/", json=message).status_code == 400


def test_practice_data_has_the_original_sizes() -> None:
    sizes = {name: len(get(f"/{name}")) for name in ("users", "posts", "comments", "todos")}
    assert sizes == {"users": 10, "posts": 100, "comments": 500, "todos": 200}


def test_practice_data_is_filtered_nested_and_paged() -> None:
    assert {post["userId"] for post in get("/posts?userId=3")} == {3}
    assert get("/users/3/posts") == get("/posts?userId=3")
    assert {todo["completed"] for todo in get("/todos?userId=1&completed=true")} == {True}
    paged = ask("GET", "/posts?_page=2&_limit=40")
    assert (len(paged.json()), paged.headers["x-total-count"]) == (40, "100")
    assert paged.links["next"]["url"] == "http://demo/posts?_limit=40&_page=3"


def test_practice_writes_answer_as_if_they_had_happened() -> None:
    assert ask("POST", "/posts", json={"title": "x"}).json() == {"title": "x", "id": 101}
    assert ask("PATCH", "/posts/5", json={"title": "x"}).json()["title"] == "x"
    assert ask("DELETE", "/posts/5").status_code == 200
    assert get("/posts/5")["title"] != "x"


def test_what_is_not_there_is_not_found() -> None:
    assert ask("GET", "/posts/9999").status_code == 404


def test_trouble_on_request() -> None:
    assert ask("GET", "/posts/1", fail_with=503).status_code == 503
    assert ask("GET", "/faults/status/429?retry_after=7").headers["retry-after"] == "7"
    assert ask("GET", "/faults/slow?seconds=0").json() == {"waited": 0.0}
    assert ask("GET", "/faults/page").headers["content-type"].startswith("text/html")
    assert ask("GET", "/faults/redirect?to=/x").headers["location"] == "/x"
