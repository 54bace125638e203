"""Pydantic's errors come out as sentences with file and line."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError

from server.settings.documents import parse_yaml
from server.settings.validation import validate


class Cat(BaseModel, extra="forbid"):
    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel, extra="forbid"):
    kind: Literal["dog"]
    tricks: list[str] = []


class Box(BaseModel, extra="forbid"):
    threshold: float = Field(0.6, ge=0, le=1)
    port: int | None = Field(None, gt=0, lt=65536)
    style: Literal["plain", "fancy"] = "plain"
    name: str = Field("", min_length=2)
    tags: list[str] = []
    shares: dict[str, Annotated[float, Field(ge=0)]] = {}
    inner: "Box | None" = None
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
    imports: list[str] = Field([], alias="import")
    quiet: bool = False
    word: str = ""

    @field_validator("word")
    @classmethod
    def check_word(cls, word: str) -> str:
        if word == "custom":
            raise PydanticCustomError("bad-word", "the word is bad")
        if word == "plain":
            raise ValueError("is not a word")
        return word


@pytest.mark.parametrize(
    ("text", "message", "kind"),
    [
        (
            "threshold: high",
            "threshold: expected a number between 0 and 1, got 'high' @ f.yaml:1",
            "wrong-type",
        ),
        (
            "threshold: 7",
            "threshold: expected a number between 0 and 1, got 7 @ f.yaml:1",
            "out-of-range",
        ),
        (
            "port: 70000",
            "port: expected a number above 0 and below 65536, got 70000 @ f.yaml:1",
            "out-of-range",
        ),
        (
            "port: 1.5",
            "port: expected a whole number above 0 and below 65536, got 1.5 @ f.yaml:1",
            "wrong-type",
        ),
        (
            "style: fansy",
            "style: expected plain or fancy, got 'fansy'; did you mean 'fancy'? @ f.yaml:1",
            "unknown-value",
        ),
        (
            "name: x",
            "name: string should have at least 2 characters @ f.yaml:1",
            "out-of-range",
        ),
        ("name: 5", "name: expected text, got 5; put it in quotes @ f.yaml:1", "wrong-type"),
        ("tags: a", "tags: expected a list, got 'a' @ f.yaml:1", "wrong-type"),
        (
            "tags:\n  - a\n  - 5",
            "tags[1]: expected text, got 5; put it in quotes @ f.yaml:3",
            "wrong-type",
        ),
        (
            "shares:\n  a: 1\n  b: -1",
            "b: expected a number of at least 0, got -1 @ f.yaml:3",
            "out-of-range",
        ),
        ("inner: 5", "inner: expected `name: value` lines, got 5 @ f.yaml:1", "wrong-type"),
        ("quiet: maybe", "quiet: expected true or false, got 'maybe' @ f.yaml:1", "wrong-type"),
        (
            "inner:\n  treshold: 1",
            "unknown key 'treshold'; did you mean 'threshold'? @ f.yaml:2",
            "unknown-key",
        ),
        (
            "imports: []",
            "unknown key 'imports'; did you mean 'import'? @ f.yaml:1",
            "unknown-key",
        ),
        (
            "pets:\n  - kind: cat\n    tricks: [sit]",
            "unknown key 'tricks'; known are kind and lives @ f.yaml:3",
            "unknown-key",
        ),
        (
            "pets:\n  - kind: dog\n    tricks: [1]",
            "tricks[0]: expected text, got 1; put it in quotes @ f.yaml:3",
            "wrong-type",
        ),
        (
            "pets:\n  - kind: cow",
            "kind: expected cat or dog, got 'cow' @ f.yaml:2",
            "unknown-value",
        ),
        ("pets:\n  - lives: 3", "'kind' is missing @ f.yaml:2", "missing-key"),
        ("word: custom", "the word is bad @ f.yaml:1", "bad-word"),
        ("word: plain", "word: is not a word @ f.yaml:1", "wrong-value"),
    ],
)
def test_one_mistake_is_one_sentence_with_its_place(text: str, message: str, kind: str) -> None:
    box, problems = validate(Box, parse_yaml(text.encode(), "f.yaml", {}))
    assert box is None
    assert [(str(problem), problem.kind) for problem in problems] == [(message, kind)]


def test_what_is_right_becomes_the_model() -> None:
    box, problems = validate(Box, parse_yaml(b"a: [{threshold: 0.5}]", "f", {}), ("a", 0))
    assert (box, problems) == (Box.model_validate({"threshold": 0.5}), ())


def test_all_mistakes_come_at_once() -> None:
    document = parse_yaml(b"threshold: 2\nport: x\nnothing: 1\n", "f", {})
    lines = [problem.where.line for problem in validate(Box, document)[1]]
    assert lines == [1, 2, 3]


def test_a_placeholder_without_a_value_is_one_problem_not_two() -> None:
    document = parse_yaml(b"port: ${PORT}\n", "f", {})
    assert [p.kind for p in document.problems] == ["missing-variable"]
    assert validate(Box, document) == (None, ())


def test_values_from_the_environment_are_not_shown() -> None:
    document = parse_yaml(b"port: ${SECRET}\n", "f", {"SECRET": "hunter2"})
    (problem,) = validate(Box, document)[1]
    assert "hunter2" not in problem.what
    assert problem.what.endswith("got a value from the environment")
