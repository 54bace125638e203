"""What a template asks of a call: known, allowed, not too often, right arguments, and a yes."""

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal, get_args
from uuid import UUID

from server.access.rate_limits import RateLimits
from server.core.redaction import REDACTED, Redactor
from server.core.suggestions import did_you_mean, shown_value
from server.core.tools import JsonType, ToolCall
from server.core.turn import Caller
from server.library.caller import CALLER_ARGUMENTS
from server.library.model import BuiltinExecution, Library, Parameter, Template
from server.library.parameter_types import CUSTOM, PARAMETER_TYPES, Constraints, ParameterType
from server.library.parameters import is_compared_with_data
from server.tools.registry import ToolRegistry

ProposedBy = Literal["system", "model", "caller"]
"""What chose a call: the server, a model of its own, or whoever asked, by naming the template."""

Outcome = Literal[
    "started",
    "success",
    "error",
    "timeout",
    "interrupted",
    "tool_unknown",
    "intent_forbids",
    "auth_required",
    "role_forbids",
    "rate_limited",
    "arguments_invalid",
    "confirmation_required",
    "audit_unavailable",
    "commit_unavailable",
]
"""How a call ended, in the audit and in `metadata.policy.outcome`."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A call, who asks for it and why. Nothing in it is trusted until the chain has passed.

    `intent` is what the rule engine found, never what a user or a model says of itself.
    `must_confirm` asks for the user's yes whatever the template says. `confirmed` is set by
    whoever held the call until it came, and `commit` is then called last, just before the
    tool: where it raises `StoreUnavailable`, nothing runs. `proposal_id` is what the call is,
    or would be, held as. `call_id` is the chain's own: the audit has that the call began.
    """

    call: ToolCall
    caller: Caller
    request_id: str = ""
    intent: str | None = None
    proposed_by: ProposedBy = "system"
    must_confirm: bool = False
    confirmed: bool = False
    proposal_id: str | None = None
    call_id: str | None = None
    commit: Callable[[], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a call does not run; `message` is for the person who asked."""

    outcome: Outcome
    message: str
    retry_after_s: float | None = None


SYSTEM_PARAMETERS: Final = CALLER_ARGUMENTS | {"user_id"}
"""Names that no template may use for a parameter of a Python function."""

MAX_TEXT_CHARS: Final = 200_000
MAX_VALUES: Final = 100_000
MAX_LEVELS: Final = 32

_MAX_PROBLEMS: Final = 3
_AUTH_REQUIRED: Final = Refusal("auth_required", "this is only for users who are known by name")


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles there are, least first; an unknown one may do what the first, the guest, may.

    `listed`: a template names each role that may run it. `ordered`: those above may as well.
    """

    names: tuple[str, ...] = ("guest", "user", "premium", "admin")
    order: Literal["listed", "ordered"] = "listed"

    def admits(self, role: str, allowed: tuple[str, ...]) -> bool:
        held = role if role in self.names else self.names[0]
        if self.order == "listed":
            return held in allowed
        known = [name for name in allowed if name in self.names]
        return any(self.names.index(held) >= self.names.index(name) for name in known)


@dataclass(frozen=True, slots=True)
class Rates:
    """The rate limits of templates, counted for each user of an adapter."""

    limits: RateLimits
    adapter: str

    async def look(
        self, template: Template, caller: Caller, *, count: bool = False
    ) -> Refusal | None:
        """Refuse a call that the counts leave no room for; `count` it if they do."""
        # Quoted, so that no user id can be mistaken for another part of the name.
        who = f"key:{caller.key_id}" if caller.user_id is None else f"user:{caller.user_id}"
        identity = f"tool/{self.adapter}/{template.id}/{who!r}"
        check = self.limits.take if count else self.limits.peek
        status = await check(template.policy.rate_limit, identity)
        if status is None:
            return None
        seconds = max(1, math.ceil(status.reset_s))
        size, unit = next(each for each in _WAITS if seconds >= each[0])
        wait = math.ceil(seconds / size)
        allowed, window = status.limit.split("/")
        limit = f"the limit of {allowed} {'an' if window == 'hour' else 'a'} {window}"
        message = f"{limit} is reached; try again in {wait} {unit}{'s' if wait != 1 else ''}"
        return Refusal("rate_limited", message, seconds)


_WAITS: Final = ((3600, "hour"), (60, "minute"), (1, "second"))


ValueCheck = Callable[[Any], str | None]
"""Returns what is wrong with a value, or None."""


def _value_checks(
    parameter: Parameter, template: Template, open_types: frozenset[str]
) -> tuple[ValueCheck, ...]:
    """Return what is asked of a value; the enum of one of `open_types` is not all there is."""
    compared = is_compared_with_data(parameter, template)
    checks: list[ValueCheck] = [_of_type(CUSTOM if compared else parameter.descriptor)]
    constraints = parameter.constraints
    if parameter.type in open_types:
        constraints = replace(constraints, enum=())
    if constraints != Constraints():
        checks.append(constraints.problem)
    if parameter.format == "uuid":
        checks.append(_uuid_problem)
    if parameter.items is not None:
        checks.append(_of_members(parameter.items))
    return tuple(checks)


class ArgumentsCheck:
    """Judges the arguments of one template, and converts none: digits in text stay a text."""

    def __init__(
        self, template: Template, open_types: frozenset[str], redactor: Redactor | None = None
    ) -> None:
        self._checks: dict[str, tuple[ValueCheck, ...]] = {
            each.name: _value_checks(each, template, open_types) for each in template.parameters
        }
        self._needed = [each.name for each in template.parameters if each.is_needed]
        self._with_default = [each for each in template.parameters if each.default is not None]
        self._redactor = redactor or Redactor(())

    def __call__(self, arguments: Mapping[str, Any]) -> Mapping[str, Any] | Refusal:
        """Return the arguments that are not None, and the defaults of missing ones."""
        too_large = size_problem(arguments)
        if too_large is not None:
            return Refusal("arguments_invalid", too_large)
        given = {name: value for name, value in arguments.items() if value is not None}
        for each in self._with_default:
            if each.name not in given:
                given[each.name] = each.default_on(datetime.now().astimezone())
        problems: list[str] = []
        for name, checks in self._checks.items():
            if name not in given:
                if name in self._needed:
                    problems.append(f"{name[:60]} is missing")
                continue
            value = given[name]
            problem = next(filter(None, (check(value) for check in checks)), None)
            if problem is not None:
                shown = REDACTED if self._redactor.covers(name) else shown_value(value)
                problems.append(f"{name[:60]}: {shown} {problem}")
        problems += [
            f"there is no parameter {name[:60]!r}; {did_you_mean(name, list(self._checks))}"
            for name in given
            if name not in self._checks
        ]
        if not problems:
            return given
        more = len(problems) - _MAX_PROBLEMS
        message = "; ".join(problems[:_MAX_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")
        return Refusal("arguments_invalid", message)

    def problem(self, name: str, value: Any) -> str | None:
        return next(filter(None, (check(value) for check in self._checks[name])), None)


def _of_type(descriptor: ParameterType) -> ValueCheck:
    def check(value: Any) -> str | None:
        expected = descriptor.expected(value)
        return None if expected is None else f"has to be {expected}"

    return check


def _uuid_problem(value: Any) -> str | None:
    try:
        UUID(value)
    except (ValueError, TypeError, AttributeError):
        return "has to be a UUID"
    return None


def _of_members(schema: Mapping[str, Any]) -> ValueCheck:
    def check(value: Any) -> str | None:
        for number, member in enumerate(value):
            problem = _schema_problem(member, schema)
            if problem is not None:
                return f"has a member (number {number + 1}) that {problem}"
        return None

    return check


def _schema_problem(value: Any, schema: Mapping[str, Any]) -> str | None:
    kind = str(schema.get("type", ""))
    expected = PARAMETER_TYPES[kind].expected(value) if kind in get_args(JsonType) else None
    if expected is not None:
        return f"has to be {expected}"
    problem = Constraints.of_schema(schema).problem(value)
    if problem is not None:
        return problem
    if isinstance(value, Mapping):
        return _properties_problem(value, schema)
    if isinstance(value, list) and isinstance(schema.get("items"), Mapping):
        for member in value:
            problem = _schema_problem(member, schema["items"])
            if problem is not None:
                return f"has a member that {problem}"
    return None


def _properties_problem(value: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    properties = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in value:
            return f"lacks {name!r}"
    if schema.get("additionalProperties") is False and not properties.keys() >= value.keys():
        return "has a field that is not declared"
    for name, part in properties.items():
        problem = _schema_problem(value[name], part) if name in value else None
        if problem is not None:
            return f"has a {name!r} that {problem}"
    return None


def size_problem(arguments: Mapping[str, Any]) -> str | None:
    """Return why the arguments are too large, too deep or no text, or None. Never recurses."""
    count = 0
    level: list[Any] = [arguments]
    for _ in range(MAX_LEVELS + 1):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, str):
                if len(value) > MAX_TEXT_CHARS:
                    return f"a text among the arguments is longer than {MAX_TEXT_CHARS} characters"
                if "\0" in value:
                    return "a text among the arguments holds a null character"
                if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
                    return "a text among the arguments holds half of a character (a lone surrogate)"
            elif isinstance(value, Mapping):
                inner += [*value.keys(), *value.values()]
            elif isinstance(value, list | tuple):
                inner += value
        count += len(inner)
        if count > MAX_VALUES:
            return f"the arguments hold more than {MAX_VALUES} values"
        if not inner:
            return None
        level = inner
    return f"the arguments are nested deeper than {MAX_LEVELS} levels"


@dataclass(frozen=True, slots=True)
class TemplateChecks:
    """The checks of one template; where `intents` or `roles` is None, it is not asked for.

    `limited`: calls are counted; `system`: what the server fills in; `holds`: may wait for a yes.
    """

    template: Template
    arguments: ArgumentsCheck
    redactor: Redactor
    is_there: bool
    intents: frozenset[str] | None
    roles: Roles | None
    limited: bool
    system: frozenset[str] = frozenset()
    holds: bool = True

    def check_known(self, call: ToolCall) -> Refusal | None:
        execution = self.template.execution
        if (call.tool, call.operation) != (execution.tool, execution.operation):
            return Refusal("tool_unknown", f"{self.template.id!r} does not run that tool")
        if not self.is_there:
            return Refusal("tool_unknown", f"the tool of {self.template.id!r} is not there")
        return None

    def check_allowed(
        self, caller: Caller, intent: str | None, *, any_intent: bool = False
    ) -> Refusal | None:
        """Refuse what intent or role forbid; for `any_intent`, what every intent forbids."""
        forbidden = self.intents is not None and (
            not self.intents if any_intent else intent not in self.intents
        )
        if forbidden:
            return Refusal("intent_forbids", "that is not something this question can ask for")
        if self.roles is None:
            return None
        policy, role = self.template.policy, caller.role
        if policy.requires_auth and (caller.user_id is None or role not in self.roles.names[1:]):
            return _AUTH_REQUIRED
        if policy.allowed_roles and not self.roles.admits(role, policy.allowed_roles):
            return Refusal("role_forbids", f"the role {role[:40]!r} may not do that")
        return None

    def system_values(self, caller: Caller) -> Mapping[str, Any] | Refusal:
        known = {
            "user_id": caller.user_id,
            "caller_user_id": caller.user_id,
            "caller_role": caller.role,
        }
        values = {name: known[name] for name in self.system}
        return values if all(values.values()) else _AUTH_REQUIRED

    def check_confirmed(self, proposal: Proposal) -> Refusal | None:
        needs_yes = self.template.policy.confirm or proposal.must_confirm
        if proposal.confirmed or not (self.holds and needs_yes):
            return None
        what = self.template.description or self.template.id
        return Refusal(
            "confirmation_required",
            f"this runs only after it was confirmed, so nothing was done ({what})",
        )


def checks_of(
    library: Library,
    registry: ToolRegistry,
    roles: Roles,
    intent_tools: Mapping[str, tuple[str, ...]] | None,
    system: Mapping[str, frozenset[str]],
) -> dict[str, TemplateChecks]:
    """Return each template's checks by id; `intent_tools` is None where no intent is detected."""
    open_types = frozenset(library.domain.parameter_patterns)
    checks = {}
    for template in library.templates.values():
        redactor = Redactor(template.policy.sensitive_params)
        execution = template.execution
        intents = None
        if intent_tools is not None:
            intents = frozenset(i for i, names in intent_tools.items() if template.id in names)
        checks[template.id] = TemplateChecks(
            template,
            ArgumentsCheck(template, open_types, redactor),
            redactor,
            not isinstance(execution, BuiltinExecution)
            or registry.offers(execution.tool, execution.operation),
            intents,
            roles,
            bool(template.policy.rate_limit),
            system.get(template.id, frozenset()),
        )
    return checks
