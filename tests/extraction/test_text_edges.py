"""Where a free text begins and ends: capitals, small words, words of the template, and doubt."""

import pytest

from server.library.model import Parameter
from tests.extraction.support import arguments, extract

PERSON = Parameter("guest", "string", example="Emma Clarke")
GREETINGS = (
    "Emma Clarke is here",
    "welcome John Mills",
    "Sofia Rossi has arrived",
    "mark Nora Weiss as present",
)
BOOK = Parameter("book", "string", example="The Trial")
LOANS = ("lend The Trial to Tom", "is The Waves on the shelf", "details of Dracula")
THING = Parameter("article", "string", example="hard hats")
STOCK = ("stock of hard hats", "how many cordless drills are left", "count the white wall paint")
NOTE = Parameter("note", "string", required=False, example="lovely garden")


@pytest.mark.parametrize(
    "asked",
    [
        "Lea Schulz is here",  # the first word of a sentence that nothing knows
        "Please write down that Lea Schulz will be here",
        "Lea Schulz won't be here",
        "we waited for hours. Lea Schulz has arrived at last",
        "welcome Lea Schulz off the train",
        "here is Lea Schulz's husband",
        "Register Lea Schulz",  # longer than any name that is shown
    ],
)
def test_a_name_with_capitals_is_the_run_of_them(asked: str) -> None:
    assert arguments(asked, PERSON, examples=GREETINGS) == {"guest": "Lea Schulz"}


def test_the_first_word_is_no_name_where_the_template_knows_it() -> None:
    found = extract("Welcome Lea Schulz", PERSON, examples=GREETINGS)
    assert (found.arguments, found.doubtful) == ({"guest": "Lea Schulz"}, frozenset())


@pytest.mark.parametrize("pronoun", ["him", "them", "her", "it"])
def test_a_pronoun_is_no_name(pronoun: str) -> None:
    assert arguments(f"welcome {pronoun}", PERSON, examples=GREETINGS) == {}


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("lend The Night Circus", "The Night Circus"),
        ("lend War and Peace to him", "War and Peace"),
        ("who wrote Klara and the Sun", "Klara and the Sun"),
        ("how many copies of Dune do we own", "Dune"),
    ],
)
def test_titles_keep_their_articles_and_small_words(asked: str, title: str) -> None:
    assert arguments(asked, BOOK, examples=LOANS) == {"book": title}


@pytest.mark.parametrize(
    ("asked", "thing"),
    [
        ("stock of cable ties just now", "cable ties"),
        ("stock of cable ties should we have any", "cable ties"),
        ("stock of hi-vis vests plz", "hi-vis vests"),
        ("stock of m8 bolts still left", "m8 bolts"),
        ("stock of drill sets", "drill sets"),
    ],
)
def test_a_name_in_small_letters_ends_at_a_word_that_is_known(asked: str, thing: str) -> None:
    assert arguments(asked, THING, examples=STOCK) == {"article": thing}


def test_what_is_captured_by_a_pattern_ends_there_too() -> None:
    thing = Parameter("article", "string", extraction_patterns=(r"(?:boxes of|release) (.+)$",))
    examples = ("5 boxes of hard hats", "release hard hats")
    assert arguments("40 boxes of ties just came", thing, examples=examples) == {"article": "ties"}
    assert arguments("release them", thing, examples=examples) == {}


def test_words_that_nothing_else_accounts_for_are_a_doubtful_value() -> None:
    asked = "we sold all of the wall plugs, so hurry"
    found = extract(asked, THING, examples=STOCK)
    assert dict(found.arguments) == {"article": "wall plugs"}
    assert found.doubtful == frozenset({"article"})


@pytest.mark.parametrize(
    "asked", ["save it, note: knock first", "save it, note for the maid: knock first"]
)
def test_what_announces_a_text_is_no_part_of_it(asked: str) -> None:
    assert arguments(asked, NOTE, examples=("save it",)) == {"note": "knock first"}


def test_a_name_before_a_text_announces_it_without_a_colon() -> None:
    assert arguments("save it, note ask for keys", NOTE, examples=("save it",)) == {
        "note": "ask for keys"
    }


def test_what_leads_to_the_next_value_is_no_part_of_a_text() -> None:
    task = Parameter("text", "string", example="read chapter 5")
    due = Parameter("due", "date", required=False)
    examples = ("homework: read chapter 5, due 2025-03-20",)
    found = arguments("homework: draw a plant cell, due 2025-03-21", task, due, examples=examples)
    assert found == {"text": "draw a plant cell", "due": "2025-03-21"}


def test_what_is_said_keeps_its_last_words() -> None:
    text = Parameter("message", "string", example="please call me back")
    examples = ("tell Tom: please call me back",)
    asked = "tell Tom: is the shop open now?"
    assert arguments(asked, text, examples=examples) == {"message": "is the shop open now?"}
    asked = "tell Tom: the shop is open now please"
    assert arguments(asked, text, examples=examples) == {"message": "the shop is open now"}
