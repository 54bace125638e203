"""What the client sends and reads is what the OpenAPI document says, and the other way round."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import pytest

from server.api.factory import create_api
from server.api.schemas import AnswerMetadata
from server.client import (
    AdapterReadiness,
    Answer,
    Health,
    KeyInfo,
    Library,
    Proposal,
    Readiness,
    calls,
)
from server.client.calls import Call
from server.metrics.metrics import Metrics

DOCUMENT: dict[str, Any] = create_api(Metrics(), max_body_bytes=1).openapi()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
ALL: list[Call[Any]] = [
    calls.ask("x", "s", {"a": 1}, ["en"], explain=True, stream=True),
    calls.confirm(Proposal(proposal_id="p", session_id="s", seal="x"), accept=True, explain=True),
    calls.feedback("r", "wrong", "s", "no", "t"),
    calls.forget("s"),
    calls.detect("x"),
    calls.health(),
    calls.ready(),
    calls.key_info(),
    calls.library("a"),
    calls.tools("a"),
]


def fields(kind: type) -> set[str]:
    return {each.name for each in dataclasses.fields(kind)}


@pytest.mark.parametrize(
    ("kind", "schema", "own"),
    [
        (Answer, "ChatResponse", {"request_id", "adapter"}),
        (Health, "Health", set()),
        (Readiness, "Readiness", set()),
        (AdapterReadiness, "AdapterReadiness", set()),
        (KeyInfo, "OwnKey", set()),
        (Library, "LibraryResponse", set()),
    ],
)
def test_a_response_has_the_fields_of_its_type(kind: type, schema: str, own: set[str]) -> None:
    assert fields(kind) - own == set(SCHEMAS[schema]["properties"])
    required = {f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING}
    assert required <= set(SCHEMAS[schema]["required"]) | {"status"}


def operation(call: Call[Any]) -> dict[str, Any]:
    parts = call.path.split("/")
    for path, methods in DOCUMENT["paths"].items():
        pattern = path.split("/")
        if len(pattern) == len(parts) and all(
            there == here or there.startswith("{")
            for there, here in zip(pattern, parts, strict=True)
        ):
            found: dict[str, Any] = methods[call.method.lower()]
            return found
    raise AssertionError(f"{call.method} {call.path} is not in the document")


@pytest.mark.parametrize("call", ALL, ids=lambda call: f"{call.method} {call.path}")
def test_a_call_sends_what_is_documented(call: Call[Any]) -> None:
    documented = operation(call)
    body = documented.get("requestBody", {}).get("content", {}).get("application/json", {})
    assert set(call.body or ()) == set(body.get("schema", {}).get("properties", ()))


class Watched(dict[str, Any]):
    """A mapping that knows what was looked for in it."""

    def __init__(self, data: Mapping[str, Any], asked: set[str]) -> None:
        super().__init__(data)
        self.asked = asked

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.asked.add(name)
        return super().get(name, default)


def test_what_is_read_from_metadata_is_documented() -> None:
    asked, of_call, of_proposal = set[str](), set[str](), set[str]()
    proposal = Watched({"status": "held", "proposal_id": "p"}, of_proposal)
    execution = Watched({"status": "success", "parameters": {}}, of_call)
    for found in ({}, {"proposal": proposal}, {"tool_execution": execution}):
        answer = Answer(
            content="",
            confidence=1.0,
            session_id="s",
            metadata=Watched({"source": "intent", "template_id": None, **found}, asked),
        )
        for name, each in vars(Answer).items():
            if isinstance(each, property):
                getattr(answer, name)
    assert asked <= set(AnswerMetadata.model_fields)
    assert {"proposal", "tool_execution", "nearest", "missing", "calls"} <= asked
    assert of_call <= set(SCHEMAS["ToolExecution"]["properties"])
    assert of_proposal <= set(SCHEMAS["ShownProposal"]["properties"])
    assert {"proposal_id", "seal", "status"} <= of_proposal
