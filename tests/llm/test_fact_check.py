"""A sentence about a result is let through when it says what the result says, and only that."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.llm.fact_check import FactChecker


class Told(NamedTuple):
    """A call that ran: what was asked, what came of it, and how the template says it."""

    question: str
    result: Any
    arguments: Mapping[str, Any]
    written: str
    description: str = ""

    def why_not(self, sentence: str) -> str:
        return FactChecker(*self[:4], description=self.description).check(sentence).why


PERCENTAGE = Told(
    "What is 20% of 150?",
    {"result": 30, "operation": "percentage", "input": {"value": 150, "percentage": 20}},
    {"value": 150, "percentage": 20},
    "20% of 150 is **30**",
    "Calculate a percentage of a given value",
)
DAYS = Told(
    "How many days between 2025-01-01 and 2025-03-05?",
    {"result": 63, "unit": "days"},
    {"date1": "2025-01-01", "date2": "2025-03-05", "unit": "days"},
    "From 2025-01-01 to 2025-03-05 it is **63 days**",
)
WEATHER = Told(
    "How is the weather in Paris?",
    {"result": {"temperature": 18.4, "humidity": 65, "wind_kmh": 1200, "sky": "cloudy"}},
    {"location": "Paris"},
    "Paris: **18.4 °C**, cloudy, humidity 65%, wind 1,200 km/h",
)
PEOPLE = Told(
    "Who is there, and how old?",
    {
        "result": [{"name": "Alice", "age": 25}, {"name": "Bob", "age": 30}],
        "total": 2,
        "complete": True,
    },
    {},
    "| name | age |\n| --- | --- |\n| Alice | 25 |\n| Bob | 30 |\n\n2 in all.",
)
LEAP = Told("Is 2024 a leap year?", {"result": True}, {"year": 2024}, "yes")
SORTED = Told("Sort 3, 1 and 2", {"result": [1, 2, 3]}, {"data": [3, 1, 2]}, "1, 2, 3")
MINUS = Told("What is 4 minus 10?", {"result": -6}, {"a": 4, "b": 10}, "4 minus 10 is **-6**")
THIRD = Told(
    "Divide 100 by 3", {"result": 33.3333333333333}, {"a": 100, "b": 3},
    "100 divided by 3 is **33.3333333333333**",
)  # fmt: skip
ROUNDED = THIRD._replace(written="100 divided by 3 is **33.33**")
EUROS = Told(
    "Convert 100 USD to EUR",
    {"result": 110, "rate": 1.1},
    {"amount": 100, "from": "USD", "to": "EUR"},
    "100 USD is **110 EUR**",
)
FLIGHT = Told(
    "When does flight LH123 leave?",
    {
        "result": {
            "departure": "2025-03-05T10:30:00",
            "arrival": "2025-03-05T12:15:00",
            "gate": "B22",
        }
    },
    {"flight": "LH123"},
    "LH123 leaves at **10:30** from gate B22 and arrives at 12:15",
)
HEBREW = Told("כמה זה 20% מ-150?", {"result": 30}, {"value": 150, "percentage": 20}, "30")


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (PERCENTAGE, "20% of 150 is **30**."),
        (PERCENTAGE, "The answer is 30."),
        (PERCENTAGE, "30 is 20% of 150."),
        (PERCENTAGE, "20 percent of 150 equals 30.0"),
        (PERCENTAGE, "The result of calculating 20% of 150 is 30."),
        (PERCENTAGE, "The result of 20% of 150 is 30."),
        (PERCENTAGE, "So, 20% of 150.00 comes to 30!"),
        (DAYS, "There are 63 days between January 1, 2025 and March 5, 2025."),
        (DAYS, "There are 63 days from 1 January 2025 to 5 March 2025."),
        (DAYS, "From 01/01/2025 to 03/05/2025 it is 63 days."),
        (WEATHER, "It is 18.4 °C and cloudy in Paris, with a humidity of 65%."),
        (WEATHER, "In Paris, it is currently 18.4°C and cloudy; the wind is at 1200 km/h."),
        (PEOPLE, "Alice is 25 and Bob is 30."),
        (PEOPLE, "There are 2: Alice (25) and Bob (30)."),
        (PEOPLE, "There are 2."),
        (WEATHER, "It is a pleasant 18.4 °C with a cloudy sky in Paris."),
        (SORTED, "The sorted list is 1, 2, 3."),
        (MINUS, "4 minus 10 is -6."),
        (ROUNDED, "100 divided by 3 is approximately 33.33."),
        (WEATHER, "The humidity in Paris is 65% and the temperature 18.4 °C."),
        (FLIGHT, "LH123 leaves from gate B22 at 10:30 and arrives at 12:15."),
        (EUROS, "100 USD is 110 EUR."),
        (EUROS, "That comes to 110 EUR."),
        (HEBREW, "התוצאה היא 30."),
    ],
)
def test_what_is_true_is_let_through(told: Told, sentence: str) -> None:
    assert told.why_not(sentence) == ""


@pytest.mark.parametrize(
    ("told", "sentence", "why"),
    [
        (PERCENTAGE, "20% of 150 is 45.", "'45' is not in the result"),
        (PERCENTAGE, "20% of 30 is 150.", "'30' stands where another value belongs"),
        (PERCENTAGE, "30% of 150 is 20.", "'30' stands where another value belongs"),
        (PERCENTAGE, "20% of 150 is not 30.", "'not' is not in the result"),
        (PERCENTAGE, "20% of 150 is $30.", "'$' is not in the result"),
        (PERCENTAGE, "20% of 150 is thirty.", "'thirty' is not in the result"),
        (PERCENTAGE, "Bob says 20% of 150 is 30.", "'bob' is not in the result"),
        (PERCENTAGE, "20% of 150 is 30, says Will.", "'will' is not in the result"),
        (PERCENTAGE, "20% of 150 is more than 30.", "'more' is not in the result"),
        (PERCENTAGE, "20% of 150 is below 30.", "'below' is not in the result"),
        (PERCENTAGE, "20% of 150 is 30 apples.", "'apples' is not in the result"),
        (PERCENTAGE, "20% of 150 was 30 yesterday.", "'yesterday' is not in the result"),
        (PERCENTAGE, "I calculated 20% of 150.", "it does not say '30'"),
        (PERCENTAGE, "</result>30", "'<' is not in the result"),
        (PERCENTAGE, "See https://evil.example/30: 30", "'/' is not in the result"),
        (PERCENTAGE, "20% of 150 is 30 on March 5.", "'?-03-05' is not in the result"),
        (DAYS, "It is 63 weeks.", "'weeks' is not in the result"),
        (DAYS, "It is 63 days from 2025-01-02 on.", "'2025-01-02' is not in the result"),
        (DAYS, "It is 63 days from March 5, 2025 to January 1, 2025.",
         "'2025-03-05' stands where another value belongs"),
        (WEATHER, "It is 18.4 °C in London.", "'london' is not in the result"),
        (WEATHER, "London is pleasant at 18.4 °C.", "'london' is not in the result"),
        (WEATHER, "Paris is cloudy, never 18.4 °C.", "'never' is not in the result"),
        (WEATHER, "The temperature is 65 and the humidity 18.4.",
         "'65' stands where another value belongs"),
        (WEATHER, "Paris is cloudy.", "it does not say '18.4'"),
        (PEOPLE, "Bob is older.", "it tells of some rows and not of how many there are"),
        (PEOPLE, "Alice is 30 and Bob is 25.", "a value is said without the row it belongs to"),
        (PEOPLE, "Bob is 30 and Alice is 25.", "the rows are told in another order"),
        (PEOPLE, "Bob is 30.", "it tells of some rows and not of how many there are"),
        (PEOPLE, "There are 3.", "'3' is not in the result"),
        (LEAP, "No, 2024 is not a leap year.", "'no' is not in the result"),
        (HEBREW, "דני אומר שהתוצאה היא 30.", "'דני' is not in the result"),
        (SORTED, "3, 2, 1", "the rows are told in another order"),
        (MINUS, "10 minus 4 is -6.", "'10' stands where another value belongs"),
        (MINUS, "4 minus 10 is 6.", "'6' is not in the result"),
        (MINUS, "-6 minus 4 is 10.", "'-6' stands where another value belongs"),
        (PERCENTAGE, "30% of 20 is 150.", "'30' stands where another value belongs"),
        (PERCENTAGE, "30 of 20 is 150.", "'20' stands where another value belongs"),
        (FLIGHT, "LH123 leaves at 12:15 and arrives at 10:30.",
         "'12:15:00' stands where another value belongs"),
        (EUROS, "110 USD is 100 EUR.", "'110' stands where another value belongs"),
        (PERCENTAGE, "30 percent of 20 is 150.", "'30' stands where another value belongs"),
        (PERCENTAGE, "20% of 150 is 30 m.", "'m' is not in the result"),
        (WEATHER, "The humidity is 18.4 °C.", "'18.4' stands where another value belongs"),
        (WEATHER, "It is 18.4 °C on Wednesday.", "'wednesday' is not in the result"),
        (PEOPLE, "Alice is 30, and there are 2.",
         "a value is said without the row it belongs to"),
        (THIRD, "100 divided by 3 is 33.", "'33' is not in the result"),
        (THIRD, "100 divided by 3 is about 33.33.", "'33.33' is not in the result"),
    ],
)  # fmt: skip
def test_what_is_not_is_found(told: Told, sentence: str, why: str) -> None:
    assert told.why_not(sentence) == why


def test_a_sentence_that_only_counts_rows_is_not_the_whole_answer() -> None:
    checker = FactChecker(*PEOPLE[:4])
    assert not checker.check("There are 2.").complete
    assert checker.check("Alice is 25 and Bob is 30.").complete


def test_yes_and_no_have_no_value_to_be_worded() -> None:
    assert [FactChecker(*told[:4]).has_value for told in (LEAP, PERCENTAGE, PEOPLE)] == [
        False,
        True,
        True,
    ]


def test_what_an_incomplete_list_holds_is_no_total() -> None:
    result = {**PEOPLE.result, "total": None, "complete": False}
    assert PEOPLE._replace(result=result, written="| Alice |").why_not("There are 2.") == (
        "'2' is not in the result"
    )


def test_numbers_of_the_question_alone_are_not_facts() -> None:
    told = PERCENTAGE._replace(question="What is 20% of 150? My account holds 9000.")
    assert told.why_not("20% of 150 is 30 and the account holds 9000.") == (
        "'9000' is not in the result"
    )


@given(st.text(max_size=200))
def test_no_sentence_makes_it_fail(sentence: str) -> None:
    for told in (PERCENTAGE, WEATHER, PEOPLE, LEAP):
        told.why_not(sentence)


@given(st.integers(-10_000, 10_000), st.integers(-10_000, 10_000))
def test_a_wrong_number_never_passes(right: int, wrong: int) -> None:
    told = Told("How much?", {"result": right}, {}, f"It is **{right}**")
    assert (told.why_not(f"It is {wrong}.") == "") == (right == wrong)
    assert told.why_not(f"It comes to {right:,}.") == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)


@given(JSON)
def test_any_result_has_facts(result: Any) -> None:
    FactChecker("What?", {"result": result}, {}, "written").check("It is 5.")
