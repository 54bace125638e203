"""Who took each word of a question: every role and kind, and hostile text."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.core.coverage import Coverage
from server.extraction.extractor import Extractor
from server.library.model import Domain, Parameter, Template
from tests.extraction.support import template_of

NOW = datetime(2025, 3, 5, 12, tzinfo=UTC)
TIMER = replace(
    template_of(
        Parameter("minutes", "integer"),
        examples=(
            "Set a timer for 10 minutes",
            "start a 5 minute timer",
            "timer for at least 3 minutes",
            "count down 20 minutes",
        ),
    ),
    id="timer",
    effect="write",
)
NOTE = replace(
    template_of(
        Parameter("text", "string"),
        examples=(
            "Take a note: call the plumber",
            "note down that the bins go out",
            "write a note saying water the plants",
            "make a note to buy stamps",
        ),
    ),
    id="note",
    effect="write",
)
POSTS = replace(template_of(examples=("list all posts", "show every post")), id="posts")
EXTRACTOR = Extractor(Domain("d"))
EXTRACTOR.prepare((TIMER, NOTE, POSTS))


def cover(text: str, template: Template = TIMER) -> Coverage:
    reading = EXTRACTOR.read(text, NOW)
    return EXTRACTOR.cover(reading, template, EXTRACTOR.extract_from(reading, template))


def roles(text: str, template: Template = TIMER) -> list[tuple[str, str, str]]:
    covered = cover(text, template)
    return [(covered.text[w.start : w.end], w.role, w.kind) for w in covered.words]


def kind_of(word: str, text: str, template: Template = TIMER) -> tuple[str, str]:
    (found,) = [(role, kind) for shown, role, kind in roles(text, template) if shown == word]
    return found


def test_a_whole_account() -> None:
    assert roles("please start a timer for 15 minutes") == [
        ("please", "filler", "filler"),
        ("start", "frame", "action"),
        ("a", "filler", "filler"),
        ("timer", "frame", ""),
        ("for", "filler", "filler"),
        ("15", "value", ""),
        ("minutes", "value", ""),
    ]
    timer = next(word for word in cover("a timer for 15 minutes").words if word.role == "frame")
    assert (timer.start, timer.end, timer.of) == (2, 7, "timer")


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        ("timer", "timer for 7 minutes", ("frame", "")),
        ("timr", "timr for 7 minutes", ("unread", "word")),
        ("timmer", "timmer for 7 minutes", ("frame", "slip")),
        ("begin", "begin a timer for 7 minutes", ("frame", "action")),
        ("delete", "delete the timer for 7 minutes", ("unread", "action")),
        ("hello", "hello, timer for 7 minutes", ("filler", "filler")),
        ("at least", "timer for at least 7 minutes", ("operator", "comparison")),
        ("without", "timer for 7 minutes without sound", ("unread", "exclusion")),
        ("never", "never set a timer for 7 minutes", ("unread", "negation")),
        ("only", "only set a timer for 7 minutes", ("unread", "restriction")),
        ("if", "timer for 7 minutes if it rains", ("unread", "condition")),
        ("Quillon", "timer for 7 minutes for Quillon", ("unread", "name")),
        ("purple", "purple timer for 7 minutes", ("unread", "word")),
        ("posts", "timer for 7 minutes on posts", ("unread", "foreign")),
        ("2025-04-01", "timer for 7 minutes on 2025-04-01", ("unread", "date")),
        ("+", "timer for 7 minutes + sound", ("unread", "sign")),
        ("²x", "timer for 7 minutes ²x", ("unread", "sign")),
        ("٣", "timer for 7 minutes ٣", ("unread", "sign")),
    ],
)
def test_each_kind_of_word(word: str, text: str, expected: tuple[str, str]) -> None:
    found = [(role, kind) for shown, role, kind in roles(text) if shown in word.split()]
    found += [(role, kind) for shown, role, kind in roles(text) if shown == word]
    assert expected in found, roles(text)


BILL = replace(
    template_of(
        Parameter("month", "string", required=False, enum=("March", "June")),
        examples=(
            "Show my bill for March",
            "how much do I have to pay in June",
            "send me the bill",
            "what's the order of my bills",
        ),
    ),
    id="bill",
)


@pytest.mark.parametrize(
    ("word", "text", "template", "expected"),
    [
        ("all", "show all my bills", BILL, ("filler", "universal")),
        ("all", "all timers for 7 minutes", TIMER, ("unread", "universal")),
        ("wife", "my wife wants a timer for 7 minutes", TIMER, ("filler", "person")),
        ("wife", "a timer for 7 minutes for my wife", TIMER, ("filler", "person")),
        ("band", "our band needs a timer for 7 minutes", TIMER, ("filler", "person")),
        ("band", "a timer of our band for 7 minutes", TIMER, ("unread", "word")),
        ("wife", "show the bill of my wife", BILL, ("unread", "person")),
        ("wife", "show my wife's bill", BILL, ("unread", "person")),
        # What the examples only ask about is not theirs to do.
        ("pay", "pay my bill", BILL, ("unread", "elsewhere")),
        ("pay", "I'd like to pay the bill", BILL, ("unread", "elsewhere")),
        ("pay", "how do I pay my bill", BILL, ("unread", "elsewhere")),
        ("pay", "how much do I have to pay in March", BILL, ("frame", "")),
        ("order", "order of the bills", BILL, ("frame", "")),
        ("order", "order the bill", BILL, ("unread", "elsewhere")),
        ("show", "show me the bill", BILL, ("frame", "action")),
    ],
)
def test_what_a_word_is_to_a_read_and_to_a_write(
    word: str, text: str, template: Template, expected: tuple[str, str]
) -> None:
    found = [(role, kind) for shown, role, kind in roles(text, template) if shown == word]
    if not found:  # in one mark with its neighbours: “wife's”, “show me”
        found = [(role, kind) for shown, role, kind in roles(text, template) if word in shown]
    assert found == [expected], roles(text, template)


def test_a_clause_that_only_tells_something_is_a_remark() -> None:
    found = roles("my kids are asleep, set a timer for 7 minutes")
    assert [(role, kind) for _, role, kind in found[:4]] == [("filler", "remark")] * 4
    assert cover("my kids are asleep, set a timer for 7 minutes").left_out() == (
        "my kids are asleep",
    )


def test_a_length_of_time_that_is_said_again_is_the_same_one() -> None:
    rental = template_of(Parameter("months", "integer"), examples=("rent it for 6 months",))
    text = "rent it for half a year, so 6 months"
    assert [word for word, role, _ in roles(text, rental) if role == "unread"] == []


def test_a_free_text_takes_all_its_words() -> None:
    found = roles("note down that the cat sleeps if it rains", NOTE)
    assert [role for _, role, _ in found] == ["frame", "frame", *["value"] * 7]


def test_what_a_tool_knows_is_licensed() -> None:
    assert kind_of("all", "list all posts", POSTS) == ("operator", "universal")


def test_values_that_nobody_takes_may_be_allowed() -> None:
    covered = cover("list all posts of 2025-04-01", POSTS)
    assert covered.unused_values() == ("2025-04-01",)
    assert covered.allow_values().unused_values() == ()


HOSTILE = (
    "",
    " \n\t ",
    "x" * 100_000,
    "word " * 20_000,
    "timer for 7 minutes, " * 5_000,
    "🙂🙂 timer 🧨 for 7 minutes 👩‍👩‍👧",
    "\ud800 timer \udfff for 7 minutes",
    "טיימר ל 7 דקות בבקשה",
    "\u202etimer for 7\u202c minutes",
    "timer\x00for\x007",
    "-+*/=<>^€$" * 50,
    "[" * 5_000,
    '"' * 999,
)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("template", [TIMER, NOTE, POSTS], ids=lambda one: one.id)
def test_hostile_text_is_accounted_for(text: str, template: Template) -> None:
    fits(cover(text, template), text)


def fits(covered: Coverage, text: str) -> None:
    """Places ascend, do not overlap, and stand in the text as it was sent."""
    assert covered.text == text
    end = 0
    for word in covered.words:
        assert end <= word.start < word.end <= len(text)
        assert not text[word.start].isspace()
        assert not text[word.end - 1].isspace()
        end = word.end


PIECES = st.sampled_from(
    ["set", "a timer", "for 7 minutes", "don't", "if", "except", "Quillon", "1,000", "10:30", ",",
     "2025-03-01", "e-mail", "what's", "at least", "posts", "and", ".", '"soon"', "é", "דקות", "🙂"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=6), max_size=12))
def test_every_word_is_someones(pieces: list[str]) -> None:
    """No letter or digit of a message stands outside the account."""
    text = " ".join(pieces)
    covered = cover(text)
    fits(covered, text)
    held = {at for word in covered.words for at in range(word.start, word.end)}
    lost = [c for at, c in enumerate(text) if at not in held and c.isascii() and c.isalnum()]
    assert lost == []
