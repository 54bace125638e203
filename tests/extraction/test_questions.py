"""A table of questions and the arguments they give."""

from typing import Any

import pytest

from tests.extraction.support import ask, questions


def _typed(value: Any) -> Any:
    """The value in a form in which 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_typed(item) for item in value]
    return type(value).__name__, value


@pytest.mark.parametrize(
    ("template", "asked"), questions(), ids=[f"{t}: {a['ask']}" for t, a in questions()]
)
def test_a_question_gives_these_arguments(template: str, asked: dict[str, Any]) -> None:
    found = ask(asked["ask"], template)
    read = {k: v for k, v in found.arguments.items() if found.sources[k].kind != "default"}
    missing = {one.name: one.problem for one in found.missing}
    assert (_typed(read), missing) == (_typed(asked["arguments"]), asked.get("asks", {}))


def test_the_table_is_long_enough_to_mean_something() -> None:
    assert len(questions()) >= 150
