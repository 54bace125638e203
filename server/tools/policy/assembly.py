"""From settings and a library to the chain of an adapter."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server.access.rate_limits import RateLimits
from server.audit.writer import AuditWriter
from server.core.suggestions import unknown
from server.errors import Location, Problem
from server.library.model import Library
from server.settings.access import AccessSettings
from server.tools.policy.chain import PolicyChain, Runner
from server.tools.policy.rates import Rates
from server.tools.policy.recorder import AuditRecorder
from server.tools.policy.template_checks import Roles, checks_of
from server.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class Guardrails:
    """What the chains of all adapters share."""

    limits: RateLimits
    trail: AuditWriter | None = None
    access: AccessSettings = field(default_factory=AccessSettings)

    @property
    def roles(self) -> Roles:
        return Roles(self.access.roles.names, self.access.roles.order)

    async def close(self) -> None:
        """Write what waits, and let go of what counts."""
        if self.trail is not None:
            await self.trail.close()
        await self.limits.close()


def build_chain(
    adapter: str,
    library: Library,
    registry: ToolRegistry,
    runner: Runner,
    guardrails: Guardrails,
    *,
    intent_tools: Mapping[str, tuple[str, ...]] | None = None,
    system: Mapping[str, frozenset[str]] | None = None,
) -> PolicyChain:
    """Put the steps together, in the order that is promised.

    `system` says which system parameters the functions of Python templates take.
    """
    allowed = None
    if intent_tools is not None:
        allowed = {intent: frozenset(names) for intent, names in intent_tools.items()}
    audit = guardrails.access.audit
    return PolicyChain(
        checks_of(library, registry, guardrails.roles, allowed, system or {}),
        Rates(guardrails.limits, adapter),
        runner,
        AuditRecorder(guardrails.trail, adapter, audit.failing_reads, audit.failing_writes),
    )


def role_problems(library: Library, roles: tuple[str, ...]) -> list[Problem]:
    """Roles that templates name and that are not there: `unknown-role`."""
    return [
        Problem(
            f"template {template.id!r}: {unknown('role', role, roles)}",
            template.where,
            "unknown-role",
            template=template.id,
        )
        for template in library.templates.values()
        for role in template.policy.allowed_roles
        if role not in roles
    ]


def intent_tools_problems(
    library: Library, intent_tools: Mapping[str, tuple[str, ...]], where: Location
) -> list[Problem]:
    """Templates that intents allow and that nobody wrote: `unknown-template`."""
    written = library.written
    return [
        Problem(
            f"intent_tools of {intent!r}: {unknown('template', name, library.templates)}",
            where,
            "unknown-template",
        )
        for intent, names in intent_tools.items()
        for name in names
        if written is not None and name not in written
    ]
