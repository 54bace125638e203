"""Guard packs from YAML: one set, or everything that is wrong with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from server.core.problems import Location, Problem
from server.guards.model import Category, GuardSet, Route
from server.guards.pack_yaml import CategoryYaml, PackYaml
from server.library.jinja import examine
from server.library.patterns import matches_nothing, pattern_problem
from server.settings.fields import NAME
from server.settings.source import Document, Keys, read_yaml
from server.settings.validation import validate

RESPONSE_VARIABLES = frozenset({"question", "category", "adapter", "language"})
"""What a response may name."""


@dataclass(frozen=True, slots=True)
class LoadedGuards:
    """A set, or None when a problem is an error."""

    guards: GuardSet | None
    problems: tuple[Problem, ...]


def load_guards(paths: Sequence[Path], environ: Mapping[str, str]) -> LoadedGuards:
    """Read packs into one set, in their order. Never raises for what they hold.

    The threshold, response and failure response of a pack hold for its own categories;
    where two packs have a failure response, the first has the word.
    """
    problems: list[Problem] = []
    categories: dict[str, Category] = {}
    names: list[str] = []
    failure: Mapping[str, tuple[str, ...]] = {}
    for path in paths:
        document = read_yaml(path, environ)
        pack, found = validate(PackYaml, document)
        problems += [*document.problems, *found]
        if pack is None:
            continue
        problems += _judged(pack, document)
        names.append(pack.name)
        failure = failure or pack.failure_response
        for name, written in pack.categories.items():
            if name in categories:
                what = f"category {name!r} is defined twice"
                problems.append(
                    Problem(what, document.where(("categories", name)), "duplicate-category")
                )
            categories[name] = _category(name, written, pack)
    if any(problem.severity == "error" for problem in problems):
        return LoadedGuards(None, tuple(problems))
    made = GuardSet("+".join(names), tuple(categories.values()), failure_responses=failure)
    return LoadedGuards(made, tuple(problems))


def _category(name: str, written: CategoryYaml, pack: PackYaml) -> Category:
    route = written.route_to
    return Category(
        name=name,
        action=written.action,
        description=written.description,
        patterns=written.patterns,
        examples=tuple(dict.fromkeys(written.examples)),
        responses=written.response or pack.response,
        threshold=pack.threshold if written.threshold is None else written.threshold,
        route=Route(route.adapter, route.template) if route else None,
    )


def _judged(pack: PackYaml, document: Document) -> Iterator[Problem]:
    yield from _responses(pack.response, document, ("response",))
    yield from _responses(pack.failure_response, document, ("failure_response",))
    for name, category in pack.categories.items():
        at: Keys = ("categories", name)
        if not NAME.fullmatch(name):
            what = f"{name!r} cannot be a category; use letters, digits, '.', '_' and '-'"
            yield Problem(what, document.where(at), "bad-name")
        yield from _responses(category.response, document, (*at, "response"))
        for number, pattern in enumerate(category.patterns):
            where = _item(document, (*at, "patterns"), number)
            wrong = pattern_problem(pattern)
            if wrong is not None:
                yield Problem(f"pattern cannot be used: {wrong}", where, "bad-pattern")
            elif matches_nothing(pattern):
                what = f"pattern {pattern!r} also matches the empty text, so every question"
                yield Problem(what, where, "bad-pattern")
        for number, example in enumerate(category.examples):
            if not example.strip():
                where = _item(document, (*at, "examples"), number)
                yield Problem("an example is empty", where, "empty-example")


def _responses(
    responses: Mapping[str, Sequence[str]], document: Document, at: Keys
) -> Iterator[Problem]:
    for language, texts in responses.items():
        keys = (*at, language) if language else at
        for number, text in enumerate(texts):
            found = examine(text)
            unknown = sorted(found.variables - RESPONSE_VARIABLES)
            where = _item(document, keys, number)
            if found.problem is not None:
                yield Problem(f"response: {found.problem}", where, "bad-template")
            elif unknown:
                known = ", ".join(sorted(RESPONSE_VARIABLES))
                what = f"response: there is no {unknown[0]!r} here; there are: {known}"
                yield Problem(what, where, "unknown-variable")


def _item(document: Document, keys: Keys, number: int) -> Location:
    """Where one of several stands; a single text stands at its key."""
    return document.where((*keys, number))
