"""A decider that reads the whole conversation, and proposes what it asks for."""

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from jinja2 import TemplateError

from server.conversation.reformulation.model import (
    OfferedIntent,
    Understanding,
    clarify_text,
    model_failed_text,
    proposal_text,
)
from server.conversation.reformulation.reformulator import Reformulator
from server.core.chat_messages import Message
from server.core.decision import (
    Call,
    ClarifyingQuestion,
    Decision,
    MissingArguments,
    NoMatch,
    ProposedAction,
    SeveralCalls,
    Trace,
)
from server.core.ports import Decider
from server.core.tools import Source, ToolCall
from server.core.turn import Intent, Turn
from server.retrievers.base import DeciderDependencies, decide_for_template
from server.retrievers.requests import write_objection

_log = logging.getLogger(__name__)

_UNRENDERED: Final = (TemplateError, TypeError, ValueError, ArithmeticError, LookupError)
_SCRIPTS: Final[Mapping[str, re.Pattern[str]]] = {
    "he": re.compile("[א-ת]"),
    "ar": re.compile("[ء-ي]"),
    "ru": re.compile("[а-яё]", re.IGNORECASE),
    "ja": re.compile("[ぁ-ヿ]"),
    "ko": re.compile("[가-힣]"),
}
"""Languages that show by their letters, whatever a client says it prefers."""


class ReformulationDecider:
    """Proposes one of the reformulator's intents, or leaves the question to the next decider.

    What that finds counts only where no intent stands for the template: what an intent
    stands for is done by way of a proposal and no other.
    """

    def __init__(
        self, following: Decider, parts: DeciderDependencies, reformulator: Reformulator
    ) -> None:
        self._following = following
        self._templates = parts.library.templates
        self._parts = parts
        self._reformulator = reformulator
        self._reformulation = reformulator.reformulation
        self._proposed = {each.template for each in self._reformulation.intents.values()}

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        """Raises what the next decider raises; a reformulator's model that fails is no failure."""
        with trace.stage("reformulate") as details:
            messages = (*turn.context.messages, Message("user", turn.text))
            understood = await self._reformulator.understand(messages)
            details |= understood.to_dict() | {"by": understood.by, "why": understood.why}
        if understood.intent is not None:
            offered = self._reformulation.intents[understood.intent]
            wish = replace(turn, text=understood.wish or turn.text)
            return self._refusal(wish, offered) or self._proposal(turn, offered, understood)
        if not self._proposed.issuperset(self._templates):
            decision = await self._following.decide(turn, trace)
            decided = list[str]()
            if isinstance(decision, Call | MissingArguments):
                decided = [decision.match.template_id]
            elif isinstance(decision, SeveralCalls):
                decided = [call.match.template_id for call in decision.calls]
            if decided and self._proposed.isdisjoint(decided):
                return decision
        return ClarifyingQuestion(self._clarify(turn, understood), 0.0, understood.why)

    async def close(self) -> None:
        await self._following.close()

    def _refusal(self, turn: Turn, offered: OfferedIntent) -> NoMatch | None:
        """What becomes of a message that takes back what would be proposed, or depends on more.

        A mere question is none: to propose what it is about asks for nothing but a yes.
        """
        template = self._templates[offered.template]
        against = write_objection(self._parts.extractor, template, turn)
        if against is None or against.kind == "question":
            return None
        why = f"“{against.words}” speaks against {template.id}"
        return NoMatch(why, (), (against.words,), against.kind)

    def _proposal(self, turn: Turn, offered: OfferedIntent, understood: Understanding) -> Decision:
        entities = dict(turn.intent.entities) if turn.intent is not None else {}
        if offered.target is not None:
            entities.pop(offered.target, None)
            if understood.target is not None:
                entities[offered.target] = understood.target
        intent = Intent(offered.name, understood.confidence, "keyword", entities)
        why, sure, meant = understood.why, understood.confidence, replace(turn, intent=intent)
        decision = decide_for_template(
            self._parts, offered.template, meant, why=why, confidence=sure
        )
        if understood.target is None and isinstance(decision, Call | MissingArguments):
            decision = self._without_target(decision, offered, understood.among)
        if not isinstance(decision, Call):
            return decision
        question, lookup = self._question(turn, understood), self._lookup(offered, understood)
        action = ProposedAction(offered.name, understood.target, question, lookup=lookup)
        return replace(_with_target(decision, offered, understood, turn.text), proposed=action)

    def _lookup(self, offered: OfferedIntent, understood: Understanding) -> ToolCall | None:
        """The call that finds the target, where the intent names one that is in the library."""
        template = self._templates.get(offered.lookup or "")
        if template is None or offered.target is None or understood.target is None:
            return None
        source = Source("model" if understood.by == "model" else "conversation")
        return template.call({offered.target: understood.target}, {offered.target: source})

    def _without_target(
        self,
        decision: Call | MissingArguments,
        offered: OfferedIntent,
        among: tuple[str, ...],
    ) -> Call | MissingArguments:
        """The decision without a target that extraction guessed: none was understood.

        Of several that may be meant, `among`, even an optional one is asked for.
        """
        template = self._templates[offered.template]
        target = next((each for each in template.parameters if each.name == offered.target), None)
        if target is None:
            return decision
        part = decision.call if isinstance(decision, Call) else decision
        arguments = {name: part.arguments[name] for name in part.arguments if name != target.name}
        sources = {name: part.sources[name] for name in part.sources if name != target.name}
        missing = decision.missing if isinstance(decision, MissingArguments) else ()
        if target.required or among:
            others = (each for each in missing if each.name != target.name)
            missing = (replace(target.missing(), choices=among or target.enum), *others)
        if missing:
            return MissingArguments(decision.match, missing, arguments, sources, decision.coverage)
        call = template.call(arguments, sources)
        return Call(decision.match, call, coverage=decision.coverage)

    def _clarify(self, turn: Turn, understood: Understanding) -> str:
        reformulation = self._reformulation
        language = language_of(turn, reformulation.clarify)
        try:
            question = clarify_text(reformulation, language)
        except _UNRENDERED as failed:
            _log.warning("clarify text of the reformulator: %s", failed)
            question = clarify_text(replace(reformulation, clarify={}))
        if not understood.model_failed:
            return question
        language = language_of(turn, reformulation.model_failed)
        return f"{model_failed_text(reformulation, language)} {question}"

    def _question(self, turn: Turn, understood: Understanding) -> str:
        reformulation = self._reformulation
        language = language_of(turn, reformulation.proposal)
        try:
            return proposal_text(reformulation, understood, language)
        except _UNRENDERED as failed:
            _log.warning("proposal text of the reformulator: %s", failed)
            return proposal_text(replace(reformulation, proposal={}), understood)


def _with_target(
    decision: Call, offered: OfferedIntent, understood: Understanding, text: str
) -> Call:
    name, target, call = offered.target, understood.target, decision.call
    if name is None or target is None:
        return decision
    sources = dict(call.sources)
    at = text.casefold().find(target.casefold())
    if understood.earlier:
        sources[name] = Source("conversation")
    elif at >= 0:
        span = (at, at + len(target))
        sources[name] = Source("intent", span, text[at : span[1]])
    elif name not in sources:
        sources[name] = Source("model" if understood.by == "model" else "intent")
    arguments = {**call.arguments, name: target}
    return replace(decision, call=replace(call, arguments=arguments, sources=sources))


def language_of(turn: Turn, texts: Mapping[str, str]) -> str:
    """The language to speak in: that of the turn's letters, else the first preferred one."""
    for language, letters in _SCRIPTS.items():
        if language in texts and letters.search(turn.text):
            return language
    for tag in turn.languages:
        for candidate in (tag.lower(), tag.lower().split("-")[0]):
            if candidate in texts:
                return candidate
    return ""
