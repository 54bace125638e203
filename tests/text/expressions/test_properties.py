"""Expressions against Python's own fractions, and text that is none: no surprise, no delay."""

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.text.expressions import CannotCalculate, read_expression
from tests.text.expressions.support import find
from tests.text.expressions.trees import in_words, plain_chain, random_sum

PORTIONS = range(10)


@pytest.mark.slow
@pytest.mark.parametrize("portion", PORTIONS)
def test_expressions_have_the_value_that_fractions_have(portion: int) -> None:
    random = Random(portion)
    for _ in range(1000):
        asked = random_sum(random)
        try:
            read = read_expression(asked.text)
            value = read.value.value
        except CannotCalculate:
            # Cubes of cubes are longer than what is worked out.
            assert abs(asked.value) >= 10**20 or asked.value.denominator >= 10**20
            continue
        assert value == asked.value, (asked.text, read.text)


@pytest.mark.slow
@pytest.mark.parametrize("portion", PORTIONS)
def test_chains_have_the_usual_precedence(portion: int) -> None:
    random = Random(1000 + portion)
    for _ in range(1000):
        text, value = plain_chain(random)
        assert read_expression(text).value.value == value, text


@pytest.mark.slow
@pytest.mark.parametrize("portion", PORTIONS)
def test_what_is_shown_reads_as_the_same(portion: int) -> None:
    random = Random(2000 + portion)
    for _ in range(200):
        asked = random_sum(random, 2)
        shown = read_expression(asked.text).text
        assert read_expression(shown).node == read_expression(read_expression(shown).text).node
        assert read_expression(shown).value.value == asked.value, (asked.text, shown)


def test_numbers_in_words_are_numbers() -> None:
    for number in [*range(2000), *range(2000, 1_000_000, 1237)]:
        text = f"{in_words(number)} times two"
        assert read_expression(text).value.value == Fraction(2 * number), text


SIGNS_AND_WORDS = """
3 4 5 0 12.5 1,000 20% 7% $5 € kg 5kg ( ) + - * / ^ ** % ² √ , ; of off and the a per for to from
by half third two ten hundred plus minus times divided into squared root percent what is how many
in sum average remainder when round up nearest boxes people share split between at each VAT tip
day hour standard deviation 99999999999999999999 choose mod log
"""
WORDS = SIGNS_AND_WORDS.split()


@given(st.lists(st.sampled_from(WORDS), max_size=60), st.sampled_from(["", " "]))
def test_any_words_are_read_or_left_alone(words: list[str], between: str) -> None:
    answer(between.join(words))


@given(st.text(max_size=300))
def test_any_text_is_read_or_left_alone(text: str) -> None:
    answer(text)


def answer(text: str) -> None:
    found = find(text)
    if found is not None:
        assert found.first < found.last
        _ = found.expression.error
    try:
        value = read_expression(text).value
    except ValueError:
        return
    assert abs(value.value) < 10**100
    assert str(value)
