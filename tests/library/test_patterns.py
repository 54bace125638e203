"""Regular expressions are judged by the engine that will run them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.library.expressions import pattern_problem


@pytest.mark.parametrize("pattern", [r"(\d+)", r"(?i)of\s+([\d,]+)", r"(?P<n>a)", r"\bx\b", "א+"])
def test_what_compiles_has_no_problem(pattern: str) -> None:
    assert pattern_problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        (r"(\d+", "missing )"),
        ("ab[z-a]", "invalid character class range z-a at character 4"),
        (
            r"x(?=y)",
            "invalid perl operator (?= at character 2; RE2 has no lookaround; match more and put"
            " the value in ( )",
        ),
        (
            r"(?<!a)b",
            "invalid perl operator (?<! at character 1; RE2 has no lookaround; match more and put"
            " the value in ( )",
        ),
        (r"(a)\1", r"invalid escape sequence \1 at character 4; RE2 has no backreferences"),
        (
            r"\Z",
            r"invalid escape sequence \Z at character 1; write \z for the end of the text",
        ),
        ("a{1001}", "invalid repetition size {1001} at character 2"),
    ],
)
def test_what_does_not_compile_says_where_and_what_instead(pattern: str, problem: str) -> None:
    assert pattern_problem(pattern) == problem


@given(st.text(alphabet="ab()[]{}*+?|\\^$.:<>=!PZd1,-", max_size=30))
def test_any_text_is_a_pattern_or_has_a_problem(pattern: str) -> None:
    assert pattern_problem(pattern) != ""
