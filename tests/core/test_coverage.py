"""The account of a question's words: what was left out, what is masked, and where it stands."""

from hypothesis import given
from hypothesis import strategies as st

from server.core.coverage import Coverage, CoveredWord, WordRole
from server.core.redaction import REDACTED

TEXT = "My 2 kids are asleep, set the heater to 20 degrees now if it rains."


def word(text: str, role: WordRole, of: str | None = None, kind: str = "") -> CoveredWord:
    start = TEXT.index(text)
    return CoveredWord(start, start + len(text), role, of, kind)


COVERAGE = Coverage(
    TEXT,
    (
        word("My", "filler"),
        word("2", "unread", kind="number"),
        word("kids", "unread", kind="word"),
        word("are", "filler"),
        word("asleep", "unread", kind="word"),
        word("set", "frame", "heat"),
        word("the", "filler"),
        word("heater", "frame", "heat"),
        word("20", "value", "degrees"),
        word("degrees", "value", "degrees"),
        word("now", "unread", kind="word"),
        word("if", "unread", kind="condition"),
        word("it", "filler"),
        word("rains", "unread", kind="word"),
    ),
)


def test_a_clause_that_nothing_comes_of_is_left_out_as_a_whole() -> None:
    assert COVERAGE.left_out() == ("My 2 kids are asleep", "now if", "rains")


def test_a_remark_is_left_out() -> None:
    remark = tuple(each._replace(role="filler", kind="remark") for each in COVERAGE.words[:5])
    assert Coverage(TEXT, remark + COVERAGE.words[5:9]).left_out() == ("My 2 kids are asleep",)


def test_rules_may_have_read_what_a_template_does_not_know() -> None:
    assert Coverage(TEXT, COVERAGE.words, ruled=True).left_out() == ()


def test_a_phrase_goes_on_to_the_end_of_its_clause() -> None:
    assert COVERAGE.clause_from("if") == "if it rains"
    assert COVERAGE.clause_from("2") == "2 kids are asleep"
    assert COVERAGE.clause_from("unless") == "unless"


def test_masked_words_are_in_no_text_and_keep_their_places() -> None:
    masked = COVERAGE.mask(lambda each: each.role in ("value", "unread"))
    assert masked.to_list()[7:9] == [
        {"text": "heater", "span": [30, 36], "as": "frame", "of": "heat"},
        {"text": REDACTED, "span": [40, 42], "as": "value", "of": "degrees"},
    ]
    assert masked.phrases("unread") == (REDACTED,) * 4
    assert masked.left_out() == (REDACTED,)
    assert (len(masked.text), "20" in masked.text) == (len(TEXT), False)


def test_a_rewritten_question_is_accounted_for_as_it_was_sent() -> None:
    rewritten = Coverage(
        "15% of 200 dollars now",
        (
            CoveredWord(0, 3, "value", "percentage"),
            CoveredWord(4, 6, "filler"),
            CoveredWord(7, 10, "value", "value"),
            CoveredWord(11, 18, "value", "value"),
            CoveredWord(19, 22, "unread"),
        ),
    )
    read = rewritten.before_rewriting("15% of it now", (7, 9), len("200 dollars"))
    assert [(each["text"], each["as"]) for each in read.to_list()] == [
        ("15%", "value"),
        ("of", "filler"),
        ("it", "value"),
        ("now", "unread"),
    ]


@given(st.sets(st.sampled_from(COVERAGE.words)))
def test_what_is_masked_can_be_read_nowhere(hidden: set[CoveredWord]) -> None:
    masked = COVERAGE.mask(hidden.__contains__)
    for each, shown in zip(COVERAGE.words, masked.to_list(), strict=True):
        assert shown["span"] == [each.start, each.end]
        assert (shown["text"] == REDACTED) == (each in hidden)
        assert (masked.text[each.start : each.end] == TEXT[each.start : each.end]) == (
            each not in hidden
        )
