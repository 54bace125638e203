"""An adapter's rule pack, and whether its templates speak of what the pack knows."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from server.core.suggestions import did_you_mean, quoted
from server.core.turn import Intent
from server.errors import Problem
from server.intents.compiler import load_pack
from server.intents.detector import IntentDetector
from server.intents.pack import Pack
from server.library.model import Library, Template
from server.settings.adapters import AdapterSettings

_MOST_QUOTED: Final = 3


def read_pack(
    adapter: AdapterSettings, environ: Mapping[str, str]
) -> tuple[Pack | None, list[Problem]]:
    """The pack that `config.intents` names, if any, and all that is wrong with it."""
    path = adapter.config.intents
    if path is None:
        problems = []
        if adapter.config.intents_semantic:
            what = "intents_semantic compares the examples of a pack; name one with intents"
            problems.append(Problem(what, adapter.where, "pack-missing", "warning"))
        return None, problems
    loaded = load_pack(path, environ)
    return loaded.pack, list(loaded.problems)


class IntentReader:
    """What a pack makes of the examples of a library, on one and the same day."""

    def __init__(self, pack: Pack | None) -> None:
        self._detector = None if pack is None else IntentDetector(pack)

    def __call__(self, question: str) -> Intent | None:
        if self._detector is None:
            return None
        return self._detector.detect(question, datetime(2025, 1, 1, tzinfo=UTC)).intent


def declaration_problems(library: Library, pack: Pack | None, read: IntentReader) -> list[Problem]:
    """What templates declare to be for, and the pack does not know or finds otherwise."""
    return [
        problem
        for template in library.templates.values()
        for problem in _of_template(template, pack, read)
    ]


def _of_template(template: Template, pack: Pack | None, read: IntentReader) -> Iterator[Problem]:
    if not (template.intents or template.when):
        return
    if pack is None:
        what = f"{template.id!r} declares intents, and the adapter has no rule pack to detect them"
        yield Problem(what, template.where, "pack-missing", "warning", template.id)
        return
    unknown = list(_unknown(template, pack))
    for kind, what in unknown:
        yield Problem(what, template.where, kind, template=template.id)
    if unknown:
        return
    against = [ask for ask in template.nl_examples if template.agrees(read(ask)) is False]
    if against:
        shown = "; ".join(quoted(ask) for ask in against[:_MOST_QUOTED])
        rest = len(against) - _MOST_QUOTED
        shown += f"; and {rest} more" if rest > 0 else ""
        what = f"{template.id!r} is not for what the rule pack finds in its own examples: {shown}"
        yield Problem(what, template.where, "example-contradicted", "warning", template.id)


def _unknown(template: Template, pack: Pack) -> Iterator[tuple[str, str]]:
    for intent in template.intents:
        if intent not in pack.intents:
            what = f"intents: unknown intent {intent!r}; {did_you_mean(intent, list(pack.intents))}"
            yield "unknown-intent", what
    entities = {entity.name: entity for entity in pack.entities}
    operations = pack.operations
    known = list(entities) if operations is None else [*entities, operations.entity]
    for name, values in template.when.items():
        if name not in known:
            yield "unknown-entity", f"when: unknown entity {name!r}; {did_you_mean(name, known)}"
            continue
        for value in values:
            if operations is not None and name == operations.entity:
                if value not in operations.names:
                    what = (
                        f"when: unknown {name} {value!r}; {did_you_mean(value, operations.names)}"
                    )
                    yield "unknown-operation", what
            elif (why := entities[name].value_problem(value)) is not None:
                yield "unknown-value", f"when: {name} is never {quoted(value)}; {why}"
