"""LLM-first: a model proposes a template and its arguments.

The policy chain checks what it proposes, as it checks every call.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from server.core.chat_messages import FunctionCall
from server.core.decision import (
    Call,
    Clarify,
    ClarifyingQuestion,
    Decision,
    Match,
    MissingArguments,
    NoMatch,
    SeveralCalls,
    Trace,
)
from server.core.ports import Decider
from server.core.tools import Source, ToolCall
from server.core.turn import Caller, Turn
from server.library.model import Library, Template
from server.llm.function_calls import request_function_call
from server.llm.prompts import MODEL_FAILURES, PromptedModel, as_data
from server.llm.slot_filling import ArgumentValidator
from server.retrievers.requests import Objection

_WHY: Final = "proposed by a model"

AllowedTemplates = Callable[[Caller, str | None], Sequence[Template]]
"""The templates that a caller may run for an intent."""
SpeaksAgainst = Callable[[Template, Turn], Objection | None]


class LLMDecider:
    """Decides by what a model proposes, among the functions that role and intent allow.

    The intent is the rule pack's, and never the model's. A tool that was not offered is
    decided as a call all the same, so that it is refused and written to the audit. Where the
    model cannot be asked, `otherwise` decides; it also says which templates come nearest.
    """

    def __init__(
        self,
        otherwise: Decider,
        model: PromptedModel,
        library: Library,
        allowed: AllowedTemplates,
        against: SpeaksAgainst,
    ) -> None:
        """`against` says what in a message speaks against a template that a model proposes."""
        self._otherwise, self._model, self._library = otherwise, model, library
        self._allowed, self._against = allowed, against
        self._validator = ArgumentValidator(library)
        templates = library.templates.values()
        self._has_secrets = any(template.policy.sensitive_params for template in templates)

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Raises `ProviderError` when the question could not be embedded."""
        if self._has_secrets:
            decision = await self._otherwise.decide(turn, trace)
            if self._is_secret(decision):
                return decision  # no model is told of sensitive parameters
        intent = turn.intent.name if turn.intent is not None else None
        allowed = self._allowed(turn.caller, intent)
        functions = {t.function_name or t.id: t for t in allowed if not t.policy.sensitive_params}
        if not functions:
            return await self._otherwise.decide(turn, trace)
        failure = ""
        with trace.stage("propose") as details:
            details |= self._model.details
            try:
                async with asyncio.timeout(self._model.timeout_s):
                    call = await self._propose(turn, functions)
                details["proposed"] = None if call is None else call.name
            except MODEL_FAILURES as failed:
                failure = self._model.explain_failure(failed)
                details["why"] = failure
        if failure:
            return await self._otherwise.decide(turn, trace)
        if call is None:
            return await self._no_match("no tool was proposed", turn, trace)
        if call.name not in functions:
            nothing = await self._no_match("a tool was proposed that is not there", turn, trace)
            return self._refused_call(call, allowed, nothing)
        template = functions[call.name]
        against = self._against(template, turn)
        if against is not None:
            why = f"“{against.words}” speaks against {template.id}, which a model proposed"
            match = Match(template.id, 1.0, 0.0, _WHY)
            return NoMatch(why, (match,), (against.words,), against.kind)
        return self._decide_for(template, call.arguments, turn, trace)

    async def close(self) -> None:
        await self._otherwise.close()

    async def _propose(self, turn: Turn, functions: Mapping[str, Template]) -> FunctionCall | None:
        definitions = [template.to_tool_definition() for template in functions.values()]
        messages = self._model.prompt.render(
            question=as_data(turn.text),
            said=[as_data(m.content) for m in turn.context.messages if m.role == "user"],
            functions=[as_data(each.to_openai_schema()["function"]) for each in definitions],
        )
        return await request_function_call(self._model.model, messages, definitions)

    async def _no_match(self, why: str, turn: Turn, trace: Trace) -> Decision:
        decision = await self._otherwise.decide(turn, trace)
        match decision:
            case Call(match) | MissingArguments(match):
                return NoMatch(why, (match,), coverage=decision.coverage)
            case Clarify(options):
                return NoMatch(why, options, coverage=decision.coverage)
            case SeveralCalls(calls):
                return NoMatch(why, tuple(call.match for call in calls))
            case NoMatch() | ClarifyingQuestion():
                return decision
        return NoMatch(why)

    def _refused_call(
        self, call: FunctionCall, allowed: Sequence[Template], otherwise: Decision
    ) -> Decision:
        """Return the call of a tool that was not offered, for the policy chain to refuse."""
        proposed = ToolCall(call.name, "", "", call.arguments, by_model=True)
        ids = {template.id for template in allowed}
        for template in self._library.templates.values():
            # Only what role or intent forbid is named in full: the chain runs what it allows.
            if call.name in (template.function_name, template.id) and template.id not in ids:
                proposed = template.call(call.arguments, by_model=True)
        return Call(Match(proposed.template_id, 0.0, 0.0, _WHY), proposed, otherwise=otherwise)

    def _decide_for(
        self, template: Template, proposed: Mapping[str, Any], turn: Turn, trace: Trace
    ) -> Decision:
        """Return the call with the proposed arguments that were said, or what is missing."""
        known = {parameter.name: parameter for parameter in template.parameters}
        found, refused, problems = self._validator.validate(template, known, proposed, turn, {})
        trace.note("arguments", {"taken": found, "refused": refused})
        # What no parameter names is for the chain to refuse, where it is written down.
        arguments = {**{n: v for n, v in proposed.items() if n not in known}, **found}
        sources = {name: Source("model") for name in arguments}
        missing = []
        for name, each in known.items():
            if name in found:
                continue
            problem = problems.get(name, "")
            if each.default is not None and not problem:
                default = each.default_on(datetime.now().astimezone())
                arguments[name], sources[name] = default, Source("default")
            elif each.required or problem:
                missing.append(each.missing(problem))
        match = Match(template.id, 0.0, 0.0, _WHY)
        if missing:
            return MissingArguments(match, tuple(missing), arguments, sources)
        return Call(match, template.call(arguments, sources, by_model=True))

    def _is_secret(self, decision: Decision) -> bool:
        match decision:
            case Call(match) | MissingArguments(match):
                ids = [match.template_id]
            case Clarify(options) | NoMatch(_, options):
                ids = [option.template_id for option in options]
            case SeveralCalls(calls, ()):
                ids = [call.match.template_id for call in calls]
            case _:
                return True
        return any(self._library.templates[each].policy.sensitive_params for each in ids)
