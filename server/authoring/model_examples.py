"""Examples that a chat model proposes for the templates of a draft, judged by their form alone.

What a model writes is text from outside: whoever keeps it also asks it of the draft first.
"""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from server.authoring.drafts import Data, Draft
from server.authoring.phrases import phrases
from server.core.chat_messages import Message
from server.core.json import to_json
from server.core.ports import ChatModel

_MOST: Final = 10
"""Proposals of one template that are read; what a model says beyond that is left unread."""
_MOST_CHARS: Final = 120
_LEAST_WORDS: Final = 2
_MOST_WORDS: Final = 20
_SIGNS: Final = frozenset("{}<>[]|\\`=_*#")
"""What placeholders, mark-up and code are written with, and questions are not."""
_MOST_TOKENS: Final = 600
_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "examples": {"type": "array", "items": {"type": "string"}, "maxItems": _MOST},
    },
    "required": ["examples"],
    "additionalProperties": False,
}


async def propose_examples(model: ChatModel, template: Data) -> tuple[str, ...]:
    """Return what a model would also ask a template, as it wrote it. Raises `ProviderError`."""
    about = {
        "does": template["description"],
        "asked_so_far": template["nl_examples"],
        "values": {name: str(value) for name, value in values_of(template).items()},
        "choices": {p["name"]: p["enum"] for p in template.get("parameters", ()) if "enum" in p},
    }
    messages = [Message("system", phrases().proposing), Message("user", to_json(about))]
    reply = await model.complete(messages, schema=_SCHEMA, max_tokens=_MOST_TOKENS)
    return tuple(dict.fromkeys(" ".join(text.split(" ")) for text in reply.data["examples"]))


def values_of(template: Data) -> dict[str, Any]:
    """The values that a model may put into its proposals, by parameter."""
    listed: Sequence[Data] = template.get("parameters", ())
    return {
        p["name"]: p["example"] for p in listed if isinstance(p.get("example"), str | int | float)
    }


def flaw_of(text: str) -> str:
    """What keeps a text from being a question that somebody types; empty if nothing does."""
    if any(unicodedata.category(char)[0] == "C" for char in text):
        return "it has line breaks or signs that do not show"
    if len(text) > _MOST_CHARS or len(text.split()) > _MOST_WORDS:
        return f"it is longer than {_MOST_WORDS} words or {_MOST_CHARS} characters"
    if not _SIGNS.isdisjoint(text) or "://" in text:
        return "it has signs of placeholders, mark-up or addresses"
    if sum(any(map(str.isalpha, word)) for word in text.split()) < _LEAST_WORDS:
        return f"it has fewer than {_LEAST_WORDS} words"
    return ""


def misreading_of(template: Data, text: str, arguments: Mapping[str, Any]) -> str:
    """What of some arguments the text does not state; empty if all of it is stated.

    `arguments` are those that were read from it. Free text can be anything, so that only the value
    that the model was given counts there; and that value, where it stands, has to be read.
    """
    given = {name: str(value).casefold() for name, value in values_of(template).items()}
    for parameter in template.get("parameters", ()):
        name = parameter["name"]
        read = str(arguments.get(name, "")).casefold()
        own = given.get(name, "")
        is_free = parameter["type"] == "string" and not parameter.keys() & {"enum", "pattern"}
        if is_free and name in arguments and read != own:
            return f"{arguments[name]!r} is read as its {name!r}"
        if is_free and own and own in text.casefold() and read != own:
            return f"its {name!r} is not read"
    return ""


def with_examples(draft: Draft, kept: Mapping[str, Sequence[str]], by: str) -> Draft:
    """Return the draft with more examples, which are marked as the model's where it is written."""
    asks = {name: tuple(texts) for name, texts in kept.items() if texts}
    return replace(draft, proposed=asks, by=" ".join(by.split()))
