"""What was asked for, given by name instead of in words."""

from dataclasses import replace
from typing import Any, Final

from server.core.coverage import NO_COVERAGE
from server.core.suggestions import shown_value
from server.core.tools import Source
from server.core.turn import PendingQuestion
from server.library.model import Parameter
from server.retrievers.followups.context import FollowUpContext, FollowUpDecision
from server.tools.policy.checks import ArgumentsCheck, size_problem

_FROM_A_FORM: Final = Source("form")
_WHY: Final = "its arguments were given by name"


def by_form(ctx: FollowUpContext, asked: PendingQuestion) -> FollowUpDecision:
    """The call that was asked about with the values of the turn, checked as any arguments are.

    The words of the message say these values, and are not read for others.
    """
    template = ctx.library.templates[asked.template_id]
    check = ArgumentsCheck(template, frozenset(ctx.library.domain.parameter_patterns))
    parameters = {parameter.name: parameter for parameter in template.parameters}
    given: dict[str, Any] = {}
    problems: dict[str, str] = {}
    for name in asked.missing:
        value = ctx.turn.given.get(name)
        if value is None or name not in parameters:
            continue
        problem = size_problem({name: value})
        if problem is None:
            value = _as_declared(value, parameters[name])
            problem = check.problem(name, value)
            problem = problem and f"{shown_value(value)} {problem}"
        if problem is None:
            given[name] = value
        else:
            problems[name] = problem
    arguments = {**asked.arguments, **given}
    sources = dict.fromkeys(asked.arguments, Source("conversation"))
    sources |= dict.fromkeys(given, _FROM_A_FORM)
    decision = ctx.call_or_ask(template, arguments, sources, _WHY, problems)
    decided = ctx.decided(replace(decision, coverage=NO_COVERAGE), asked.intent, "answer")
    return replace(decided, form="form", certain=True)


def _as_declared(value: Any, parameter: Parameter) -> Any:
    """A text as the value that it names or writes; anything else as it is."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    chosen = parameter.choices.get(text.lower())
    return parameter.descriptor.normalize(text) if chosen is None else chosen
