"""Two requests in one message, through the whole server: plain, streamed and as OpenAI asks."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_whole_server import key_for, readiness, serving
from tests.support.configuring import PERCENTAGE, adapter, configure, write_library

pytestmark = pytest.mark.anyio

ADD: dict[str, Any] = {
    "id": "add_numbers",
    "description": "Add numbers together",
    "tool_type": "function",
    "nl_examples": ["Add 5 and 7", "What is 3 plus 4?", "Sum of 10, 20 and 30", "add up 1 and 2"],
    "tool_name": "calculator",
    "tool_operation": "add",
    "parameters": [{"name": "values", "type": "array", "description": "The numbers"}],
    "response_template": "The sum is **{{ result }}**",
}
MESSAGE = "what is 15% of 200? And add 3 and 4"
CONTENT = "15% of 200 is **30**\n\nThe sum is **7**"


async def test_both_are_answered_on_every_way_in(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums", [PERCENTAGE, ADD])
    configured = configure(tmp_path, [adapter("sums", library)])
    headers = {"X-API-Key": await key_for(configured, "sums")}
    async with serving(configured) as client:
        await readiness(client, {"ready"})
        body = {"message": MESSAGE, "session_id": "s"}
        answer = (await client.post("/chat", json=body, headers=headers)).json()
        further = {"message": "and 5 and 6", "session_id": "s"}
        after = (await client.post("/chat", json=further, headers=headers)).json()
        stream = await client.post("/chat", json={**body, "stream": True}, headers=headers)
        asked = {"messages": [{"role": "user", "content": MESSAGE}]}
        completion = (await client.post("/v1/chat/completions", json=asked, headers=headers)).json()

    metadata = answer["metadata"]
    assert answer["content"] == CONTENT
    assert metadata["template_id"] == "calculate_percentage"
    assert metadata["tool_execution"]["result"]["result"] == 30
    assert [call["template_id"] for call in metadata["calls"]] == [
        "calculate_percentage",
        "add_numbers",
    ]
    second = metadata["calls"][1]
    assert second["tool_execution"]["parameters"] == {"values": [3, 4]}
    assert next(word["text"] for word in second["coverage"] if word["as"] == "value") == "3"
    assert all(MESSAGE[slice(*word["span"])] == word["text"] for word in second["coverage"])
    assert answer["confidence"] == metadata["calls"][0]["confidence"]

    # What a later message goes on with is the last of the calls.
    assert after["metadata"]["template_id"] == "add_numbers"

    events = [json.loads(line[6:]) for line in stream.text.splitlines() if line.startswith("data:")]
    assert events[0]["sources"] == [
        {"template_id": "calculate_percentage"},
        {"template_id": "add_numbers"},
    ]
    assert "".join(each.get("chunk", "") for each in events) == CONTENT
    assert len(events[-1]["metadata"]["calls"]) == 2

    assert completion["choices"][0]["message"]["content"] == CONTENT
    assert len(completion["orbit"]["metadata"]["calls"]) == 2
