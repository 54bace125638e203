"""A small library of tools that write down what they were called with, and its chain."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from server.access.rate_limits import RateLimits
from server.audit.entry import AuditSeal, Sink
from server.audit.table import TableSink
from server.audit.writer import AuditWriter
from server.core.tools import ToolCall, ToolDefinition, ToolParameter
from server.core.turn import Caller
from server.library.model import (
    BuiltinExecution,
    CallPolicy,
    Domain,
    Library,
    Parameter,
    Template,
)
from server.settings.models import AccessSettings
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import CallOutcome, Guardrails, PolicyChain, build_chain
from server.tools.policy.checks import Proposal
from server.tools.registry import ToolRegistry

NOW = datetime(2025, 3, 4, 10, 0, tzinfo=UTC)
SEAL = AuditSeal(b"s" * 32)


class Desk:
    """A tool that takes anything, and remembers what reached it."""

    name = "desk"
    quick = True

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []
        names = ("note", "pay", "echo", "fail", "report", "erase")
        self.operations = {
            name: ToolDefinition(name, "", (ToolParameter("x", "string"),)) for name in names
        }

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        self.ran.append((operation, dict(arguments)))
        if operation == "fail":
            raise RuntimeError(f"cannot file {arguments}")
        if operation == "echo":
            return {"result": f"you said {arguments}", "input": dict(arguments)}
        return {"result": "done", "operation": operation}


def template(name: str, parameters: tuple[Parameter, ...] = (), **more: Any) -> Template:
    policy = {n: more.pop(n) for n in list(more) if n in CallPolicy.__dataclass_fields__}
    return Template(
        id=name,
        description=f"To {name}",
        kind="function",
        nl_examples=(name,),
        parameters=parameters,
        execution=BuiltinExecution("desk", more.pop("operation", name)),
        policy=CallPolicy(**policy),
        **more,
    )


TEXT = Parameter("text", "string", min_length=1, max_length=100)
NOTE = template("note", (TEXT,))
PAY = template(
    "pay",
    (
        Parameter("amount", "number", ge=1, le=1000),
        Parameter("currency", "string", enum=("EUR", "USD"), default="EUR"),
        Parameter("code", "string", pattern=r"^[0-9]{3}$", required=False),
    ),
    effect="write",
    requires_auth=True,
    allowed_roles=("premium", "admin"),
    rate_limit=("3/hour",),
)
REPORT = template("report", rate_limit=("20/hour",))
ERASE = template("erase", (TEXT,), effect="write", allowed_roles=("admin",), confirm=True)
ECHO = template(
    "echo",
    (
        Parameter("secret", "string"),
        Parameter("profile", "object", required=False),
        Parameter("text", "string", required=False),
    ),
    sensitive_params=("secret", "profile.card"),
)
FAIL = replace(ECHO, id="fail", execution=BuiltinExecution("desk", "fail"))
FILTER = template(
    "filter",
    (
        Parameter(
            "rows",
            "array",
            max_length=5,
            items={
                "type": "object",
                "properties": {"id": {"type": "integer", "minimum": 1}},
                "required": ["id"],
                "additionalProperties": False,
            },
        ),
        Parameter("day", "date", required=False),
        Parameter("mail", "email", required=False),
        Parameter("exact", "boolean", required=False),
        Parameter("level", "integer", ge=1, le=5, required=False),
    ),
    operation="note",
)
LIBRARY = Library(Domain("desk"), {t.id: t for t in (NOTE, PAY, REPORT, ERASE, ECHO, FAIL, FILTER)})
INTENTS = {
    "WRITE": ("note", "echo", "fail", "filter"),
    "PAY": ("pay",),
    "LOOK": ("report",),
    "CLEAN": ("erase",),
    "CHAT": (),
}

ANA = Caller("k1", "desk", user_id="ana", role="user")
PIA = Caller("k2", "desk", user_id="pia", role="premium")
ADA = Caller("k3", "desk", user_id="ada", role="admin")
NOBODY = Caller("k4", "desk", role="guest")
"""A key that belongs to no user."""


@dataclass
class Bench:
    """A chain with what is behind it in reach."""

    chain: PolicyChain
    desk: Desk
    trail: AuditWriter
    sink: Sink
    limits: RateLimits = field(default_factory=RateLimits)

    async def ask(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        caller: Caller = ADA,
        intent: str | None = None,
        confirmed: bool = False,
        of_proposal: Mapping[str, Any] | None = None,
        **call: Any,
    ) -> CallOutcome:
        wanted = {"tool": "desk", "operation": _operation(name), **call}
        proposal = Proposal(
            ToolCall(name, arguments=arguments or {}, **wanted),
            caller,
            request_id="r1",
            intent=intent,
            confirmed=confirmed,
            **(of_proposal or {}),
        )
        return await self.chain.carry_out(proposal, timeout_s=5)

    async def events(self) -> list[dict[str, Any]]:
        await self.trail.flush()
        return [dict(entry.event) for entry in self.sink.entries()]


def _operation(name: str) -> str:
    found = LIBRARY.templates.get(name)
    return found.execution.operation if found is not None else name


def bench(
    folder: Path,
    *,
    intents: bool = False,
    access: AccessSettings | None = None,
    sink: Sink | None = None,
    limits: RateLimits | None = None,
) -> Bench:
    """A chain over the desk, with a real table for its audit."""
    desk = Desk()
    registry = ToolRegistry([desk])
    kept = sink or TableSink(f"sqlite:///{folder / 'audit.db'}", SEAL)
    trail = AuditWriter(kept)
    guardrails = Guardrails(limits or RateLimits(), trail, access or AccessSettings())
    chain = build_chain(
        "desk",
        LIBRARY,
        registry,
        ToolExecutor(registry),
        guardrails,
        intent_tools=INTENTS if intents else None,
    )
    return Bench(chain, desk, trail, kept, guardrails.limits)
