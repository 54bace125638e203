"""Step 5: the arguments are what the template declares."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from server.core.redaction import REDACTED, Redactor
from server.library.model import Template
from server.tools.policy.compiling import compile_checks, compile_model
from server.tools.policy.depth import size_problem
from server.tools.policy.proposal import Refusal
from server.tools.wording import shown

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
    value = REDACTED if hidden else shown(error["input"])
    return f"{label}: {value} {error['msg']}"
