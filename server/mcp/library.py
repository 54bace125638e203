"""What a library says of itself: examples as prompts, the domain and its templates as resources."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote, unquote

from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    Completion,
    CompletionArgument,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from server.chat.adapter import Adapter
from server.chat.shown_library import describe_library, describe_template
from server.chat.sources import shared_library
from server.core.json import to_json
from server.core.storable import storable_text
from server.core.suggestions import did_you_mean
from server.core.turn import Caller
from server.mcp.tools import tools_open_to

DOMAIN: Final = "orbit://domain"
_TEMPLATE: Final = "orbit://templates/"
_JSON: Final = "application/json"
_QUESTION: Final = "question"
_MAX_COMPLETIONS: Final = 100


def describe_prompts(adapter: Adapter, caller: Caller) -> list[Prompt]:
    """Return a prompt for each template with examples, which asks one of them."""
    return [
        Prompt(
            name=name,
            title=examples[0],
            description=description or None,
            arguments=[
                PromptArgument(
                    name=_QUESTION,
                    description=f"How to ask it; without one, “{examples[0]}”.",
                    required=False,
                )
            ],
        )
        for name, description, examples in _examples(adapter, caller)
    ]


def get_prompt(
    adapter: Adapter, caller: Caller, name: str, arguments: dict[str, str] | None
) -> GetPromptResult:
    """Return what a prompt asks. Raises `MCPError` where there is none of that name."""
    found = {each[0]: each for each in _examples(adapter, caller)}
    if name not in found:
        raise MCPError(
            INVALID_PARAMS, f"there is no prompt {name!r}; {did_you_mean(name, list(found))}"
        )
    _, description, examples = found[name]
    text = (arguments or {}).get(_QUESTION, "").strip() or examples[0]
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=description or None, messages=[message])


def complete_prompt(
    adapter: Adapter, caller: Caller, name: str, argument: CompletionArgument
) -> Completion:
    """Return the examples of a prompt that hold what was typed so far."""
    typed = argument.value.casefold().strip()
    values = [
        example
        for prompt, _, examples in _examples(adapter, caller)
        if prompt == name and argument.name == _QUESTION
        for example in examples
        if typed in example.casefold()
    ]
    more = len(values) > _MAX_COMPLETIONS
    return Completion(values=values[:_MAX_COMPLETIONS], total=len(values), has_more=more)


def describe_resources(adapter: Adapter, caller: Caller) -> list[Resource]:
    """Return the domain, and each template that the caller may run."""
    domain = Resource(
        uri=DOMAIN,
        name="domain",
        title=storable_text(shared_library(adapter).domain.name),
        description="What this is about: its description, languages and words.",
        mime_type=_JSON,
    )
    return [
        domain,
        *(
            Resource(
                uri=_TEMPLATE + quote(name, safe=""),
                name=name,
                description=each.template.description or None,
                mime_type=_JSON,
            )
            for name, each in tools_open_to(adapter, caller).items()
        ),
    ]


def describe_resource_templates() -> list[ResourceTemplate]:
    return [
        ResourceTemplate(
            uri_template=f"{_TEMPLATE}{{name}}",
            name="template",
            description="A tool: its parameters, examples, and who may call it.",
            mime_type=_JSON,
        )
    ]


def read_resource(adapter: Adapter, caller: Caller, uri: str) -> TextResourceContents:
    """Return a resource as JSON. Raises `MCPError` where there is none at `uri`."""
    return TextResourceContents(
        uri=uri, mime_type=_JSON, text=storable_text(to_json(_read(adapter, caller, uri)))
    )


def _read(adapter: Adapter, caller: Caller, uri: str) -> dict[str, Any]:
    if uri == DOMAIN:
        return {k: v for k, v in describe_library(adapter, caller).items() if k != "templates"}
    usable = tools_open_to(adapter, caller)
    name = unquote(uri.removeprefix(_TEMPLATE))
    if uri.startswith(_TEMPLATE) and name in usable:
        return describe_template(usable[name])
    known = f"there are {DOMAIN} and {_TEMPLATE}NAME, for the tools that tools/list names"
    raise MCPError(INVALID_PARAMS, f"there is no resource {uri[:200]!r}; {known}")


def _examples(adapter: Adapter, caller: Caller) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """The name, description and examples of each prompt."""
    for name, each in tools_open_to(adapter, caller).items():
        if examples := each.template.nl_examples:
            yield name, each.template.description, tuple(map(storable_text, examples))
