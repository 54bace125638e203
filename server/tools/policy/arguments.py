"""Step 5: the arguments are what the template declares."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from server.core.redaction import REDACTED, Redactor
from server.library.model import Library, Template
from server.tools.policy.compiling import compile_model
from server.tools.policy.depth import size_problem
from server.tools.policy.proposal import Judged, Refusal
from server.tools.wording import shown

_MOST_NAMED = 3


class ArgumentsValid:
    """One Pydantic model for each template, compiled once. Values are judged, not changed."""

    def __init__(self, library: Library, redactors: Mapping[str, Redactor]) -> None:
        open_types = frozenset(library.domain.parameter_patterns)
        self._models: dict[str, type[BaseModel]] = {
            name: compile_model(template, open_types)
            for name, template in library.templates.items()
        }
        self._redactors = redactors

    async def __call__(self, judged: Judged) -> Judged | Refusal:
        template, arguments = judged.template, judged.arguments
        too_big = size_problem(arguments)
        if too_big is not None:
            return Refusal("arguments_invalid", too_big)
        given = {name: value for name, value in arguments.items() if value is not None}
        for parameter in template.parameters:
            if parameter.default is not None and parameter.name not in given:
                given[parameter.name] = parameter.default
        try:
            self._models[template.id].model_validate(given)
        except ValidationError as invalid:
            return Refusal("arguments_invalid", self._problems(template, invalid))
        return Judged(judged.proposal, template, given, judged.system)

    def _problems(self, template: Template, invalid: ValidationError) -> str:
        """Parameter, value and rule of each fault; a union's members are told only once."""
        redactor = self._redactors[template.id]
        told: dict[str, str] = {}
        for error in invalid.errors(include_url=False, include_context=True):
            keys = [str(part) for part in error["loc"]]
            name = keys[0] if keys else "arguments"
            if name in told:
                continue
            told[name] = _told(name, error, hidden=redactor.covers(name))
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
