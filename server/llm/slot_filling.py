"""Missing arguments, read by a model and taken only where a person said them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from server.core.decision import Call, MissingArguments, Trace
from server.core.streaming import TurnDeadline
from server.core.tools import Source
from server.core.turn import Turn
from server.library.model import Library, Parameter, Template
from server.llm.conversation_text import ConversationText, own_words_of
from server.llm.function_calls import request_function_call
from server.llm.prompts import MODEL_FAILURES, PromptedModel, as_data
from server.text.decimals import plain
from server.tools.numbers import read_as_number
from server.tools.policy.checks import ArgumentsCheck, size_problem

_MAX_DATA_CHARS: Final = 20_000


class CheckedArguments(NamedTuple):
    """What of a model's arguments can be used, and why the others are refused.

    `problems` are those of the refused ones that a person did say.
    """

    found: dict[str, Any]
    refused: dict[str, str]
    problems: dict[str, str]


class ArgumentValidator:
    """Accepts of a model's arguments what is well-formed, and was said by a person."""

    def __init__(self, library: Library) -> None:
        self._open_types = frozenset(library.domain.parameter_patterns)
        self._date_order = library.domain.date_order
        self._checks: dict[str, ArgumentsCheck] = {}

    def validate(
        self,
        template: Template,
        names: Iterable[str],
        proposed: Mapping[str, Any],
        turn: Turn,
        sources: Mapping[str, Source],
    ) -> CheckedArguments:
        """Check the proposed arguments of `names`.

        `sources` say which places of the question gave other arguments their values.
        """
        if template.id not in self._checks:
            self._checks[template.id] = ArgumentsCheck(template, self._open_types)
        text = ConversationText(turn, sources, self._date_order)
        own_words = own_words_of(template)
        parameters = {parameter.name: parameter for parameter in template.parameters}
        checked = CheckedArguments({}, {}, {})
        for name in names:
            given = proposed.get(name)
            if given is None:
                continue
            if size_problem({name: given}) is not None:
                checked.refused[name] = "too large"
                continue
            parameter = parameters[name]
            value = _as_declared(given, parameter, text)
            problem = self._checks[template.id].problem(name, value)
            if problem:
                checked.refused[name] = problem
                if ConversationText(turn, {}, self._date_order).take(value, parameter, own_words):
                    checked.problems[name] = f"{given} {problem}"
            elif _is_choice(value, parameter) or text.take(value, parameter, own_words):
                checked.found[name] = value
            else:
                checked.refused[name] = "nobody said so"
        return checked


class SlotFiller:
    """Asks a model for missing arguments."""

    def __init__(self, model: PromptedModel, library: Library) -> None:
        self._model = model
        self._library = library
        self._validator = ArgumentValidator(library)

    async def fill(
        self, decision: MissingArguments, turn: Turn, trace: Trace, deadline: TurnDeadline
    ) -> MissingArguments | Call:
        """Return the call when everything that is missing was said; else what is still missing.

        Where a value cannot be used, nothing is filled: the person has to correct it. Never
        raises for what a model or provider does.
        """
        template = self._library.templates[decision.match.template_id]
        if template.policy.sensitive_params or any(m.problem for m in decision.missing):
            return decision
        with trace.stage("fill") as details:
            details |= self._model.details
            try:
                async with deadline.step_timeout(self._model.timeout_s):
                    proposed = await self._proposed(template, decision, turn)
            except MODEL_FAILURES as failed:
                details["why"] = self._model.explain_failure(failed)
                return decision
            names = [missing.name for missing in decision.missing]
            checked = self._validator.validate(template, names, proposed, turn, decision.sources)
            details |= {"filled": checked.found, "refused": checked.refused}
        return _with_arguments(template, decision, checked.found)

    async def _proposed(
        self, template: Template, decision: MissingArguments, turn: Turn
    ) -> Mapping[str, Any]:
        definition = template.to_tool_definition()
        messages = self._model.prompt.render(
            question=as_data(turn.text),
            said=[as_data(m.content) for m in turn.context.messages if m.role == "user"],
            function=as_data(definition.to_openai_schema()["function"]),
            missing=[missing.name for missing in decision.missing],
        )
        call = await request_function_call(self._model.model, messages, (definition,))
        return call.arguments if call is not None and call.name == definition.name else {}


def _as_declared(value: Any, parameter: Parameter, said: ConversationText) -> Any:
    """A value as the parameter's type has it, where it means the same; else as it is."""
    descriptor = parameter.descriptor
    if descriptor.kind in ("date", "datetime") and isinstance(value, str):
        value = said.read_day(value) or value
    if descriptor.is_numeric and isinstance(value, str):
        number = read_as_number(value.strip().removesuffix("%").strip())
        return value if number is None else plain(number)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    text = str(value) if descriptor.json_type == "string" and is_number else value
    found = descriptor.normalize(text.strip() if isinstance(text, str) else text)
    is_choice = parameter.enum and isinstance(found, str)
    return parameter.choices.get(found.lower(), found) if is_choice else found


def _is_choice(value: Any, parameter: Parameter) -> bool:
    listed = [*parameter.enum, *([] if parameter.default is None else [parameter.default])]
    return any(value == each and type(value) is type(each) for each in listed)


def _with_arguments(
    template: Template, decision: MissingArguments, found: Mapping[str, Any]
) -> MissingArguments | Call:
    if not found:
        return decision
    arguments = {**decision.arguments, **found}
    sources = {**decision.sources, **{name: Source("model") for name in found}}
    missing = tuple(each for each in decision.missing if each.name not in found)
    if missing:
        return replace(decision, missing=missing, arguments=arguments, sources=sources)
    return Call(decision.match, template.call(arguments, sources), coverage=decision.coverage)
