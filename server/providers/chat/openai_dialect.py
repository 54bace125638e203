"""What a server that speaks OpenAI's protocol does not take, learnt from its refusals."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_WORTH_ANOTHER_TRY: Final = frozenset({400, 415, 422, 500, 501})
"""How servers refuse a parameter; some of them fall over it instead."""

_ABOUT_FORMAT: Final = re.compile("response_format|json_schema|json_object|schema|grammar")


_FORMS: Final = ("json_schema", "json_object with schema", "json_object", "none")
"""How a reply in JSON is asked for, best first; the second is llama.cpp's and some others'."""


class Dialect:
    """Starts with all that OpenAI documents, and gives up what is refused, for good."""

    def __init__(self) -> None:
        self._forms = list(_FORMS)
        self._limit = "max_tokens"
        self._dropped: set[str] = set()

    def body(self, asked: Mapping[str, Any], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        """The request as this server takes it."""
        body = {key: value for key, value in asked.items() if key not in self._dropped}
        body[self._limit] = body.pop("max_tokens")
        if schema is None:
            return body
        if self._forms[0] == "json_schema":
            form = {"name": "reply", "schema": dict(schema), "strict": is_strict(schema)}
            return body | {"response_format": {"type": "json_schema", "json_schema": form}}
        told = f"Answer with JSON alone, which fits this JSON schema: {json.dumps(schema)}"
        body["messages"] = _with_system(asked["messages"], told)
        if self._forms[0] == "json_object with schema":
            body["response_format"] = {"type": "json_object", "schema": dict(schema)}
        elif self._forms[0] == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def learn(self, status: int, reason: str, body: Mapping[str, Any]) -> bool:
        """Whether another try, without what was refused, is worth it."""
        if status not in _WORTH_ANOTHER_TRY:
            return False
        if "max_completion_tokens" in reason and "max_tokens" in body:
            self._limit = "max_completion_tokens"
            return True
        for optional in ("stream_options", "temperature"):
            if optional in reason and optional in body:
                self._dropped.add(optional)
                return True
        if "response_format" in body and _ABOUT_FORMAT.search(reason):
            refused = _form_of(body["response_format"])
            if self._forms[0] == refused:  # others may have learnt the same meanwhile
                self._forms.pop(0)
            return True
        return False


def _form_of(asked: Mapping[str, Any]) -> str:
    return f"{asked['type']} with schema" if "schema" in asked else str(asked["type"])


def is_strict(schema: Any) -> bool:
    """Whether a schema is closed everywhere, as OpenAI wants it to be for `strict`."""
    if isinstance(schema, list):
        return all(is_strict(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    if schema.get("type") == "object" or isinstance(properties, Mapping):
        names = set(properties or ())
        if (
            schema.get("additionalProperties") is not False
            or set(schema.get("required", ())) != names
        ):
            return False
    return all(is_strict(part) for part in schema.values())


def _with_system(messages: list[dict[str, str]], told: str) -> list[dict[str, str]]:
    """One system message, at the head: some chat templates take no other."""
    if messages and messages[0]["role"] == "system":
        head = {"role": "system", "content": f"{messages[0]['content']}\n\n{told}"}
        return [head, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]
