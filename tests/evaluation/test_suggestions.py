"""Lines that `check` proposes, from the examples of a library alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from server.cli.check import check_configuration
from server.errors import Problem
from server.evaluation.suggestions import suggestions
from server.extraction.extractor import Extractor
from server.library.model import Library
from tests.matching.libraries import PLACES, library_of

ROOT = Path(__file__).parents[2]
TASKS: Mapping[str, Sequence[str]] = {
    "open_tasks": ("Which tasks are not finished?", "What is left to do?", "Open tasks please"),
    "weather": PLACES["weather"],
}
ALIKE: Mapping[str, Sequence[str]] = {
    "cancel": ("Cancel my order", "Forget about the parcel", "I changed my mind"),
    "close": ("Please cancel my order", "Close my account", "Delete my profile"),
}


def said(library: Library) -> list[Problem]:
    return suggestions(library, Extractor(library.domain))


def test_a_negation_that_nothing_tells_from_its_contrary_gets_a_counter_example() -> None:
    (found,) = said(library_of(TASKS))
    assert (found.kind, found.is_error, found.template) == ("suggestion", False, "open_tasks")
    assert found.what.endswith('counter_examples: ["Which tasks are finished?"]')


def test_the_line_once_added_is_proposed_no_more() -> None:
    library = library_of(TASKS)
    done = replace(library.templates["open_tasks"], counter_examples=("which tasks are finished",))
    assert said(replace(library, templates=dict(library.templates) | {"open_tasks": done})) == []


def test_a_contrary_that_another_template_has_is_not_proposed() -> None:
    examples = dict(TASKS) | {"done_tasks": ("Which tasks are finished?", "What have I done?")}
    assert said(library_of(examples)) == []


def test_examples_that_say_the_same_for_two_templates_are_named() -> None:
    (found, *_) = said(library_of(ALIKE))
    assert found.kind == "suggestion"
    assert "'cancel'" in found.what
    assert "'close'" in found.what
    assert 'counter_examples: ["' in found.what


def test_there_are_few_of_them() -> None:
    nouns = ("lamps", "doors", "taps", "fans", "pumps", "bells", "locks")
    examples = {
        noun: (f"which {noun} are not broken", f"how old is one of the {noun}", f"{noun} in use")
        for noun in nouns
    }
    assert len(said(library_of(examples))) == 5


def test_a_library_where_nothing_collides_is_left_alone() -> None:
    assert said(library_of(PLACES)) == []


def test_the_shipped_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = check_configuration(Path("config/config.yaml"))
    assert [problem.what for problem in found if problem.kind == "suggestion"] == []
