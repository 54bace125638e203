"""Decisions for a template that the conversation has led to."""

from collections.abc import Mapping
from typing import Any

from server.core.decision import AskFor, Call, Match, Missing
from server.core.tools import Source, ToolCall
from server.extraction.ambiguity import noted
from server.library.model import Domain, Template


def build(
    template: Template,
    domain: Domain,
    arguments: Mapping[str, Any],
    sources: Mapping[str, Source],
    problems: Mapping[str, str],
    why: str,
) -> Call | AskFor:
    """Call the template with what is known, or ask for what it still needs.

    `problems` say why a value that was given cannot be used. What nobody gave takes the
    template's default.
    """
    known: dict[str, Any] = {}
    origins: dict[str, Source] = {}
    missing: list[Missing] = []
    for parameter in template.parameters:
        name = parameter.name
        problem = problems.get(name, "")
        if name in arguments and not problem:
            known[name] = arguments[name]
            origins[name] = sources.get(name) or Source("conversation")
        elif problem or (parameter.required and parameter.default is None):
            missing.append(
                Missing(
                    name,
                    parameter.description,
                    parameter.type,
                    parameter.enum,
                    parameter.example,
                    problem,
                )
            )
        elif parameter.default is not None:
            known[name] = parameter.default
            origins[name] = Source("default")
    match = Match(template.id, 1.0, 0.0, why)
    origins = dict(noted(known, origins, domain.date_order))
    if missing:
        return AskFor(match, tuple(missing), known, origins)
    call = ToolCall(
        template_id=template.id,
        tool=template.execution.tool,
        operation=template.execution.operation,
        arguments=known,
        sources=origins,
        effect=template.effect,
    )
    return Call(match, call)


def said_before(arguments: Mapping[str, Any]) -> dict[str, Source]:
    """The sources of arguments that an earlier turn brought."""
    return dict.fromkeys(arguments, Source("conversation"))
