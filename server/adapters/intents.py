"""An adapter's rule pack, and whether its templates and policy fit what the pack knows."""

from collections.abc import Iterable, Iterator, Mapping
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
from server.tools.template_lint import intent_tools_problems

_MOST_QUOTED: Final = 3
_EXAMPLES_READ_AT: Final = datetime(2025, 1, 1, tzinfo=UTC)


def load_adapter_pack(
    adapter: AdapterSettings, environ: Mapping[str, str]
) -> tuple[Pack | None, list[Problem]]:
    """Return the pack that `config.intents` names, if any, and its problems."""
    path = adapter.config.intents
    if path is not None:
        loaded = load_pack(path, environ)
        return loaded.pack, list(loaded.problems)
    written = adapter.config.model_fields_set
    if "intents_semantic" not in written or not adapter.config.intents_semantic:
        return None, []
    what = "intents_semantic compares the examples of a pack; name one with intents"
    return None, [Problem(what, adapter.where, "pack-missing", "warning")]


def intent_tool_problems(
    adapter: AdapterSettings, library: Library, pack: Pack | None
) -> list[Problem]:
    """Return what is wrong with `intent_tools`; `pack` is None when it cannot be used."""
    intent_tools = adapter.config.policy.intent_tools
    problems = intent_tools_problems(library, intent_tools or {}, adapter.where)
    if adapter.config.intents is None and intent_tools is not None:
        what = "intent_tools needs a rule pack that detects the intents; name one with intents"
        problems.append(Problem(what, adapter.where, "intent-pack-missing"))
    for what in _unknown_intents("intent_tools", intent_tools or (), pack) if pack else ():
        problems.append(Problem(what, adapter.where, "unknown-intent"))
    return problems


def _unknown_intents(key: str, intents: Iterable[str], pack: Pack) -> list[str]:
    known = list(pack.intents)
    unknown = [intent for intent in intents if intent not in known]
    return [
        f"{key}: unknown intent {intent!r}; {did_you_mean(intent, known)}" for intent in unknown
    ]


class PackReader:
    """Reads the examples of a library by a pack, all on the same day."""

    def __init__(self, pack: Pack | None) -> None:
        self._pack = pack
        self._detector = None if pack is None else IntentDetector(pack)

    def __call__(self, question: str) -> Intent | None:
        detector = self._detector
        return None if detector is None else detector.detect(question, _EXAMPLES_READ_AT).intent

    def template_problems(self, library: Library) -> Iterator[Problem]:
        """Yield intents and entities that templates declare and the pack does not find."""
        for template in library.templates.values():
            if not (template.intents or template.when):
                continue
            if self._pack is None:
                what = "declares intents, and the adapter has no rule pack to detect them"
                yield Problem(
                    f"{template.id!r} {what}",
                    template.where,
                    "pack-missing",
                    "warning",
                    template.id,
                )
                continue
            unknown = list(_unknown_declarations(template, self._pack))
            for kind, what in unknown:
                yield Problem(what, template.where, kind, template=template.id)
            if not unknown:
                yield from self._contradictions(template)

    def _contradictions(self, template: Template) -> Iterator[Problem]:
        against = [ask for ask in template.nl_examples if template.agrees(self(ask)) is False]
        if against:
            shown = "; ".join(quoted(ask) for ask in against[:_MOST_QUOTED])
            rest = len(against) - _MOST_QUOTED
            shown += f"; and {rest} more" if rest > 0 else ""
            what = "is not for what the rule pack finds in its own examples"
            yield Problem(
                f"{template.id!r} {what}: {shown}",
                template.where,
                "example-contradicted",
                "warning",
                template.id,
            )


def _unknown_declarations(template: Template, pack: Pack) -> Iterator[tuple[str, str]]:
    for what in _unknown_intents("intents", template.intents, pack):
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
                    hint = did_you_mean(value, operations.names)
                    yield "unknown-operation", f"when: unknown {name} {value!r}; {hint}"
            elif (why := entities[name].value_problem(value)) is not None:
                yield "unknown-value", f"when: {name} is never {quoted(value)}; {why}"
