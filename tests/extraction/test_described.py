"""Templates without examples, whose parameters are known by what is said of them."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.extraction.described.best import Offer, best_assignment
from server.extraction.described.dates import as_told, date_format
from server.extraction.described.units import measure_after, measures_told
from server.extraction.extractor import Extractor
from server.extraction.types import Extraction
from server.library.model import BuiltinExecution, Domain, Parameter, Template
from tests.extraction.support import NOW


def described(about: str, *parameters: Parameter, name: str = "t") -> Template:
    return Template(name, about, "function", (), parameters, BuiltinExecution("calculator", "add"))


def extract(text: str, template: Template) -> Extraction:
    return Extractor(Domain("d")).extract(text, template, now=NOW)


def number(name: str, about: str, **more: Any) -> Parameter:
    return Parameter(name, more.pop("type", "number"), about, **more)


def text(name: str, about: str = "", **more: Any) -> Parameter:
    return Parameter(name, "string", about, **more)


BOX = described(
    "Work out the shipping cost of a box",
    number("weight", "Weight of the box in kilograms."),
    number("distance", "How far it goes, in km."),
    number("insurance", "Insured value in dollars. Default is 0.", required=False),
    number("discount_rate", "The discount as a decimal.", required=False),
)
TRIP = described(
    "Find connections between two cities",
    text("from_city", "The city where the journey starts."),
    text("to_city", "The city where the journey ends."),
    text("date", "Day of travel, in the format dd/mm/yyyy."),
    text("travel_class", "Either 'first' or 'second'. Default is 'second'.", required=False),
)
DISHES = described(
    "Search a cookbook for recipes",
    text("cuisine", "Type of cuisine."),
    Parameter("ingredients", "array", "Ingredients to use.", items={"type": "string"}),
    Parameter("vegetarian", "boolean", "Whether it has to be vegetarian.", required=False),
    number("servings", "Number of servings.", type="integer", required=False),
)
SERIES = described(
    "Compare two series of measurements",
    Parameter("before", "array", "Values before treatment.", items={"type": "number"}),
    Parameter("after", "array", "Values after treatment.", items={"type": "number"}),
)


@pytest.mark.parametrize(
    ("asked", "template", "expected"),
    [
        (
            "what does it cost to ship 3.5 kg over 120 km?",
            BOX,
            {"weight": 3.5, "distance": 120},
        ),
        (
            "ship a box 400 km away that weighs 12kg, insured for $50, with a discount of 5%",
            BOX,
            {"weight": 12, "distance": 400, "insurance": 50, "discount_rate": 0.05},
        ),
        (
            "weight and distance are 2 and 80",
            BOX,
            {"weight": 2, "distance": 80},
        ),
        (
            "how do I get from New York to Santa Fe on March 10, 2025?",
            TRIP,
            {"from_city": "New York", "to_city": "Santa Fe", "date": "10/03/2025"},
        ),
        (
            "connections to Rome from Milan on 2025-03-10 in first class",
            TRIP,
            {
                "from_city": "Milan",
                "to_city": "Rome",
                "date": "10/03/2025",
                "travel_class": "first",
            },
        ),
        (
            "find Thai recipes with coconut, lime and basil",
            DISHES,
            {"cuisine": "Thai", "ingredients": ["coconut", "lime", "basil"]},
        ),
        (
            "search for vegetarian Greek recipes for 4 servings with feta and olives",
            DISHES,
            {
                "cuisine": "Greek",
                "ingredients": ["feta", "olives"],
                "vegetarian": True,
                "servings": 4,
            },
        ),
        (
            "compare the values before, 1, 2 and 3, with those after: 2.5, 4 and 6",
            SERIES,
            {"before": [1, 2, 3], "after": [2.5, 4, 6]},
        ),
    ],
)
def test_arguments_are_read_by_what_is_said_of_them(
    asked: str, template: Template, expected: dict[str, Any]
) -> None:
    found = extract(asked, template)
    assert (found.arguments, found.missing) == (expected, ())


def test_every_argument_stands_where_its_source_says() -> None:
    asked = "how do I get from New York to Santa Fe on March 10, 2025?"
    found = extract(asked, TRIP)
    spans = {name: source.text for name, source in found.sources.items()}
    assert spans == {"from_city": "New York", "to_city": "Santa Fe", "date": "March 10, 2025"}


def test_what_the_question_does_not_hold_is_asked_for() -> None:
    assert [one.name for one in extract("what would shipping cost", BOX).missing] == [
        "weight",
        "distance",
    ]
    assert [one.name for one in extract("find a recipe", DISHES).missing] == [
        "cuisine",
        "ingredients",
    ]


def test_a_unit_that_measures_something_else_is_not_taken() -> None:
    found = extract("ship something for 3 hours", BOX)
    assert {one.name for one in found.missing} == {"weight", "distance"}


@pytest.mark.parametrize(
    ("after", "measure"),
    [
        (" kg of rice", "mass"),
        ("km/h", "speed"),
        (" m/s^2", "acceleration"),
        (" square metres", "area"),
        ("°C", "temperature"),
        (" a day", ""),
        (" in total", ""),
        ("", ""),
    ],
)
def test_the_unit_after_a_number(after: str, measure: str) -> None:
    assert measure_after(f"5{after}", 1) == measure


@pytest.mark.parametrize(
    ("about", "measures"),
    [
        ("The mass in kg", {"mass"}),
        ("Speed of the car (km/h)", {"speed"}),
        ("Temperature in degrees Celsius", {"temperature"}),
        ("The price in dollars", {"money"}),
        ("Emissions in g/mile", {"g/mile"}),
        ("How many there are", set()),
    ],
)
def test_the_unit_in_a_description(about: str, measures: set[str]) -> None:
    assert measures_told(about) == measures


@pytest.mark.parametrize(
    ("about", "written"),
    [
        ("in the form yyyy-mm-dd", "2025-03-09"),
        ("Date (MM/DD/YYYY)", "03/09/2025"),
        ("format: mm-yyyy", "03-2025"),
        ("the date (month-day-year)", "03-09-2025"),
        ("the date", "2025-03-09"),
        ("either day/day", "2025-03-09"),
    ],
)
def test_dates_are_written_as_a_description_wants_them(about: str, written: str) -> None:
    assert as_told("2025-03-09", date_format(about)) == written


class _At:
    def __init__(self, start: int, end: int) -> None:
        self.start, self.end = start, end


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), min_size=1, max_size=8),
    st.data(),
)
def test_nothing_is_given_away_twice(spans: list[tuple[int, int]], data: st.DataObject) -> None:
    places = [_At(start, start + length) for start, length in spans]
    indexes = st.integers(0, len(places) - 1)
    offers = {
        key: [
            Offer(data.draw(st.floats(-2, 8)), place)
            for place in data.draw(st.lists(indexes, unique=True))
        ]
        for key in "abcd"
    }
    found = best_assignment(offers, places)
    assert all(place in {offer.place for offer in offers[key]} for key, place in found.items())
    taken = sorted((places[at].start, places[at].end) for at in found.values())
    assert all(one[1] <= two[0] for one, two in pairwise(taken))


def test_values_go_in_order_where_nothing_else_tells() -> None:
    places = [_At(0, 1), _At(2, 3)]
    same = [Offer(1.0, 1), Offer(1.0, 0)]
    assert best_assignment({"first": same, "second": same}, places) == {"first": 0, "second": 1}


@given(st.text(max_size=200))
def test_no_text_is_too_odd_to_read(asked: str) -> None:
    for template in (BOX, TRIP, DISHES, SERIES):
        found = extract(asked, template)
        assert found.arguments.keys() == found.sources.keys()
