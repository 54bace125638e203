"""Templates as tools: their names, what they take, and what calling them may change."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from mcp_types import Tool, ToolAnnotations

from server.chat.adapter import Adapter
from server.chat.sources import (
    OpenTemplate,
    serving_sources,
    shared_library,
    templates_open_to,
)
from server.core.json import to_json
from server.core.redaction import Redactor
from server.core.sources import qualified_id
from server.core.storable import storable_data
from server.core.turn import SESSION_ID, Caller
from server.library.http_model import HttpExecution
from server.library.model import Parameter, Template

ASK: Final = "ask"
CONFIRM: Final = "confirm"

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
_MAX_NAME: Final = 64
"""What the APIs of models take, to which agents pass names on; the protocol has longer ones."""
_DESTROYING: Final = frozenset({"DELETE", "PUT", "PATCH"})
"""Methods that take something away or write over it."""
_REPEATABLE: Final = frozenset({"DELETE", "PUT"})

_SESSION: Final = {"type": "string", "pattern": SESSION_ID}
ASK_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "description": "The question, in plain words."},
        "session_id": _SESSION
        | {"description": "Goes on with the conversation of an earlier answer."},
    },
    "required": ["question"],
    "additionalProperties": False,
}
CONFIRM_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "proposal_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 64,
            "description": "The proposal, as an earlier answer names it.",
        },
        "accept": {"type": "boolean", "description": "Whether it shall run."},
        "session_id": _SESSION | {"description": "The conversation that the proposal is of."},
    },
    "required": ["proposal_id", "accept", "session_id"],
    "additionalProperties": False,
}


def named_templates(adapter: Adapter) -> dict[str, OpenTemplate]:
    """Return every template of an adapter and of those behind it, by its name as a tool.

    That is its id; the name of its adapter stands before an id that is taken. The role of whoever
    asks changes no name.
    """
    found = [
        OpenTemplate(qualified_id(one.name, id_) if one is not adapter else id_, one, template)
        for one in (adapter, *serving_sources(adapter))
        for id_, template in one.library.templates.items()
    ]
    ids = Counter(_as_name(each.template.id) for each in found)
    named: dict[str, OpenTemplate] = {}
    for each in found:
        name = _as_name(each.template.id)
        if ids[name] > 1 or name in (ASK, CONFIRM):
            name = _as_name(f"{each.source.name}_{each.template.id}")
        named[_unused(name, named)] = each
    return named


def tools_open_to(adapter: Adapter, caller: Caller) -> dict[str, OpenTemplate]:
    """Return the templates that the caller may run, by their names as tools."""
    usable = {each.id for each in templates_open_to(adapter, caller)}
    return {name: each for name, each in named_templates(adapter).items() if each.id in usable}


def describe_tools(adapter: Adapter, caller: Caller) -> list[Tool]:
    """Return what the caller may call: each template, and `ask` and `confirm` beside them."""
    usable = tools_open_to(adapter, caller)
    changes = any(each.template.effect == "write" for each in usable.values())
    return [
        *(_describe_template(name, each.template) for name, each in usable.items()),
        *_describe_own(adapter, changes=changes),
    ]


def describe_arguments(template: Template) -> str:
    """Return what a template takes, for whoever called it with something else."""
    if not template.parameters:
        return "It takes no arguments."
    said = [
        f"{each.name} ({each.descriptor.json_type}{', required' if each.is_needed else ''})"
        for each in template.parameters
    ]
    return f"It takes {', '.join(said)}."


def plain(value: Any) -> Any:
    """Return `value` as data that every JSON writer can write."""
    return json.loads(to_json(storable_data(value)))


def _describe_template(name: str, template: Template) -> Tool:
    description = template.description
    if not description and template.nl_examples:
        description = f"For example: {template.nl_examples[0]}"
    return Tool(
        name=name,
        description=description or None,
        input_schema=_input_schema(template),
        annotations=_hints(template),
    )


def _input_schema(template: Template) -> dict[str, Any]:
    redactor, now = Redactor(template.policy.sensitive_params), datetime.now().astimezone()
    schema: dict[str, Any] = plain(
        {
            "type": "object",
            "properties": {
                each.name: _parameter_schema(each, now, sensitive=redactor.covers(each.name))
                for each in template.parameters
            },
            "required": [each.name for each in template.parameters if each.is_needed],
            "additionalProperties": False,
        }
    )
    return schema


def _parameter_schema(parameter: Parameter, now: datetime, *, sensitive: bool) -> dict[str, Any]:
    """The schema of one parameter; of a sensitive one, no value is shown."""
    schema = parameter.to_tool_parameter().to_json_schema()
    if sensitive:
        return {name: part for name, part in schema.items() if name not in ("default", "enum")}
    notes = [f"In {parameter.unit}."] if parameter.unit is not None else []
    if parameter.relative_default(now) is not None:  # such as “today”, which is no date
        notes.append(f"Without it: {schema.pop('default')}.")
    if notes:
        schema["description"] = " ".join([schema.get("description", ""), *notes]).strip()
    return schema


def _hints(template: Template) -> ToolAnnotations:
    """What a client may expect of a call once it runs, be it confirmed first or not."""
    execution = template.execution
    method = execution.request.method if isinstance(execution, HttpExecution) else None
    if template.effect == "read":
        destructive, repeatable = False, True
    else:  # of what no method tells about, the worst is expected
        destructive = method is None or method in _DESTROYING
        repeatable = method in _REPEATABLE
    return ToolAnnotations(
        read_only_hint=template.effect == "read",
        destructive_hint=destructive,
        idempotent_hint=repeatable,
        open_world_hint=method is not None,
    )


def _describe_own(adapter: Adapter, *, changes: bool) -> Iterator[Tool]:
    about = shared_library(adapter).domain.description
    yield Tool(
        name=ASK,
        description="Ask in plain words, where no other tool fits or a person's own words are to "
        f"be answered.{f' It knows of: {about}' if about else ''}",
        input_schema=dict(ASK_SCHEMA),
        annotations=ToolAnnotations(
            read_only_hint=not changes,
            destructive_hint=changes,
            idempotent_hint=not changes,
            open_world_hint=True,
        ),
    )
    if adapter.proposals is not None:
        yield Tool(
            name=CONFIRM,
            description="Say yes or no to what an answer proposed, after the person did. A call "
            "that changes something runs only then, and once.",
            input_schema=dict(CONFIRM_SCHEMA),
            annotations=ToolAnnotations(
                read_only_hint=False,
                destructive_hint=True,
                idempotent_hint=True,
                open_world_hint=True,
            ),
        )


def _as_name(text: str) -> str:
    return _NOT_IN_NAMES.sub("_", text)[:_MAX_NAME]


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    number, free = 2, name
    while free in taken:
        free = f"{name[: _MAX_NAME - 8]}_{number}"
        number += 1
    return free
