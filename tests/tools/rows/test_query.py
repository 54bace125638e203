"""The query over rows, against a naive filter, sorter and adder; and what it refuses."""

import random
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

import pytest

from server.errors import ArgumentsInvalid, ToolFailed
from server.tools.builtin.json_transform import JsonTransform
from server.tools.rows.moments import Moments
from server.tools.rows.query import run_query

TRANSFORM = JsonTransform()
CASES = 3_000
COLOURS = ["red", "blue", "green", "white"]
Row = dict[str, Any]


def some_rows(chance: random.Random) -> list[Row]:
    """Up to a dozen rows, in which a price may be missing or null."""
    rows: list[Row] = []
    for number in range(chance.randint(0, 12)):
        start = date(2020, 1, 1) + timedelta(days=chance.randint(0, 2_000))
        row: Row = {
            "id": number,
            "colour": chance.choice(COLOURS),
            "stock": chance.randint(-5, 5),
            "sold": chance.random() < 0.5,
            "day": start.isoformat() if chance.random() < 0.5 else start.strftime("%d %B %Y"),
            "_day": start,
        }
        if chance.random() < 0.9:
            row["price"] = chance.choice(
                [None, round(chance.uniform(0, 9), 1), chance.randint(0, 9)]
            )
        rows.append(row)
    return rows


def shown(rows: list[Row]) -> list[Row]:
    return [{key: value for key, value in row.items() if key != "_day"} for row in rows]


def ask(rows: list[Row], query: Row) -> Any:
    return run_query(shown(rows), query, Moments("mdy")).value


def some_test(chance: random.Random, depth: int = 0) -> tuple[Row, Any]:
    """A condition, and the same as a function of a row."""
    pick = chance.randint(0, 9 if depth < 3 else 6)
    if pick == 0:
        colour = chance.choice(COLOURS)
        return {"field": "colour", "value": colour.upper()}, lambda row: row["colour"] == colour
    if pick == 1:
        some = chance.sample(COLOURS, 2)
        return {
            "field": "colour",
            "operator": "in",
            "value": some,
        }, lambda row: row["colour"] in some
    if pick == 2:
        bound = chance.randint(0, 9)
        return {
            "field": "price",
            "operator": "over",
            "value": bound,
        }, lambda row: row.get("price") is not None and row["price"] > bound
    if pick == 3:
        low, high = chance.randint(-5, 5), chance.randint(-5, 5)
        return {
            "field": "stock",
            "operator": "between",
            "value": [low, high],
        }, lambda row: min(low, high) <= row["stock"] <= max(low, high)
    if pick == 4:
        return {"field": "sold", "value": True}, lambda row: row["sold"]
    if pick == 5:
        day = date(2020, 1, 1) + timedelta(days=chance.randint(0, 2_000))
        return {
            "field": "day",
            "operator": "before",
            "value": day.isoformat(),
        }, lambda row: row["_day"] < day
    if pick == 6:
        return {"field": "price", "operator": "blank"}, lambda row: row.get("price") is None
    if pick == 7:
        test, holds = some_test(chance, depth + 1)
        return {"not": test}, lambda row: not holds(row)
    joint, every = ("all", all) if pick == 8 else ("any", any)
    parts = [some_test(chance, depth + 1) for _ in range(chance.randint(1, 3))]
    return {joint: [test for test, _ in parts]}, lambda row: every(h(row) for _, h in parts)


def test_rows_are_kept_as_a_naive_filter_keeps_them() -> None:
    chance = random.Random(1)
    for _ in range(CASES):
        rows = some_rows(chance)
        if not any("price" in row for row in rows):
            continue
        test, holds = some_test(chance)
        assert ask(rows, {"where": test}) == shown([row for row in rows if holds(row)]), test


def test_rows_are_sorted_as_python_sorts_them_and_the_first_are_kept() -> None:
    chance = random.Random(2)
    for _ in range(CASES):
        rows = some_rows(chance)
        if not rows:
            continue
        keys = chance.sample(["colour", "stock", "day", "sold"], chance.randint(1, 3))
        orders = [chance.choice(["asc", "desc"]) for _ in keys]
        expected = list(rows)
        for key, order in reversed(list(zip(keys, orders, strict=True))):
            place = "_day" if key == "day" else key
            expected.sort(key=lambda row, place=place: row[place], reverse=order == "desc")  # type: ignore[misc]
        limit = chance.randint(1, 15)
        sort = [{"field": k, "order": o} for k, o in zip(keys, orders, strict=True)]
        assert ask(rows, {"sort": sort, "limit": limit}) == shown(expected[:limit])


def test_the_largest_rows_are_all_that_equal_the_largest() -> None:
    chance = random.Random(3)
    for _ in range(CASES):
        rows = some_rows(chance)
        if not rows:
            continue
        most = max(row["stock"] for row in rows)
        found = TRANSFORM.run("largest", {"data": shown(rows), "field": "stock"})["result"]
        assert found == shown([row for row in rows if row["stock"] == most])


def test_groups_are_summed_up_exactly() -> None:
    chance = random.Random(4)
    for _ in range(CASES):
        rows = [row | {"price": round(chance.uniform(0, 9), 2)} for row in some_rows(chance)]
        if not rows:
            continue
        asked = {
            "group": ["colour"],
            "aggregate": [
                {"operation": "total", "field": "price"},
                {"operation": "average", "field": "stock"},
                {"operation": "count"},
                {"operation": "max", "field": "day"},
            ],
        }
        groups: dict[str, list[Row]] = {}
        for row in rows:
            groups.setdefault(row["colour"], []).append(row)
        found = ask(rows, asked)
        assert [one["colour"] for one in found] == list(groups)
        for one, members in zip(found, groups.values(), strict=True):
            assert Fraction(str(one["sum_price"])) == sum(
                Fraction(str(m["price"])) for m in members
            )
            average = Fraction(sum(m["stock"] for m in members), len(members))
            assert abs(Fraction(str(one["average_stock"])) - average) < Fraction(1, 10**12)
            assert one["count"] == len(members)
            latest = max(m["_day"] for m in members)
            assert one["max_day"] in {m["day"] for m in members if m["_day"] == latest}


def test_columns_are_kept_and_dropped_and_rows_told_once() -> None:
    chance = random.Random(5)
    for _ in range(CASES):
        rows = shown(some_rows(chance))
        if not rows:
            continue
        names = chance.sample(["id", "colour", "stock", "sold", "day"], chance.randint(1, 4))
        kept = [{name: row[name] for name in names} for row in rows]
        assert TRANSFORM.run("select", {"data": rows, "fields": names})["result"] == kept
        once: list[Row] = []
        for row in kept:
            if row not in once:
                once.append(row)
        assert TRANSFORM.run("distinct", {"data": rows, "fields": names})["result"] == once
        rest = [{k: v for k, v in row.items() if k not in names} for row in rows]
        assert TRANSFORM.run("drop", {"data": rows, "fields": names})["result"] == rest


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"order": 1}, "the part of query 'order' is not one of"),
        ({"where": {"field": "size", "value": 3}}, "no row has a field 'size'; there are"),
        ({"where": {"field": "price", "operator": "gt"}}, "the condition on 'price' needs value"),
        ({"where": {"field": "price", "operator": "between", "value": 3}}, "needs two values"),
        ({"where": "price > 3"}, "where must be a condition, not text"),
        ({"where": {"all": [], "any": []}}, "'all' stands by itself"),
        ({"aggregate": [{"operation": "sum"}]}, "aggregate needs field for sum"),
        ({"aggregate": [{"operation": "stdev", "field": "price"}]}, "operation 'stdev' is not"),
        ({"aggregate": [{"operation": "sum", "field": "name"}]}, "which is not a number"),
        ({"limit": 0}, "limit is 0, and must be from 1"),
        ({"sort": [{"field": "price", "order": "sideways"}]}, "order 'sideways' is not one of"),
        ({"columns": "size"}, "no row has a field 'size'; there are name, price"),
        ("cheapest", "query must be an object, not text"),
    ],
)
def test_what_cannot_be_worked_out_is_named(query: Any, message: str) -> None:
    rows = [{"name": "Pen", "price": 2.5}]
    with pytest.raises((ArgumentsInvalid, ToolFailed)) as refused:
        run_query(rows, query, Moments("mdy"))
    assert message in str(refused.value)


def test_conditions_are_limited_in_depth_and_number() -> None:
    deep: Row = {"field": "a", "value": 1}
    for _ in range(20):
        deep = {"not": deep}
    for where in (deep, {"all": [{"any": [{"field": "a", "value": 1}] * 50}] * 3}):
        with pytest.raises(ArgumentsInvalid):
            run_query([{"a": 1}], {"where": where}, Moments("mdy"))


def test_a_field_may_be_called_as_people_call_it_and_the_answer_says_so() -> None:
    rows = [{"dept": "it", "unit_price": 3}, {"dept": "hr", "unit_price": 4}]
    found = TRANSFORM.run(
        "group_by", {"data": rows, "by": "departments", "field": "price", "operation": "sum"}
    )
    assert found["result"] == [
        {"dept": "it", "sum_unit_price": 3},
        {"dept": "hr", "sum_unit_price": 4},
    ]
    assert found["interpreted_as"] == "departments as dept, price as unit_price"
    assert found["read_as"] == "sum of unit_price; for each dept"


def test_dates_are_compared_as_dates_however_they_are_written() -> None:
    rows = [{"due": "9 March 2025"}, {"due": "10 January 2025"}, {"due": None}]
    assert TRANSFORM.run("smallest", {"data": rows, "field": "due"})["result"] == [rows[1]]
    day_first = JsonTransform("dmy")
    rows = [{"due": "03/04/2025"}, {"due": "01/05/2025"}]
    assert day_first.run("largest", {"data": rows, "field": "due"})["result"] == [rows[1]]
    assert TRANSFORM.run("largest", {"data": rows, "field": "due"})["result"] == [rows[0]]
