"""What a template asks of its calls, worked out once, without the steps that ask nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from server.core.redaction import REDACTED, Redactor
from server.core.suggestions import shown_value
from server.library.model import Library, Template
from server.tools.policy.checks import ValueCheck, size_problem, value_checks
from server.tools.policy.proposal import Check, Proposal, Refusal
from server.tools.policy.steps import (
    Roles,
    SystemValues,
    confirmation_check,
    intent_check,
    role_check,
    system_values,
    tool_check,
)
from server.tools.registry import ToolRegistry


class _Arguments(BaseModel):
    """The base of all models: strict, and refusing what no parameter names."""

    model_config = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)


def compile_model(template: Template, open_types: frozenset[str] = frozenset()) -> type[BaseModel]:
    """Return the model of a template's arguments; optional ones may be left out.

    `open_types` as for `value_checks`.
    """
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(template.parameters):
        checks = value_checks(parameter, template, open_types)
        # Field names of our own: an author's may be a word that Pydantic keeps for itself.
        fields[f"p{number}"] = (
            Annotated[Any, *(AfterValidator(check) for check in checks)],
            Field(
                ... if parameter.is_needed else None, alias=parameter.name, validate_default=False
            ),
        )
    model: type[BaseModel] = create_model("Arguments", __base__=_Arguments, **fields)
    return model


def compile_checks(
    template: Template, open_types: frozenset[str] = frozenset()
) -> Mapping[str, tuple[ValueCheck, ...]]:
    """Return what that model asks of each argument, by name."""
    return {p.name: value_checks(p, template, open_types) for p in template.parameters}


_MOST_NAMED = 3


class ArgumentsCheck:
    """Judges the arguments of one template, and changes none."""

    def __init__(self, template: Template, open_types: frozenset[str], redactor: Redactor) -> None:
        self._model = compile_model(template, open_types)
        self._checks = compile_checks(template, open_types)
        self._needed = frozenset(p.name for p in template.parameters if p.is_needed)
        self._defaults = {p.name: p.default for p in template.parameters if p.default is not None}
        self._redactor = redactor

    def __call__(self, arguments: Mapping[str, Any]) -> Mapping[str, Any] | Refusal:
        """The arguments that are not None, with the defaults of those that are missing."""
        too_big = size_problem(arguments)
        if too_big is not None:
            return Refusal("arguments_invalid", too_big)
        given = {name: value for name, value in arguments.items() if value is not None}
        for name, default in self._defaults.items():
            if name not in given:
                given[name] = default
        if self._are_right(given):
            return given
        try:
            self._model.model_validate(given)
        except ValidationError as invalid:
            return Refusal("arguments_invalid", self._problems(invalid))
        return given

    def _are_right(self, given: Mapping[str, Any]) -> bool:
        """Whether the model would accept them: the same checks, without what tells of faults."""
        if not self._needed <= given.keys() <= self._checks.keys():
            return False
        try:
            for name, value in given.items():
                for check in self._checks[name]:
                    check(value)
        except ValueError:
            return False
        return True

    def _problems(self, invalid: ValidationError) -> str:
        """Parameter, value and rule of each fault; a union's members are told only once."""
        told: dict[str, str] = {}
        for error in invalid.errors(include_url=False, include_context=True):
            keys = [str(part) for part in error["loc"]]
            name = keys[0] if keys else "arguments"
            if name in told:
                continue
            told[name] = _told(name, error, hidden=self._redactor.covers(name))
        first = list(told.values())[:_MOST_NAMED]
        more = len(told) - len(first)
        return "; ".join(first) + (f"; and {more} more" if more > 0 else "")


def _told(name: str, error: Any, *, hidden: bool) -> str:
    kind = error["type"]
    label = name[:60]
    if kind == "missing":
        return f"{label} is missing"
    if kind == "extra_forbidden":
        return f"there is no parameter {label!r}"
    value = REDACTED if hidden else shown_value(error["input"])
    return f"{label}: {value} {error['msg']}"


@dataclass(frozen=True, slots=True)
class TemplateChecks:
    """The steps of one template, in the order of their fields; None where one asks nothing."""

    template: Template
    tool: Check
    intent: Check | None
    role: Check | None
    limited: bool
    """Whether its calls are counted against limits."""
    arguments: ArgumentsCheck
    system: SystemValues | None
    confirmation: Check | None
    redactor: Redactor

    def refuses(self, proposal: Proposal) -> Refusal | None:
        """Why the intent, or who asks, keeps a call from being looked at any further."""
        refusal = None if self.intent is None else self.intent(proposal)
        if refusal is None and self.role is not None:
            refusal = self.role(proposal)
        return refusal


def plan_calls(
    library: Library,
    registry: ToolRegistry,
    roles: Roles,
    intent_tools: Mapping[str, frozenset[str]] | None,
    system: Mapping[str, frozenset[str]],
) -> dict[str, TemplateChecks]:
    """Return the plan of each template, by its id.

    `intent_tools` maps each intent to the templates that it allows, and `system` each
    template to the system parameters that its function takes.
    """
    open_types = frozenset(library.domain.parameter_patterns)
    plans = {}
    for template in library.templates.values():
        redactor = Redactor(template.policy.sensitive_params)
        plans[template.id] = TemplateChecks(
            template,
            tool_check(template, registry),
            intent_check(template, intent_tools),
            role_check(template, roles),
            bool(template.policy.rate_limit),
            ArgumentsCheck(template, open_types, redactor),
            system_values(system.get(template.id, frozenset())),
            confirmation_check(template),
            redactor,
        )
    return plans
