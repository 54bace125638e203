"""Guard packs from YAML: one set, or everything that is wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from server.errors import Problem
from server.guards.model import Category, GuardRoute, GuardSet
from server.library.expressions import examine, matches_nothing, pattern_problem
from server.settings.documents import Document, Keys, read_yaml
from server.settings.fields import NAME, LibraryModel, OneOrMore
from server.settings.validation import validate


def _by_language(value: object) -> object:
    return value if isinstance(value, dict) else {"": value}


Responses = Annotated[
    dict[str, OneOrMore],
    BeforeValidator(_by_language, json_schema_input_type=OneOrMore | dict[str, OneOrMore]),
]
"""One text, a list of texts, or either by language."""


class RouteYaml(LibraryModel):
    """Where a question goes instead: exactly one of the two."""

    adapter: str | None = None
    """An adapter of this server, which answers the question as its own."""
    template: str | None = None
    """A template of this adapter, which answers without being matched."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "RouteYaml":
        if (self.adapter is None) == (self.template is None):
            raise PydanticCustomError("bad-route", "route_to needs either adapter or template")
        return self


class CategoryYaml(LibraryModel):
    """One kind of question, and what is done about it."""

    description: str = ""
    """For people; it decides nothing."""
    action: Literal["block", "route", "allow", "flag"] = "block"
    """`block` answers with the response, `route` asks elsewhere, `allow` passes, `flag` notes."""
    patterns: OneOrMore = ()
    """Regular expressions (RE2), found anywhere in the question, whatever its case."""
    examples: OneOrMore = ()
    """Questions of this kind; others are recognised by their meaning."""
    response: Responses = Field(default_factory=dict)
    """What a blocked person reads, as Jinja: one, several, or either by language."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """Least confidence at which meaning decides; without one, it is calibrated."""
    route_to: RouteYaml | None = None
    """Where `action: route` goes: `adapter: NAME` or `template: ID`."""

    @model_validator(mode="after")
    def _whole(self) -> "CategoryYaml":
        if not self.patterns and not self.examples:
            raise PydanticCustomError("empty-category", "a category needs patterns or examples")
        if (self.action == "route") != (self.route_to is not None):
            raise PydanticCustomError("bad-route", "route_to goes with 'action: route' alone")
        return self


class PackYaml(LibraryModel):
    """A guard pack: categories, in the order in which they are asked."""

    name: str = Field(min_length=1)
    """What logs and listings call it."""
    description: str = ""
    """For people; it decides nothing."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """Threshold of every category that has none of its own; without one, it is calibrated."""
    response: Responses = Field(default_factory=dict)
    """What a blocked person reads where the category has no response of its own."""
    failure_response: Responses = Field(default_factory=dict)
    """What is said when a guard that fails closed could not judge."""
    read_as: dict[str, OneOrMore] = Field(default_factory=dict)
    """Words and names that make no difference to meaning, by what it reads in their place."""
    categories: dict[str, CategoryYaml] = Field(min_length=1)
    """By name: letters, digits, `.`, `_` and `-`."""


RESPONSE_VARIABLES = frozenset({"question", "category", "adapter", "language"})
"""What a response may name."""


@dataclass(frozen=True, slots=True)
class LoadedGuards:
    guards: GuardSet | None
    problems: tuple[Problem, ...]


def load_guards(paths: Sequence[Path], environ: Mapping[str, str]) -> LoadedGuards:
    """Read packs into one set, in their order; the first failure response holds for all."""
    problems: list[Problem] = []
    categories: dict[str, Category] = {}
    names: list[str] = []
    failure: Mapping[str, tuple[str, ...]] = {}
    read_as: dict[str, tuple[str, ...]] = {}
    for path in paths:
        document = read_yaml(path, environ)
        pack, found = validate(PackYaml, document)
        problems += [*document.problems, *found]
        if pack is None:
            continue
        problems += _pack_problems(pack, document)
        names.append(pack.name)
        failure = failure or pack.failure_response
        for key, words in pack.read_as.items():
            read_as[key] = (*read_as.get(key, ()), *words)
        for name, written in pack.categories.items():
            if name in categories:
                what = f"category {name!r} is defined twice"
                problems.append(
                    Problem(what, document.where(("categories", name)), "duplicate-category")
                )
            categories[name] = _category(name, written, pack)
    if any(problem.severity == "error" for problem in problems):
        return LoadedGuards(None, tuple(problems))
    made = GuardSet("+".join(names), tuple(categories.values()), failure, read_as)
    return LoadedGuards(made, tuple(problems))


def _category(name: str, written: CategoryYaml, pack: PackYaml) -> Category:
    route = written.route_to
    return Category(
        name=name,
        action=written.action,
        patterns=written.patterns,
        examples=tuple(dict.fromkeys(written.examples)),
        responses=written.response or pack.response,
        threshold=pack.threshold if written.threshold is None else written.threshold,
        route=GuardRoute(route.adapter, route.template) if route else None,
    )


def _pack_problems(pack: PackYaml, document: Document) -> Iterator[Problem]:
    yield from _response_problems(pack.response, document, ("response",))
    yield from _response_problems(pack.failure_response, document, ("failure_response",))
    for key, words in pack.read_as.items():
        for number, word in enumerate(words):
            if not word.strip() or not key.strip():
                where = document.where(("read_as", key, number))
                yield Problem("read_as: a word is empty", where, "empty-word")
    for name, category in pack.categories.items():
        at: Keys = ("categories", name)
        if not NAME.fullmatch(name):
            what = f"{name!r} cannot be a category; use letters, digits, '.', '_' and '-'"
            yield Problem(what, document.where(at), "bad-name")
        yield from _response_problems(category.response, document, (*at, "response"))
        for number, pattern in enumerate(category.patterns):
            where = document.where((*at, "patterns", number))
            wrong = pattern_problem(pattern)
            if wrong is not None:
                yield Problem(f"pattern cannot be used: {wrong}", where, "bad-pattern")
            elif matches_nothing(pattern):
                what = f"pattern {pattern!r} also matches the empty text, so every question"
                yield Problem(what, where, "bad-pattern")
        for number, example in enumerate(category.examples):
            if not example.strip():
                where = document.where((*at, "examples", number))
                yield Problem("an example is empty", where, "empty-example")


def _response_problems(
    responses: Mapping[str, Sequence[str]], document: Document, at: Keys
) -> Iterator[Problem]:
    for language, texts in responses.items():
        keys = (*at, language) if language else at
        for number, text in enumerate(texts):
            found = examine(text)
            unknown = sorted(found.variables - RESPONSE_VARIABLES)
            where = document.where((*keys, number))
            if found.problem is not None:
                yield Problem(f"response: {found.problem}", where, "bad-template")
            elif unknown:
                known = ", ".join(sorted(RESPONSE_VARIABLES))
                what = f"response: there is no {unknown[0]!r} here; there are: {known}"
                yield Problem(what, where, "unknown-variable")
