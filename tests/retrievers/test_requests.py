"""What in a message speaks against doing what a template does."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from server.core.turn import Caller, Turn
from server.extraction.extractor import Extractor
from server.library.model import Domain, Parameter, Template
from server.library.sql_model import SqlExecution
from server.library.sql_text import parse_sql
from server.retrievers.requests import Objection, objection, verbs_apart, write_objection
from server.text.senses import read_senses
from server.text.tokens import Tokens
from tests.extraction.support import template_of

NOW = datetime(2025, 3, 5, 12, tzinfo=UTC)
TIMER = replace(
    template_of(
        Parameter("minutes", "integer"),
        examples=(
            "Set a timer for 10 minutes",
            "start a 5 minute timer",
            "timer for 3 minutes",
            "count down 20 minutes",
        ),
    ),
    id="timer",
    effect="write",
)
ALARM = replace(
    template_of(
        Parameter("minutes", "integer"),
        examples=("if it rains warn me after 5 minutes", "warn me in 10 minutes, but not by phone"),
    ),
    id="alarm",
    effect="write",
)
NOTE = replace(
    template_of(
        Parameter("text", "string"),
        examples=("note down that the bins go out", "note down that the cat sleeps"),
    ),
    id="note",
    effect="write",
)
TIMERS = replace(template_of(examples=("show my timers", "which timers run")), id="timers")
FILM = replace(
    template_of(
        Parameter("film_name", "string"),
        examples=("what is the rating of Green Wind?", "Lost River's length", "who is Green Wind"),
    ),
    id="film",
    execution=SqlExecution(parse_sql("SELECT 1", ())),
)
LEFT = replace(TIMER, id="left", effect="read")
TEMPLATES = (TIMER, ALARM, NOTE, TIMERS, LEFT, FILM)
EXTRACTOR = Extractor(Domain("d"))
EXTRACTOR.prepare(TEMPLATES)


def against(text: str, template: Template = TIMER) -> Objection | None:
    reading = EXTRACTOR.read(text, NOW)
    found = EXTRACTOR.extract_from(reading, template)
    coverage = EXTRACTOR.cover(reading, template, found)
    frame, senses = EXTRACTOR.frame(template), EXTRACTOR.senses(reading)
    return objection(template, frame, senses, coverage)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("never set a timer for 10 minutes", "negation", "never"),
        ("don't set a timer for 10 minutes", "negation", "don't"),
        ("no need to set a timer for 10 minutes", "negation", "no need to"),
        ("set a timer for 10 minutes if it rains", "condition", "if"),
        ("set a timer for 10 minutes, except mine", "exclusion", "except"),
        ("only set a timer for 10 minutes", "restriction", "only"),
        ("why did you set a timer for 10 minutes", "reason", "why"),
        ("set a timer for 10^2 minutes", "sign", "^"),
        ("is there a timer for 10 minutes", "question", "is there"),
        ("set a timer for plus 10 minutes", "sign", "plus"),
        ("set a timer for 10 minutes on 2025-07-01", "detail", "2025-07-01"),
        ("set a timer for 10 minutes, don't cancel it", "negation", "don't"),
        ("I don't like it, don't set a timer for 10 minutes", "negation", "don't"),
    ],
)
def test_each_kind_of_objection(text: str, kind: str, words: str) -> None:
    assert against(text) == (kind, words)


@pytest.mark.parametrize(
    "text",
    [
        "set a timer for 10 minutes",
        "could you set a timer for 10 minutes?",
        "I can't cook, set a timer for 10 minutes",
        "set a purple timer for 10 minutes",
        "the eggs aren't done, set a timer of 10 minutes for them",
        "my birthday is on 2025-07-01, set a timer for 10 minutes",
        "",
    ],
)
def test_nothing_speaks_against_a_plain_request(text: str) -> None:
    assert against(text) is None


def test_what_is_asked_of_a_value_of_the_data_has_to_be_known() -> None:
    assert against("what is the rating of Old Town?", FILM) is None
    assert against("what is the imdb score of Old Town?", FILM) == ("detail", "score")


def test_what_the_examples_say_themselves_is_theirs() -> None:
    assert against("if it rains warn me after 7 minutes", ALARM) is None
    assert against("warn me in 7 minutes, but not by phone", ALARM) is None


def test_a_no_of_the_examples_is_none_before_their_own_verb() -> None:
    want = replace(
        template_of(
            Parameter("order", "integer"),
            examples=("cancel order 12", "I don't want order 15 any more", "cancel 7"),
        ),
        id="cancel_order",
        effect="write",
    )
    EXTRACTOR.prepare((*TEMPLATES, want))
    assert against("they don't want order 9 any more", want) is None
    assert against("don't cancel order 9", want) == ("negation", "don't")
    assert against("they can't come, cancel their order 9", want) is None


def test_a_change_by_some_amount_is_no_new_amount() -> None:
    price = replace(
        template_of(
            Parameter("price", "number"),
            examples=("set the price to 12", "the price is 15 now", "make the price 20"),
        ),
        id="set_price",
        effect="write",
    )
    EXTRACTOR.prepare((*TEMPLATES, price))
    assert against("set the price to 9", price) is None
    assert against("put the price up by 5", price) == ("detail", "by 5")
    assert against("put the price up by 5", replace(price, effect="read")) is None


def test_what_is_said_of_something_else_takes_nothing_back() -> None:
    assert against("Mrs Graf can't walk, set the timer to 10 minutes for her") is None
    assert against("the oven only takes pizza, set a timer for 10 minutes", LEFT) is None
    assert against("never, set a timer for 10 minutes") == ("negation", "never")
    assert against("don't set a timer for 10 minutes, I will tell them") == ("negation", "don't")
    assert against("don't use it, I will set a timer for 10 minutes for them") == (
        "negation",
        "don't",
    )


def test_no_value_answers_who() -> None:
    assert against("who set the timer for 10 minutes", LEFT) == ("reason", "who")
    assert against("left for 10 minutes on the timer, for those who cook", LEFT) is None


def test_an_order_that_nobody_knows_is_none_of_a_list() -> None:
    assert against("frobnicate all timers of 10 minutes", LEFT) == ("action", "frobnicate")
    assert against("timers of 10 minutes", LEFT) is None


def test_nothing_between_values_is_left_out() -> None:
    pet = replace(
        template_of(
            Parameter("kind", "string", enum=("dog", "cat")),
            Parameter("sex", "string", enum=("male", "female")),
            examples=("new pet: dog, male", "add a pet: cat, female"),
        ),
        id="pet",
        effect="write",
    )
    EXTRACTOR.prepare((*TEMPLATES, pet))
    assert against("new pet: dog, male", pet) is None
    assert against("new pet: dog, beagle, male", pet) == ("detail", "beagle")


def test_a_verb_sets_a_counter_example_apart() -> None:
    frame, reader = EXTRACTOR.frame(TIMER), read_senses(Tokens(""), ("en",)).reader
    assert verbs_apart("cancel the timer", frame, reader) == {"cancel"}
    assert verbs_apart("cancel the alarm clock", frame, reader) == set()


def test_a_sum_leaves_out_no_number() -> None:
    total = replace(
        template_of(
            Parameter("sum", "expression"), examples=("what is 2 + 3", "8 cars of 2 seats")
        ),
        id="total",
    )
    EXTRACTOR.prepare((*TEMPLATES, total))
    assert against("what is 2 + 3", total) is None
    assert against("2 + 3 are here but 4 are gone", total) == ("sign", "4")


def test_what_stands_in_an_argument_is_no_objection() -> None:
    assert against("note down that the cat never sleeps if it rains", NOTE) is None
    assert against("never note down that the cat sleeps", NOTE) == ("negation", "never")


def test_but_takes_back_what_stands_before_it_even_within_a_text() -> None:
    assert against("note down that the cat does not eat", NOTE) is None
    assert against("note down that I call Bob but don't do it", NOTE) == ("negation", "don't")


def test_a_question_mark_asks() -> None:
    assert against("your timer for 10 minutes?") == ("question", "your timer")
    assert against("set a timer for 10 minutes?") is None
    assert against("can you set a timer for 10 minutes?") is None


def test_a_read_may_be_asked_about() -> None:
    assert against("is there a timer for 10 minutes", LEFT) is None


def test_a_read_that_takes_nothing_has_nothing_to_narrow() -> None:
    assert against("never show my timers except the last", TIMERS) is None


def turn(text: str) -> Turn:
    return Turn("t", text, "s", Caller("k", "d"), NOW)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("set a timer for 10 minutes", None),
        ("don't set a timer for 10 minutes", "negation"),
        ("unless it rains, set a timer for 10 minutes", "condition"),
        ("how do I set a timer for 10 minutes", "question"),
    ],
)
def test_who_else_proposes_a_write_is_held_to_the_same(text: str, kind: str | None) -> None:
    found = write_objection(EXTRACTOR, TIMER, turn(text))
    assert (found and found.kind) == kind
    assert write_objection(EXTRACTOR, LEFT, turn(text)) is None


@pytest.mark.parametrize("text", ["", "\ud800", "🙂", "don't " * 20_000, "if, " * 3_000])
def test_any_text_can_be_judged(text: str) -> None:
    against(text)
    write_objection(EXTRACTOR, TIMER, turn(text))


def test_the_mood_is_that_of_what_is_asked() -> None:
    def mood(text: str) -> str:
        return read_senses(Tokens(text), ("en",)).mood

    assert mood("my kids are asleep, why is the timer on") == "question"
    assert mood("my kids are asleep, stop the timer") == "request"
    assert mood("my kids are asleep") == "statement"
    assert mood("something came up, could you stop the timer?") == "request"
    assert mood("why is it on, could you stop the timer?") == "question"


def test_what_others_did_is_no_request_to_a_rule() -> None:
    told = write_objection(
        EXTRACTOR, TIMER, turn("a friend of mine set a timer for 10 minutes"), by_rule=True
    )
    assert told is not None
    assert told.kind == "statement"
    asked = turn("my sister needs a timer for 10 minutes")
    assert write_objection(EXTRACTOR, TIMER, asked, by_rule=True) is None
