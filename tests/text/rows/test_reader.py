"""Questions about rows: read as they are meant, to the last word, or not at all."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from operator import eq, ge, gt, lt
from typing import Any

import pytest

from server.text.parsed_text import ParsedText
from server.text.rows.naming import said_of_rows
from server.text.rows.reader import read_row_question

NOW = datetime(2026, 3, 1, tzinfo=UTC)
STAFF = [
    {
        "name": "Ana",
        "dept": "sales",
        "salary": 42000,
        "start": "2020-03-01",
        "remote": True,
        "email": "a@x.org",
    },
    {
        "name": "Bo",
        "dept": "it",
        "salary": 58000,
        "start": "2019-05-11",
        "remote": False,
        "email": None,
    },
    {
        "name": "Cy",
        "dept": "sales",
        "salary": 39000,
        "start": "2021-07-20",
        "remote": True,
        "email": "",
    },
]
CARS = [
    {"model": "Golf", "brand": "VW", "year": 2015, "color": "red", "price": 9000},
    {"model": "Clio", "brand": "Renault", "year": 2021, "color": "blue", "price": 14500},
    {"model": "Yaris", "brand": "Toyota", "year": 2018, "color": "red", "price": 11000},
]


def read(question: str, rows: Any) -> Any:
    reading = ParsedText(f"{question} {json.dumps(rows)}", NOW, "mdy", ("en",))
    return read_row_question(reading, reading.of("array")[0])


def cond(field: str, operator: str, value: Any = None) -> dict[str, Any]:
    return {"field": field, "operator": operator} | ({} if value is None else {"value": value})


RED = cond("color", "eq", "red")


@pytest.mark.parametrize(
    ("question", "rows", "query"),
    [
        ("red cars, newest first, just the models", CARS, {
            "where": RED, "sort": [{"field": "year", "order": "desc"}], "columns": ["model"]}),
        ("red or blue cars under 12000", CARS, {
            "where": {"all": [cond("color", "in", ["red", "blue"]), cond("price", "lt", 12000)]}}),
        ("the red ones and the blue ones", CARS, {"where": cond("color", "in", ["red", "blue"])}),
        ("all except red and blue", CARS, {"where": cond("color", "not_in", ["red", "blue"])}),
        ("cars from 2015 or later", CARS, {"where": cond("year", "gte", 2015)}),
        ("cars between 2010 and 2019", CARS, {"where": cond("year", "between", [2010, 2019])}),
        ("cheapest red car", CARS, {
            "where": RED, "sort": [{"field": "price", "order": "asc"}], "limit": 1, "ties": True}),
        ("cars sorted from cheapest to most expensive", CARS, {
            "sort": [{"field": "price", "order": "asc"}]}),
        ("cars in order of price, cheapest first", CARS, {
            "sort": [{"field": "price", "order": "asc"}]}),
        ("sort by brand, then by year desc", CARS, {
            "sort": [{"field": "brand", "order": "asc"}, {"field": "year", "order": "desc"}]}),
        ("average price per colour, highest first", CARS, {
            "aggregate": [{"operation": "average", "field": "price"}], "group": ["color"],
            "sort": [{"field": "average_price", "order": "desc"}]}),
        ("remove color and price", CARS, {"drop": ["color", "price"]}),
        ("drop the golf", CARS, {"where": cond("model", "ne", "Golf")}),
        ("what does the Golf cost", CARS, {
            "where": cond("model", "eq", "Golf"), "columns": ["price"]}),
        ("who earns the most", STAFF, {
            "sort": [{"field": "salary", "order": "desc"}], "limit": 1, "ties": True}),
        ("how many are not remote", STAFF, {
            "where": cond("remote", "ne", True), "aggregate": [{"operation": "count"}]}),
        ("non-remote staff", STAFF, {"where": cond("remote", "eq", False)}),
        ("people without email", STAFF, {"where": cond("email", "blank")}),
        ("who started in 2020", STAFF, {
            "where": cond("start", "between", ["2020-01-01", "2020-12-31"])}),
        ("who started before 2020", STAFF, {"where": cond("start", "lt", "2020-01-01")}),
        ("the it department", STAFF, {"where": cond("dept", "eq", "it")}),
        ("highest and lowest salary by dept", STAFF, {
            "aggregate": [{"operation": "max", "field": "salary"},
                          {"operation": "min", "field": "salary"}], "group": ["dept"]}),
        ("sort ascending", [8, 3, 5], {"sort": [{"field": "value", "order": "asc"}]}),
        ("which of these numbers are bigger than 4", [8, 3, 5], {"where": cond("value", "gt", 4)}),
    ],
)  # fmt: skip
def test_a_question_is_read(question: str, rows: Any, query: dict[str, Any]) -> None:
    assert read(question, rows).query == query


@pytest.mark.parametrize(
    "question",
    [
        "red cars in oslo", "cars with a sunroof", "standard deviation of price", "pivot by color",
        "join with table b", "correlation between year and price", "double the prices",
        "convert prices to euros", "second cheapest car", "is the golf red", "10% off all prices",
        "how would i sort these by price in excel", "the expensive cars", "just the names",
        "everything except red and over 5", "red cars under 10000 or blue cars", "top 2",
        "range of prices", "cars over 5 kilos", "prices as a chart", "cumulative price",
        "which colour is the most common", "sort by price or year", "reverse these",
    ],
)  # fmt: skip
def test_where_a_word_is_not_understood_nothing_is_read(question: str) -> None:
    assert read(question, CARS).query is None


def test_what_could_be_meant_in_two_ways_is_not_read() -> None:
    teams = [{"p": "a", "team": "x", "points": 3}, {"p": "b", "team": "x", "points": 4}]
    assert read("which team has the most points", teams).query is None
    assert read("how many teams", teams).query is None
    two = [{"from": "Oslo", "to": "Bergen"}, {"from": "Bergen", "to": "Oslo"}]
    assert read("only Oslo", two).query is None
    assert read("people in it", STAFF).query is None
    assert read("over 2016", CARS).query is None


def test_columns_called_by_another_name_are_noted() -> None:
    found = read("avg salry by department", STAFF)
    assert found.notes == ("salry as salary", "department as dept")


def test_a_question_is_compared_without_what_is_of_this_data_alone() -> None:
    assert said_of_rows(f"red cars, newest first: {json.dumps(CARS)}") == (
        "value rows, newest first:  this data "
    )
    unread = f"red cars in excel {json.dumps(CARS)}"
    assert said_of_rows(unread) == unread


def some_question(chance: random.Random) -> tuple[list[str], Callable[[dict[str, Any]], bool]]:
    """Words for up to three conditions, and whether a row meets all of them."""
    words: list[str] = []
    tests: list[Callable[[dict[str, Any]], bool]] = []
    if chance.random() < 0.6:
        colour = chance.choice(["red", "blue", "white"])
        no = chance.random() < 0.3
        words.append(f"{'not ' if no else ''}{colour}")
        tests.append(lambda row: (row["color"] == colour) != no)
    words.append(chance.choice(["cars", "rows", "ones", "items"]))
    if chance.random() < 0.6:
        bound = chance.randint(3, 30) * 1000
        phrase, more = chance.choice([
            ("with a price over", True), ("cheaper than", False), ("with price above", True),
            ("that cost less than", False), ("whose price is under", False),
            ("that cost more than", True),
        ])  # fmt: skip
        words.append(f"{phrase} {bound}")
        tests.append(lambda row: row["price"] > bound if more else row["price"] < bound)
    if chance.random() < 0.6:
        year = chance.randint(2005, 2024)
        phrase, way = chance.choice([
            ("from before", lt), ("after", gt), ("older than", lt), ("newer than", gt),
            ("since", ge), ("from", eq),
        ])  # fmt: skip
        words.append(f"{phrase} {year}")
        tests.append(lambda row: bool(way(row["year"], year)))
    return words, lambda row: all(test(row) for test in tests)


def some_cars(chance: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "model": chance.choice(["Golf", "Clio", "Yaris", "Panda"]),
            "year": chance.randint(2005, 2024),
            "color": colour,
            "price": chance.randint(30, 300) * 100,
        }
        for colour in ("red", "blue", "white", *chance.choices(["red", "blue"], k=4))
    ]


def holds(where: dict[str, Any], row: dict[str, Any]) -> bool:
    """A naive reading of the conditions a question comes to."""
    if "all" in where:
        return all(holds(one, row) for one in where["all"])
    if "not" in where:
        return not holds(where["not"], row)
    value, target = row[where["field"]], where["value"]
    match where["operator"]:
        case "eq":
            return bool(value == target)
        case "ne":
            return bool(value != target)
        case "gt":
            return bool(value > target)
        case "gte":
            return bool(value >= target)
        case "lt":
            return bool(value < target)
    raise AssertionError(where)


@pytest.mark.slow
def test_generated_questions_keep_the_rows_they_say() -> None:
    chance = random.Random(6)
    for _ in range(3_000):
        rows = some_cars(chance)
        words, expected = some_question(chance)
        order = chance.choice(["", ", newest first", ", cheapest first", " sorted by price"])
        ends = chance.choice(["", "show me the ", "which ", "list "])
        question = f"{ends}{' '.join(words)}{order} please"
        found = read(question, rows)
        if len(words) == 1 and not order:
            assert found.query is None, question
            continue
        assert found.query is not None, (question, sorted(found.unread))
        where = found.query.get("where", {"all": []})
        assert [holds(where, row) for row in rows] == [expected(row) for row in rows], question
        sort = found.query.get("sort")
        key = {"": None, ", newest first": ("year", "desc")}.get(order, ("price", "asc"))
        assert sort == (key and [{"field": key[0], "order": key[1]}]), question


def test_a_word_that_nobody_knows_keeps_a_generated_question_from_being_read() -> None:
    chance = random.Random(7)
    for _ in range(2_000):
        rows = some_cars(chance)
        words, _ = some_question(chance)
        strange = chance.choice(["upside", "median-ish", "glorp", "plotted", "twice", "roughly"])
        words.insert(chance.randint(0, len(words)), strange)
        assert read(" ".join(words), rows).query is None, words


@pytest.mark.slow
def test_any_words_and_any_rows_are_read_without_failing() -> None:
    chance = random.Random(8)
    words = """red not and or , the top 2 3 by per each of name price over between first newest most
        without no how many total average sort drop except only is 2015 'a' " ( ) - % $ 5 than"""
    pool = words.split()
    for _ in range(3_000):
        question = " ".join(chance.choices(pool, k=chance.randint(0, 12)))
        found = read(question, chance.choice([CARS, STAFF, [1, 2], ["a"], [{}], [[1]], [None]]))
        assert found.query is None or isinstance(found.query, dict)
