"""A model whose JSON is held to its schema, whatever its provider can force."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn

import jsonschema_rs

from server.core.chat_messages import FunctionCall, Message, Reply, TokenUsage
from server.core.tools import ToolDefinition
from server.errors import ProviderRejected
from server.providers.wrappers import ChatModelWrapper

_FENCED: Final = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_LONGEST: Final = 1_000_000
_SEPARATORS: Final = re.compile(r"[\s_-]+")


class NotJson(ValueError):
    """The text is not JSON; the message says where it stops being so."""


def parse_json(text: str) -> Any:
    """Return the JSON value that `text` is, in a Markdown fence or without.

    Raises `NotJson`: it is none, or one that other programs would not read (`NaN`).
    """
    if len(text) > _LONGEST:
        raise NotJson("it is too long")
    fenced = _FENCED.match(text)
    try:
        return json.loads(fenced[1] if fenced else text, parse_constant=_refuse)
    except json.JSONDecodeError as broken:
        raise NotJson(f"it is no JSON ({broken.msg} at character {broken.pos})") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except ValueError:  # such as an integer of 5000 digits
        raise NotJson("it holds a number that cannot be used") from None


def schema_violation(data: Any, schema: Mapping[str, Any]) -> str | None:
    """Return where and how `data` breaks `schema`, without the data itself; None when it fits.

    Patterns run in linear time.
    """
    validator = jsonschema_rs.validator_for(
        dict(schema), pattern_options=jsonschema_rs.RegexOptions()
    )
    for error in validator.iter_errors(data):
        place = "/".join(str(part) for part in error.instance_path)
        broken = error.schema_path[-1] if error.schema_path else "schema"
        return f"{place or 'it'} breaks the schema's {broken!r}"
    return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


_SHOWN: Final = 4000
"""Characters of a failed attempt that the model is shown again."""


class StructuredChatModel(ChatModelWrapper):
    """Reads and checks `data`; a reply that does not fit may be mended once."""

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[ToolDefinition] = (),
        max_tokens: int | None = None,
    ) -> Reply:
        reply = await self._model.complete(
            messages, schema=schema, tools=tools, max_tokens=max_tokens
        )
        if schema is None or reply.calls:
            return reply
        data, amiss = _read_data(reply, schema)
        if amiss is None:
            return replace(reply, data=data)
        if reply.cut:  # it would run into the same limit again
            raise ProviderRejected(
                f"{self.name} ran into its limit of tokens before its JSON was done"
            )
        mended = await self._model.complete(
            [
                *messages,
                Message("assistant", reply.text[:_SHOWN]),
                Message(
                    "user", f"That cannot be used: {amiss}. Answer with nothing but valid JSON."
                ),
            ],
            schema=schema,
            max_tokens=max_tokens,
        )
        data, amiss = _read_data(mended, schema)
        if amiss is not None:
            raise ProviderRejected(f"{self.name} did not keep to the schema: {amiss}")
        return replace(mended, data=data, tokens=_sum_tokens(reply.tokens, mended.tokens))


def _read_data(reply: Reply, schema: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Return the data of a reply, and what is wrong with it."""
    data = reply.data
    if data is None:
        try:
            data = parse_json(reply.text)
        except NotJson as no:
            return None, str(no)
    data = in_listed_spelling(data, schema)
    return data, schema_violation(data, schema)


def in_listed_spelling(data: Any, schema: Mapping[str, Any]) -> Any:
    """Return `data` with each text of an enumeration in the spelling that the schema lists.

    Case, blanks, hyphens and underscores make no difference: ` Cancel-Order ` is `cancel_order`.
    """
    if isinstance(data, Mapping):
        parts = schema.get("properties")
        known = parts if isinstance(parts, Mapping) else {}
        return {
            name: in_listed_spelling(value, known[name]) if name in known else value
            for name, value in data.items()
        }
    if isinstance(data, list) and isinstance(schema.get("items"), Mapping):
        return [in_listed_spelling(each, schema["items"]) for each in data]
    listed = schema.get("enum")
    if not isinstance(data, str) or not isinstance(listed, list | tuple) or data in listed:
        return data
    alike = [one for one in listed if isinstance(one, str) and _plain(one) == _plain(data)]
    return alike[0] if len(alike) == 1 else data


def _plain(text: str) -> str:
    return "_".join(_SEPARATORS.sub(" ", text).casefold().split())


def _sum_tokens(first: TokenUsage, second: TokenUsage) -> TokenUsage:
    def total(*counts: int | None) -> int | None:
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    return TokenUsage(
        total(first.prompt, second.prompt), total(first.completion, second.completion)
    )


_NONE: Final = "none"
"""The name that stands for no function; a function of that name would not be called."""


def call_schema(tools: Sequence[ToolDefinition]) -> dict[str, Any]:
    """Return the JSON schema of a call of one of `tools`, or of the decision for none."""
    calls = [
        _closed(
            name={"const": tool.name},
            arguments=tool.to_openai_schema()["function"]["parameters"]
            | {"additionalProperties": False},
        )
        for tool in tools
    ]
    return {"anyOf": [*calls, _closed(name={"const": _NONE})]}


def _closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def describe_tools(messages: Sequence[Message], tools: Sequence[ToolDefinition]) -> list[Message]:
    """Return the messages with a description of the functions before them."""
    listed = "\n".join(json.dumps(tool.to_openai_schema()["function"]) for tool in tools)
    told = (
        f"You can call one of these functions:\n{listed}\n"
        'Answer with {"name": …, "arguments": {…}}, '
        f'or with {{"name": "{_NONE}"}} when none of them fits.'
    )
    if messages and messages[0].role == "system":
        return [Message("system", f"{messages[0].content}\n\n{told}"), *messages[1:]]
    return [Message("system", told), *messages]


def with_call(reply: Reply, tools: Sequence[ToolDefinition]) -> Reply:
    """Return the reply with the call that its text describes; any other text stays text."""
    try:
        found = parse_json(reply.text)
    except NotJson:
        return reply
    if not isinstance(found, Mapping):
        return reply
    name, arguments = found.get("name"), found.get("arguments")
    if name == _NONE:
        return replace(reply, text="")
    if name not in {tool.name for tool in tools} or not isinstance(arguments, dict):
        return reply
    return replace(reply, text="", calls=(FunctionCall(str(name), arguments),))
