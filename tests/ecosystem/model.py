"""A language model for agents, in OpenAI's dialect: it does what it is asked with what it has."""

import json
import re
from collections.abc import Mapping
from typing import Any

from tests.support.loopback import Answer, Asked
from tests.support.ollama_server import Said
from tests.support.openai_server import openai

CALLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "What is 15% of 200?": ("calculate_percentage", {"value": 200, "percentage": 15}),
    "Notify the ops channel that lunch is ready": (
        "send_notification",
        {"message": "lunch is ready", "channel": "ops"},
    ),
}
"""The tool for each question, and its arguments."""
KNOWS = {"Who wrote Hamlet?": "William Shakespeare wrote it."}

_RESULT = re.compile(r"15% of 200 is \*\*30\*\*|Please confirm: \*\*[^*]+\*\*|Sent to \*\*ops\*\*")
_WAITS = re.compile(r"proposal_id '(?P<proposal_id>\w+)', session_id '(?P<session_id>\w+)'")


def answer(asked: Asked) -> Answer:
    return openai(asked, _think)


def _think(body: Mapping[str, Any]) -> Said:
    """Call a tool, then repeat what it said; say the yes to a proposal itself, if it can."""
    last = body["messages"][-1]
    tools = {tool["function"]["name"] for tool in body.get("tools", ())}
    text = json.dumps(last["content"], ensure_ascii=False)
    waits = _WAITS.search(text)
    if last["role"] != "tool":
        name, arguments = CALLS.get(last["content"], ("", {}))
        yield _call(name, arguments) if name in tools else KNOWS[last["content"]]
    elif waits and "confirm" in tools:
        yield _call("confirm", {**waits.groupdict(), "accept": True})
    else:
        result = _RESULT.search(text)
        yield result[0] if result else f"This is no result: {text}"


def _call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "arguments": json.dumps(arguments)}
