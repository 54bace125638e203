"""Parameters by which data are asked for: stretches of days, bounds, comparisons, orders."""

from dataclasses import replace
from typing import Any

import pytest

from server.extraction.extractor import Extractor
from server.library.model import Domain, Parameter, Template
from server.library.sql_model import SqlExecution
from server.library.sql_text import parse_sql
from tests.extraction.support import NOW

START = Parameter("start_date", "date", "First day", required=False)
END = Parameter("end_date", "date", "Last day", required=False)
SINCE = Parameter("since", "date", "First day", required=False)
DAYS = Parameter("days_back", "integer", "Number of days to look back", required=False)
MONTHS = Parameter("history", "integer", "How many months to look back", required=False)
LEAST = Parameter("min_amount", "number", "Least amount", required=False)
MOST = Parameter("max_amount", "number", "Highest amount", required=False)
LIMIT = Parameter("limit", "integer", "How many", required=False)
ORDERS = ("asc", "desc")


def needed(*parameters: Parameter) -> tuple[Parameter, ...]:
    return tuple(replace(one, required=True) for one in parameters)


def choice(name: str, *values: str) -> Parameter:
    return Parameter(
        name, "string", "", required=False, enum=values, choices={v: v for v in values}
    )


def read(text: str, *parameters: Parameter) -> dict[str, Any]:
    """The arguments that a question gives to a template of SQL, asked on 5 March 2025."""
    execution = SqlExecution(parse_sql("SELECT 1", ()))
    asked = Template("t", "", "sql", ("show orders",), parameters, execution)
    return dict(Extractor(Domain("d")).extract(text, asked, now=NOW).arguments)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("orders last month", ("2025-02-01", "2025-02-28")),
        ("orders of yesterday", ("2025-03-04", "2025-03-04")),
        ("orders on 5 January", ("2025-01-05", "2025-01-05")),
        ("orders between 1 May 2024 and 10 June 2024", ("2024-05-01", "2024-06-10")),
        ("orders in 2024", ("2024-01-01", "2024-12-31")),
        ("orders since January", ("2025-01-01", None)),
        ("orders until January", (None, "2025-01-31")),
        ("all orders", (None, None)),
    ],
)
def test_a_stretch_of_days_fills_both_ends(text: str, days: tuple[str | None, str | None]) -> None:
    found = read(text, START, END)
    assert (found.get("start_date"), found.get("end_date")) == days


def test_a_last_day_that_is_needed_is_today() -> None:
    both = {"start_date": "2025-01-01", "end_date": "2025-03-05"}
    assert read("orders since January", *needed(START, END)) == both


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("who joined this month", {"since": "2025-03-01"}),
        ("who joined in the last two weeks", {"since": "2025-02-19"}),
        # Nothing could say where it ends.
        ("who joined last month", {}),
    ],
)
def test_one_end_takes_what_goes_on_until_today(text: str, found: dict[str, str]) -> None:
    assert read(text, SINCE) == found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("orders of the last 2 weeks", 14),
        ("orders this week", 7),
        ("orders in the past month", 30),
        ("orders since Monday", 2),
        ("orders from the last 3 days", 3),
        ("orders over 500", None),
        ("orders in January", None),
    ],
)
def test_days_to_look_back(text: str, count: int | None) -> None:
    assert read(text, DAYS).get("days_back") == count


def test_what_is_counted_back_may_stand_in_the_description() -> None:
    assert read("orders of the past year", MONTHS) == {"history": 12}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("orders over 500", {"min_amount": 500}),
        ("orders exceeding 500", {"min_amount": 500}),
        ("orders under 500", {"max_amount": 500}),
        ("orders between 100 and 200", {"min_amount": 100, "max_amount": 200}),
        ("orders between 75 and 125 dollars", {"min_amount": 75, "max_amount": 125}),
        ("orders between 200 and 100", {"min_amount": 100, "max_amount": 200}),
        ("at least 300 and at most 350", {"min_amount": 300, "max_amount": 350}),
    ],
)
def test_bounds(text: str, found: dict[str, int]) -> None:
    assert read(text, LEAST, MOST) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("trips under 10 minutes", {"max_minutes": 10}),
        ("trips shorter than half an hour", {"max_minutes": 30}),
        ("trips longer than 2 hours", {"min_minutes": 120}),
        ("trips over 10", {"min_minutes": 10}),
    ],
)
def test_bounds_of_time(text: str, found: dict[str, int]) -> None:
    ends = (replace(LEAST, name="min_minutes"), replace(MOST, name="max_minutes"))
    assert read(text, *ends) == found


@pytest.mark.parametrize("text", ["orders under 500", "orders of at most 500", "500 or less"])
def test_a_bound_of_the_other_kind_is_not_taken(text: str) -> None:
    assert read(text, *needed(LEAST)) == {}


@pytest.mark.parametrize(
    ("text", "operator"),
    [
        ("more than 10 in stock", ">"),
        ("fewer than 10 in stock", "<"),
        ("at least 10 in stock", ">="),
        ("no more than 10 in stock", "<="),
        ("10 or more in stock", ">="),
        ("exactly 10 in stock", "="),
    ],
)
def test_choices_that_are_comparisons_know_their_words(text: str, operator: str) -> None:
    symbols = choice("operator", ">", ">=", "<", "<=", "=")
    assert read(text, symbols)["operator"] == operator


def test_a_comparison_that_is_not_declared_is_not_another_one() -> None:
    assert read("at least 10", choice("operator", "greater_than", "less_than")) == {}
    assert read("over 10", choice("operator", "greater_than", "less_than")) == {
        "operator": "greater_than"
    }


@pytest.mark.parametrize(
    ("text", "order"),
    [("the cheapest first", "asc"), ("the 5 most expensive", "desc"), ("the newest", "desc")],
)
def test_choices_that_are_orders_know_superlatives(text: str, order: str) -> None:
    assert read(text, choice("sort_order", *ORDERS))["sort_order"] == order


def test_what_is_oldest_depends_on_what_is_put_in_order() -> None:
    by_date = replace(choice("sort_order", *ORDERS), description="Order by date")
    by_age = replace(choice("sort_order", *ORDERS), description="Order by age")
    assert read("oldest", by_date) == {"sort_order": "asc"}
    assert read("oldest", by_age) == {"sort_order": "desc"}
    assert read("oldest", choice("sort_order", *ORDERS)) == {}


def test_one_word_may_say_by_what_to_sort_and_which_way() -> None:
    found = read(
        "the 3 cheapest", choice("sort_by", "price", "name"), choice("sort_order", *ORDERS), LIMIT
    )
    assert found == {"sort_by": "price", "sort_order": "asc", "limit": 3}


def test_a_number_before_a_superlative_is_how_many() -> None:
    assert read("the 5 most expensive", MOST, LIMIT) == {"limit": 5}


def test_money_is_not_how_many() -> None:
    assert read("backpacks over 100 euros", MOST, LIMIT) == {}


def test_an_alias_calls_a_parameter_as_its_name_does() -> None:
    a, b = Parameter("width", "number"), Parameter("height", "number", aliases=("tallness",))
    assert read("tallness 3, width 4", a, b) == {"width": 4, "height": 3}
    assert read("tallness 3", *needed(a, b)) == {"height": 3}


COMPARED = (choice("comparison", ">", ">=", "<", "<="), Parameter("value", "number", "", False))
YEAR = Parameter("year", "integer", "Year of the order", required=False)
ORDER = Parameter("order_id", "integer", "Number of the order")


@pytest.mark.parametrize(
    ("text", "parameters", "found"),
    [
        ("orders over 2000", (START, END, LEAST), {"min_amount": 2000}),
        ("orders over 2000", (YEAR,), {}),
        ("orders in 2024", (YEAR,), {"year": 2024}),
        ("orders since 2024", (START, *COMPARED), {"start_date": "2024-01-01"}),
        ("orders since 2024", COMPARED, {}),
        ("orders since 2024", (ORDER,), {}),
        ("order 2024", (ORDER,), {"order_id": 2024}),
        ("orders in 2024", COMPARED, {}),
        (
            "orders over 2000 since 2024",
            (LEAST, START),
            {"min_amount": 2000, "start_date": "2024-01-01"},
        ),
        (
            "orders between 2000 and 3000",
            (LEAST, MOST, START, END),
            {"min_amount": 2000, "max_amount": 3000},
        ),
    ],
)
def test_a_year_is_no_amount_and_an_amount_no_year(
    text: str, parameters: tuple[Parameter, ...], found: dict[str, Any]
) -> None:
    assert read(text, *parameters) == found


@pytest.mark.parametrize(
    ("text", "parameters", "found"),
    [
        ("last 5 orders", (START, END, LIMIT), {"limit": 5}),
        ("last 5 orders", COMPARED, {}),
        ("last 5 orders", (ORDER,), {}),
        ("last 5 days", (DAYS, LIMIT), {"days_back": 5}),
    ],
)
def test_so_many_of_a_list_are_no_amount(
    text: str, parameters: tuple[Parameter, ...], found: dict[str, Any]
) -> None:
    assert read(text, *parameters) == found


def test_a_word_of_a_stretch_of_days_is_no_choice() -> None:
    by = Parameter(
        "by", "string", "", required=False, enum=("by_year",), choices={"year": "by_year"}
    )
    assert "by" not in read("sales this year", by, START, END)
    assert read("sales per year", by)["by"] == "by_year"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("films with GHOST in the title", "GHOST"),
        ("films with ghost in the title", "ghost"),
        ("films with dark river in their title", "dark river"),
        ("films whose title contains ghost", "ghost"),
        ("films called Dark River", "Dark River"),
        ("films containing ghost in the title since 2024", "ghost"),
        ("films with subtitles", None),
        ("all films", None),
    ],
)
def test_a_part_of_a_text_is_told_by_where_it_stands(text: str, found: str | None) -> None:
    sql = "SELECT * FROM films WHERE (:title IS NULL OR title LIKE :title) AND day >= :start_date"
    title = Parameter("title", "string", "Title of the film", required=False)
    examples = ("list films", "films called Blue Moon", "films since March")
    execution = SqlExecution(parse_sql(sql, ()))
    films = Template("films", "List films", "sql", examples, (title, START), execution)
    read = Extractor(Domain("d")).extract(text, films, now=NOW)
    assert read.arguments.get("title") == found


COST = Parameter("cost", "number", "Cost", required=False)
REPLACEMENT = Parameter("replacement_cost", "number", "Replacement cost", required=False)
STOCK = Parameter("units_in_stock", "integer", "Units in stock", required=False)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("films with a cost above 29", {"cost": 29}),
        ("films with a replacement cost above 29", {"replacement_cost": 29}),
        ("films with a replacement cost of at least 29", {"replacement_cost": 29}),
        ("parts with fewer than 5 in stock", {"units_in_stock": 5}),
    ],
)
def test_a_bound_goes_to_the_number_that_is_named(text: str, found: dict[str, int]) -> None:
    assert read(text, COST, REPLACEMENT, STOCK) == found


def test_a_longer_phrase_is_no_part_of_itself() -> None:
    dated, lacking = choice("dated", "returned", "made"), choice("lacking", "not returned")
    assert read("orders not returned yet", dated, lacking) == {"lacking": "not returned"}
    assert read("orders returned", dated, lacking) == {"dated": "returned"}
