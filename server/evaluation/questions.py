"""questions.yaml: what people ask, and what a library should make of it."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pydantic import ConfigDict, Field, ValidationError, field_validator

from server.core.json import to_json
from server.errors import Fix, Problem
from server.settings.documented import Documented
from server.settings.documents import Document, Keys, read_yaml


class Question(Documented):
    """One question and what should come of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ask: str = Field(min_length=1)
    """The question, as it is typed."""
    template: str | None
    """The template that should answer; null, and written so, when none may."""
    arguments: Mapping[str, Any] | None = None
    """Every argument by name, but for those with their default value; None when not said."""
    answer: str | None = None
    """The exact text of the answer."""
    asks: tuple[str, ...] = ()
    """Required arguments that it leaves out, so that the answer has to ask for them."""

    @field_validator("ask")
    @classmethod
    def _says_something(cls, ask: str) -> str:
        if not ask.strip():
            raise ValueError("a question of blanks asks nothing")
        return ask


def load_questions(
    path: Path, templates: Collection[str] | None = None, environ: Mapping[str, str] = os.environ
) -> tuple[tuple[Question, ...], tuple[Problem, ...]]:
    """Read the questions that can be used, and every problem with the rest.

    A question about none of `templates`, the ids there are, is a problem and not a miss.
    """
    document = read_yaml(path, environ)
    questions: list[Question] = []
    problems = list(document.problems)
    for keys, item in _items(document, problems):
        try:
            question = Question.model_validate(item)
        except ValidationError as invalid:
            problems += _problems(invalid, document, keys)
            continue
        found = list(_inconsistencies(question, templates, document, keys))
        problems += found
        if not found:
            questions.append(question)
    return tuple(questions), tuple(problems)


def usable_questions(
    questions: Sequence[Question], templates: Collection[str]
) -> tuple[tuple[Question, ...], tuple[tuple[int, str], ...]]:
    """Return the questions that can be used, and what is wrong with the others, by their place."""
    wrong = [
        (place, what)
        for place, question in enumerate(questions)
        for _, what, _ in _contradictions(question, templates)
    ]
    unusable = {place for place, _ in wrong}
    usable = tuple(each for place, each in enumerate(questions) if place not in unusable)
    return usable, tuple(wrong)


def questions_digest(questions: Iterable[Question]) -> str:
    """Return a hash of questions and what they expect, in whatever order they stand."""
    lines = sorted(to_json(question.model_dump()) for question in questions)
    return sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:32]


def _items(document: Document, problems: list[Problem]) -> Iterator[tuple[Keys, Any]]:
    if not document.readable or document.data is None:
        return
    for key in document.data:
        if key != "questions":
            why = f"unknown key {key!r}; a file of questions holds `questions:` alone"
            fix = document.renaming((key,), ("questions",))
            problems.append(Problem(why, document.where((key,)), "unknown-key", fix=fix))
    listed = document.data.get("questions")
    if not isinstance(listed, list):
        why = "expected `questions:` with a list of questions"
        problems.append(Problem(why, document.where(("questions",)), "wrong-type"))
        return
    seen: dict[str, Keys] = {}
    for index, item in enumerate(listed):
        keys: Keys = ("questions", index)
        yield keys, item
        ask = item.get("ask") if isinstance(item, dict) else None
        if isinstance(ask, str) and seen.setdefault(ask, keys) != keys:
            # Two questions in the same words count one mistake twice.
            why = f"is asked before, on line {document.where(seen[ask]).line}"
            # What is expected of it may differ, and only its author knows which is right.
            fix = Fix("remove", ask) if item == document.at(seen[ask]) else None
            problems.append(Problem(why, document.where(keys), "duplicate", "warning", fix=fix))


_KINDS: Final = {"missing": "missing-key", "extra_forbidden": "unknown-key"}


def _problems(invalid: ValidationError, document: Document, keys: Keys) -> Iterator[Problem]:
    for error in invalid.errors():
        inner = tuple(error["loc"])
        where = document.where((*keys, *inner))
        name = ".".join(map(str, inner))
        fix = None
        match error["type"]:
            case "missing":
                why = f"a question needs `{name}:`"
                if name == "template":
                    why += " (null when nothing may answer it)"
            case "extra_forbidden":
                why = f"unknown key {name!r}; a question has {', '.join(Question.model_fields)}"
                fix = document.renaming((*keys, *inner), Question.model_fields)
            case "model_type":
                why = "a question is written as `ask:` and `template:`"
            case _:
                why = f"{name}: {error['msg'].removeprefix('Value error, ')}"
        yield Problem(why, where, _KINDS.get(error["type"], "wrong-type"), fix=fix)


def _inconsistencies(
    question: Question, templates: Collection[str] | None, document: Document, keys: Keys
) -> Iterator[Problem]:
    for name, why, kind in _contradictions(question, templates):
        yield Problem(why, document.where((*keys, name)), kind)


def _contradictions(
    question: Question, templates: Collection[str] | None
) -> Iterator[tuple[str, str, str]]:
    """Yield the key that is at fault, why, and the kind of problem."""
    if question.template is None:
        for name in ("arguments", "asks"):
            if getattr(question, name):
                yield name, f"`{name}` means nothing beside `template: null`", "contradiction"
    elif templates is not None and question.template not in templates:
        yield "template", f"no template is called {question.template!r}", "unknown-template"
    for name in sorted(set(question.asks) & set(question.arguments or {})):
        yield "asks", f"{name!r} is both given and asked for", "contradiction"
