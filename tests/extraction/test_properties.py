"""What holds for any text."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.extraction.extractor import Extractor
from server.text.decimals import as_decimal, plain_number
from server.text.durations import Duration, read_iso_duration
from server.text.parsed_text import ParsedText
from server.text.tokens import Kind
from tests.extraction.support import NOW, ask, everyday, everyday_extractor, questions

TEMPLATES = sorted(everyday().templates)
WORDS = sorted({word for _, asked in questions() for word in asked["ask"].split()})

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=80)
plausible = st.lists(st.one_of(st.sampled_from(WORDS), anything), max_size=12).map(" ".join)
texts = st.one_of(anything, plausible)


@given(texts, st.sampled_from(TEMPLATES))
def test_any_text_gives_an_extraction_whose_places_are_real(text: str, name: str) -> None:
    template = everyday().templates[name]
    found = everyday_extractor().extract(text, template, now=NOW)
    assert found.arguments.keys() == found.sources.keys()
    missing = {one.name for one in found.missing}
    assert missing.isdisjoint(found.arguments)
    assert {p.name for p in template.required} <= missing | found.arguments.keys()
    places = []
    for source in found.sources.values():
        if source.kind == "default":
            assert (source.span, source.text) == (None, None)
            continue
        assert source.span is not None
        start, end = source.span
        assert 0 <= start < end <= len(text)
        assert text[start:end] == source.text
        places.append((start, end))
    places.sort()
    assert all(one[1] <= two[0] for one, two in pairwise(places))


@settings(max_examples=25)
@given(plausible, st.sampled_from(TEMPLATES))
def test_the_same_question_is_read_the_same_by_anyone(text: str, name: str) -> None:
    fresh = Extractor(everyday().domain)
    assert fresh.extract(text, everyday().templates[name], now=NOW) == ask(text, name)


@given(texts)
def test_grounding_counts_what_is_there(text: str) -> None:
    for name in ("percentage", "task", "filter"):
        grounding = ask(text, name).grounding
        assert 0 <= grounding.read <= grounding.required
        assert all(unused in text for unused in grounding.unused)


def _only(text: str, kind: Kind) -> Any:
    """The one value of `kind` that fills the whole text."""
    reading = ParsedText(text, NOW, "mdy")
    (span,) = [s for s in reading.of(kind) if not s.weak]
    assert (span.start, span.end) == (0, len(text))
    return span.value


numbers = st.one_of(
    st.integers(-(10**30), 10**30).map(Decimal),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12),
)


@given(numbers)
def test_a_number_that_is_written_is_read_back_exactly(number: Decimal) -> None:
    if number.is_zero() or number.adjusted() < -300:
        number = Decimal(7)
    assert as_decimal(_only(f"{number:f}", "number")) == number
    assert _only(f"{number:f}", "number") == plain_number(number)


@given(st.integers(0, 10**15))
def test_thousands_may_be_separated(number: int) -> None:
    assert _only(f"{number:,}", "number") == number


BELOW_TWENTY = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen
"""
ONES = BELOW_TWENTY.split()
BELOW_HUNDRED = "none ten twenty thirty forty fifty sixty seventy eighty ninety"
TENS = BELOW_HUNDRED.split()


def in_words(number: int) -> str:
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + (f"-{ONES[number % 10]}" if number % 10 else "")
    for size, name in ((10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            joint = " and " if rest and rest < 100 else " "
            more = f"{joint}{in_words(rest)}" if rest else ""
            return f"{in_words(number // size)} {name}{more}"
    raise AssertionError


@given(st.integers(0, 10**9 - 1).filter(lambda n: n != 1))
def test_a_number_in_words_is_read_back(number: int) -> None:
    assert _only(in_words(number), "number") == number


dates = st.dates(date(1700, 1, 1), date(2199, 12, 31))


@given(dates, st.sampled_from(["%Y-%m-%d", "%B %d, %Y", "%d %b %Y", "%A, %B %d, %Y", "%d.%m.%Y"]))
def test_a_date_that_is_written_is_read_back(day: date, style: str) -> None:
    assert _only(day.strftime(style), "date") == day


@given(dates)
def test_a_date_in_digits_follows_the_order_of_the_domain(day: date) -> None:
    text = f"{day:%d/%m/%Y}"
    (span,) = ParsedText(text, NOW, "dmy").of("date")
    assert span.value == day


@given(st.times())
def test_a_time_that_is_written_is_read_back(clock: time) -> None:
    whole = clock.replace(microsecond=0)
    assert _only(whole.isoformat(), "time") == whole
    assert _only(f"{whole:%I:%M %p}".lower(), "time") == whole.replace(second=0)


@given(st.datetimes(datetime(1700, 1, 1), datetime(2199, 12, 31)))
def test_a_moment_that_is_written_is_read_back(moment: datetime) -> None:
    assert _only(moment.isoformat(), "datetime") == moment
    aware = moment.replace(tzinfo=UTC)
    assert _only(aware.isoformat(), "datetime") == aware


@given(st.integers(0, 600), st.timedeltas(timedelta(0), timedelta(days=9999)))
def test_a_duration_that_is_written_is_read_back(months: int, rest: timedelta) -> None:
    length = Duration(months, rest // timedelta(seconds=1))  # type: ignore[arg-type]
    assert read_iso_duration(length.to_iso()) == length


HOSTILE = {
    "brackets": "[" * 50_000,
    "open lists": "[1," * 20_000,
    "open objects": '{"a":' * 15_000,
    "quotes": "\"'" * 30_000,
    "addresses": "a@" * 30_000 + "://" * 10_000,
    "digits": "1" * 100_000,
    "numbers": "1,1 " * 20_000,
    "dates": "in 3 days at 5pm on 2025-01-01 " * 300,
    "leads": "to called in : " * 2_000,
    "words": "urgent low price " * 3_000,
    "controls": "\x00\ud800\u202e" * 20_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_read_or_refused_and_never_breaks(name: str) -> None:
    for template in ("filter", "task", "orders", "add", "flight"):
        found = ask(HOSTILE[name], template)
        assert found.arguments.keys() == found.sources.keys()


def test_a_text_that_is_too_long_to_read_is_not_half_read() -> None:
    found = ask("add " + "1 " * 20_000, "add")
    assert found.arguments == {}
    assert [one.problem for one in found.missing] == ["the question is too long to read"]
