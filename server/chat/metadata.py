"""What the metadata of an answer says of decisions, arguments and refusals."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from server.core.decision import Held, Match, Missing
from server.core.tools import Source
from server.tools.policy.proposal import Refusal


def describe_refusal(refusal: Refusal) -> dict[str, Any]:
    """Why a call did not run, as metadata."""
    data: dict[str, Any] = {"outcome": refusal.outcome}
    if refusal.retry_after_s is not None:
        data["retry_after_s"] = refusal.retry_after_s
    return data


def describe_proposal(held: Held) -> dict[str, Any]:
    """What waits for a yes, as metadata."""
    call = held.call
    return {
        "proposal_id": held.proposal_id,
        "status": "held",
        "expires_at": held.expires_at.isoformat(timespec="seconds"),
        "seal": held.seal,
        "intent": held.intent,
        "target": held.target,
        "origin": held.origin,
        "template_id": call.template_id,
        "tool": call.tool,
        "operation": call.operation,
        "effect": call.effect,
        "arguments": dict(call.arguments),
    }


def describe_match(match: Match) -> dict[str, Any]:
    """How the template was chosen, as metadata."""
    data: dict[str, Any] = {
        "confidence": round(match.confidence, 4),
        "similarity": round(match.similarity, 4),
        "nearest_example": match.nearest_example,
        "why": match.why,
    }
    if match.runner_up is not None:
        data["runner_up"] = {
            "template_id": match.runner_up.template_id,
            "confidence": round(match.runner_up.confidence, 4),
        }
    return data


def describe_sources(sources: Mapping[str, Source]) -> dict[str, Any]:
    """Where each argument came from, as metadata."""
    return {name: _described(source) for name, source in sources.items()}


def describe_missing(missing: Missing) -> dict[str, Any]:
    """A parameter that is asked for, as metadata."""
    data = asdict(missing) | {"choices": list(missing.choices)}
    return {name: value for name, value in data.items() if value not in ("", None, [])}


def _described(source: Source) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": source.kind}
    if source.span is not None:
        data |= {"span": list(source.span), "text": source.text}
    if source.note is not None:
        data["note"] = source.note
    return data
