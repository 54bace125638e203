"""Arguments that a question hides, read by a model and taken only where a person said them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from server.core.answer import Trace
from server.core.decision import Call, MissingArguments
from server.core.ports import ChatModel
from server.core.streaming import TurnDeadline
from server.core.tools import Source, ToolCall
from server.core.turn import Turn
from server.errors import ProviderError
from server.library.model import PARAMETER_TYPES, Library, Parameter, Template
from server.library.rendering import RenderingFailed
from server.llm.conversation_text import ConversationText, own_words_of
from server.llm.function_calls import request_function_call
from server.llm.prompts import Prompt, as_data
from server.text.decimals import plain
from server.tools.numbers import read_as_number
from server.tools.policy.arguments import compile_model, size_problem

_MAX_DATA_CHARS: Final = 20_000

NOT_SAID: Final = "nobody said so"


class ArgumentValidator:
    """What of a model's arguments can be used: what is well-formed, and was said."""

    def __init__(self, library: Library) -> None:
        self._open_types = frozenset(library.domain.parameter_patterns)
        self._date_order = library.domain.date_order
        self._shapes: dict[str, type[BaseModel]] = {}

    def validate(
        self,
        template: Template,
        names: Sequence[str],
        proposed: Mapping[str, Any],
        turn: Turn,
        sources: Mapping[str, Source],
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """The arguments of `names` that can be used, and why the others cannot.

        `sources` say which places of the question gave other arguments their values.
        """
        if template.id not in self._shapes:
            self._shapes[template.id] = compile_model(template, self._open_types)
        now = turn.received_at.astimezone()
        text = ConversationText(
            turn.text, turn.context, sources, now=now, date_order=self._date_order
        )
        return _validated(template, names, proposed, text, self._shapes[template.id])

    def was_said(self, template: Template, name: str, value: Any, turn: Turn) -> bool:
        """Whether a person said the value, whatever the parameter makes of it."""
        parameter = next(each for each in template.parameters if each.name == name)
        now = turn.received_at.astimezone()
        text = ConversationText(turn.text, turn.context, {}, now=now, date_order=self._date_order)
        return text.take(_as_declared(value, parameter), parameter, own_words_of(template))


class SlotFiller:
    """Asks a model for what is missing, and the person for what the model does not find."""

    def __init__(
        self,
        model: ChatModel,
        prompt: Prompt,
        library: Library,
        validator: ArgumentValidator,
        *,
        timeout_s: float,
    ) -> None:
        self._model = model
        self._prompt = prompt
        self._library = library
        self._validator = validator
        self._timeout_s = timeout_s

    async def fill(
        self, decision: MissingArguments, turn: Turn, trace: Trace, deadline: TurnDeadline
    ) -> MissingArguments | Call:
        """The call, when everything that is missing was said; else what is still to be asked.

        Values that cannot be used are for the person to mend, so that nothing is filled
        beside one. Never raises for what a model or provider does.
        """
        template = self._library.templates[decision.match.template_id]
        if template.policy.sensitive_params or any(m.problem for m in decision.missing):
            return decision
        with trace.stage("fill") as details:
            details |= {"model": self._model.name, "prompt": self._prompt.described}
            try:
                async with deadline.step_timeout(self._timeout_s):
                    proposed = await self._proposed(template, decision, turn)
            except (ProviderError, RenderingFailed, TimeoutError) as failed:
                details["why"] = str(failed) or f"{self._model.name} was not done in time"
                return decision
            names = [missing.name for missing in decision.missing]
            found, refused = self._validator.validate(
                template, names, proposed, turn, decision.sources
            )
            details |= {"filled": found, "refused": refused}
        return _decided(template, decision, found)

    async def _proposed(
        self, template: Template, decision: MissingArguments, turn: Turn
    ) -> Mapping[str, Any]:
        definition = template.to_tool_definition()
        messages = self._prompt.render(
            question=as_data(turn.text),
            said=[as_data(m.content) for m in turn.context.messages if m.role == "user"],
            function=as_data(definition.to_openai_schema()["function"]),
            missing=[missing.name for missing in decision.missing],
        )
        call = await request_function_call(self._model, messages, (definition,))
        return call.arguments if call is not None and call.name == definition.name else {}


def _validated(
    template: Template,
    names: Sequence[str],
    proposed: Mapping[str, Any],
    text: ConversationText,
    shape: type[BaseModel],
) -> tuple[dict[str, Any], dict[str, str]]:
    """The arguments of `names` that are well-formed and were said, and why others are refused."""
    found: dict[str, Any] = {}
    refused: dict[str, str] = {}
    own_words = own_words_of(template)
    parameters = {parameter.name: parameter for parameter in template.parameters}
    for name in names:
        given = proposed.get(name)
        if given is None:
            continue
        parameter = parameters[name]
        if size_problem({name: given}) is not None:
            refused[name] = "too large"
            continue
        value = _as_declared(given, parameter)
        why = _misfit(shape, name, value)
        if why:
            refused[name] = why
        elif not (_is_choice(value, parameter) or text.take(value, parameter, own_words)):
            refused[name] = NOT_SAID
        else:
            found[name] = value
    return found, refused


def _as_declared(value: Any, parameter: Parameter) -> Any:
    """A value as the parameter's type has it, where it means the same; else as it is."""
    kind = PARAMETER_TYPES.get(parameter.type, ("string", None))[0]
    if isinstance(value, str):
        text = value.strip()
        if kind in ("number", "integer"):
            number = read_as_number(text.removesuffix("%").strip())
            return value if number is None else plain(number)
        if kind in ("array", "object") and len(text) <= _MAX_DATA_CHARS:
            try:
                return json.loads(text)
            except (ValueError, RecursionError):
                return value
        return parameter.choices.get(text.lower(), text) if parameter.enum else text
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_choice(value: Any, parameter: Parameter) -> bool:
    """Whether the value is one of those that the template itself lists."""
    listed = [*parameter.enum, *([] if parameter.default is None else [parameter.default])]
    return any(value == each and type(value) is type(each) for each in listed)


def _misfit(shape: type[BaseModel], name: str, value: Any) -> str:
    """Why the value is not what the template declares; empty when it is."""
    try:
        shape.model_validate({name: value})
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False, include_context=False, include_input=False):
            if error["loc"][:1] == (name,) and error["type"] != "missing":
                return str(error["msg"])
    return ""


def _decided(
    template: Template, decision: MissingArguments, found: Mapping[str, Any]
) -> MissingArguments | Call:
    if not found:
        return decision
    arguments = {**decision.arguments, **found}
    sources = {**decision.sources, **{name: Source("model") for name in found}}
    missing = tuple(each for each in decision.missing if each.name not in found)
    if missing:
        return replace(decision, missing=missing, arguments=arguments, sources=sources)
    call = ToolCall(
        template.id,
        template.execution.tool,
        template.execution.operation,
        arguments,
        sources,
        template.effect,
    )
    return Call(decision.match, call)
