"""Jinja texts are judged without being rendered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.library.expressions import JinjaText, examine


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("no variables", set()),
        ("{{ a }} of {{ b.c | round(2) }}", {"a", "b"}),
        ("{% for x in rows %}{{ loop.index }} {{ x.name }}{% endfor %}", {"rows"}),
        ("{% set total = a %}{{ total }} {{ range(3) }}", {"a"}),
        ("{% if a is defined and a is not none %}{{ a }}{% endif %}", {"a"}),
    ],
)
def test_variables_are_what_comes_from_outside(text: str, variables: set[str]) -> None:
    assert examine(text) == JinjaText(None, frozenset(variables))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{{ a", "unexpected end of template, expected 'end of print statement'"),
        (
            "one\n{{ a b }}",
            "expected token 'end of print statement', got 'b' in line 2 of the text",
        ),
        ("{{ a | rnd }}", "there is no filter 'rnd'; did you mean 'round'?"),
        ("{{ a is defind }}", "there is no test 'defind'; did you mean 'defined'?"),
        ("{{ " + "(" * 5000 + " }}", "is nested too deeply"),
        (
            "{{ " + "9" * 5000 + " }}",
            "Exceeds the limit (4300 digits) for integer string conversion: value has 5000 digits",
        ),
        ("{% include 'x' %}", "include, import and extends have nothing to load from"),
    ],
)
def test_what_could_never_be_rendered_says_why(text: str, problem: str) -> None:
    assert examine(text).problem == problem


@given(st.text(alphabet="{}%ab |.()[]'\"+-#\n=", max_size=40))
def test_any_text_can_be_looked_at(text: str) -> None:
    examine(text)
