"""What the examples of a template teach about where its values stand."""

from server.library.model import Parameter
from tests.extraction.support import arguments, extract

CITY = Parameter("spot", "string")
SHOWN = Parameter("spot", "string", example="Oslo")


def test_an_example_value_shows_where_the_text_stands() -> None:
    examples = ("is it windy over oslo right now",)
    assert arguments("is it hot over New York?", SHOWN, examples=examples) == {"spot": "New York"}
    assert arguments("is it hot in New York?", SHOWN, examples=examples) == {}


def test_capital_letters_show_where_the_text_stands() -> None:
    examples = ("is it windy over Oslo", "rain over Rio de Janeiro?")
    assert arguments("snow over st. moritz", CITY, examples=examples) == {"spot": "st. moritz"}


def test_examples_that_differ_in_one_place_show_it() -> None:
    examples = ("wind over oslo please", "wind over lima please")
    assert arguments("wind over kyiv", CITY, examples=examples) == {"spot": "kyiv"}


def test_a_word_that_leads_to_different_texts_shows_them() -> None:
    title = Parameter("title", "string")
    examples = ("add a task to call mom", "remind me to buy milk", "i have to write to Lee")
    found = arguments("a todo to wait for the bus", title, examples=examples)
    assert found == {"title": "wait for the bus"}


def test_a_possessive_does_not_lead_to_everything() -> None:
    symbol = Parameter("symbol", "string", example="AAPL")
    examples = ("What's Apple's stock price?", "stock price of GOOGL", "quote for AAPL")
    assert arguments("what's the price of NVDA", symbol, examples=examples) == {"symbol": "NVDA"}
    assert arguments("what's the stock price", symbol, examples=examples) == {}
    assert arguments("NVDA stock price", symbol, examples=examples) == {"symbol": "NVDA"}


def test_two_texts_are_told_apart_by_their_order_and_what_leads_to_them() -> None:
    places = (Parameter("pickup", "string"), Parameter("dropoff", "string"))
    examples = (
        "new job from 14 Canal Street to 3 Rose Lane",
        "collect from Miller's Pharmacy and take it to 5 Park Avenue",
        "from the court house to 9 Elm Square",
    )
    found = arguments("a parcel from Flora Flowers to 22 Garden Row", *places, examples=examples)
    assert found == {"pickup": "Flora Flowers", "dropoff": "22 Garden Row"}
    found = arguments(
        "a box at 8 Orchard Road, take it to Hotel Astoria", *places, examples=examples
    )
    assert found == {"pickup": "8 Orchard Road", "dropoff": "Hotel Astoria"}
    assert arguments("from Flora Flowers", *places, examples=examples) == {
        "pickup": "Flora Flowers"
    }


def test_the_only_text_may_be_left_out() -> None:
    signed = Parameter("signed_by", "string", required=False)
    examples = ("it is done, signed by Mrs Keller", "it arrived", "done, signature Tim Brandt")
    found = arguments("done and signed by Mrs Okafor", signed, examples=examples)
    assert found == {"signed_by": "Mrs Okafor"}
    assert arguments("it arrived in one piece", signed, examples=examples) == {}


def test_the_words_after_a_value_can_show_it_too() -> None:
    examples = ("Oslo wind speed", "wind speed of Lima")
    assert arguments("kyiv wind speed", SHOWN, examples=examples) == {"spot": "kyiv"}


def test_a_value_of_the_examples_is_known_anywhere() -> None:
    assert arguments("oslo wind", SHOWN, examples=("wind over Oslo",)) == {"spot": "oslo"}


def test_more_of_the_question_is_no_value() -> None:
    examples = ("show the wind over Oslo", "wind report over Lima")
    assert arguments("is the wind over the report", SHOWN, examples=examples) == {}


def test_sentences_keep_their_prepositions_and_names_do_not() -> None:
    task = Parameter("task", "string", example="call mom")
    examples = ("remind me to call mom",)
    found = arguments("remind me to wait for the bus in town", task, examples=examples)
    assert found == {"task": "wait for the bus in town"}
    found = arguments("wind over Paris for the weekend", SHOWN, examples=("wind over Oslo",))
    assert found == {"spot": "Paris"}


def test_two_texts_each_have_their_own_words() -> None:
    giver = Parameter("giver", "string", example="Kim")
    taker = Parameter("taker", "string", example="Lee")
    examples = ("a present from Kim for Lee",)
    found = arguments("something for the boss from Ann", giver, taker, examples=examples)
    assert found == {"giver": "Ann", "taker": "boss"}


def test_an_optional_text_needs_solid_evidence() -> None:
    note = Parameter("note", "string", required=False)
    assert arguments("pay 5 for lunch", note, examples=("pay 5",)) == {}
    assert arguments("pay 5, note: lunch", note, examples=("pay 5",)) == {"note": "lunch"}
    assert arguments('pay 5 "lunch"', note, examples=("pay 5",)) == {"note": "lunch"}


def test_numbers_learn_from_the_examples_too() -> None:
    whole = Parameter("whole", "number", example=80)
    part = Parameter("part", "number", example=20)
    examples = ("how much of 80 is 20",)
    assert arguments("how much is 5 of 10", part, whole, examples=examples) == {
        "part": 5,
        "whole": 10,
    }


def test_a_template_without_examples_asks() -> None:
    assert [one.name for one in extract("anything at all", CITY).missing] == ["spot"]
    assert arguments('anything "at all"', CITY) == {"spot": "at all"}


def test_a_parameter_named_hour_takes_times_of_day() -> None:
    hour = Parameter("hour", "integer", ge=9, le=22)
    day = Parameter("date", "date")
    found = arguments("rehearse on 2025-03-07 at 2 pm", day, hour)
    assert found == {"date": "2025-03-07", "hour": 14}
    assert arguments("rehearse at noon", hour) == {"hour": 12}
    assert arguments("rehearse at 10", hour) == {"hour": 10}
    assert arguments("rehearse at half past ten", hour) == {}
    assert arguments("wait for 2 hours", Parameter("hours", "integer")) == {"hours": 2}
