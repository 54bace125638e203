"""The retriever over several adapters: which of them answers, and which are asked about."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from server.conversation.followups.lexicon import Lexicon, shipped_lexicon
from server.conversation.followups.references import by_place
from server.conversation.followups.utterances import read_utterance
from server.core.coverage import NO_COVERAGE, Coverage
from server.core.decision import (
    Blocked,
    Call,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Courtesy,
    Decision,
    Match,
    MissingArguments,
    NoMatch,
    SeveralCalls,
    Trace,
)
from server.core.sources import (
    SourceName,
    UnansweredSource,
    local_context,
    qualified_id,
    shared_ending,
    shared_match,
    split_id,
)
from server.core.tools import Source
from server.core.turn import CompletedCall, ConversationContext, Turn
from server.intents.detector import Detection
from server.library.model import Library, Template
from server.retrievers.choice import describe_choice
from server.retrievers.followups.context import FollowUpDecision
from server.retrievers.sources import NamedSources, SourceReader, source_reader
from server.text.tokens import message_words

NOT_REACHED: Final = "source"
"""The objection to a question for a source that does not serve now."""
_NOTHING_ALIKE: Final = "it has nothing for this"
_LEAST_OF_A_CHOICE: Final = 2


@dataclass(frozen=True, slots=True)
class SourceAnswer:
    """What one source makes of a question; `private` ones may hold what must not be shown."""

    source: SourceName
    decided: FollowUpDecision
    detection: Detection | None = None
    private: bool = False

    @property
    def decision(self) -> Decision:
        return self.decided.decision


class OpenSource(Protocol):
    """One of several adapters, as it is during one turn."""

    @property
    def name(self) -> SourceName: ...

    @property
    def library(self) -> Library: ...

    async def ask(self, turn: Turn) -> SourceAnswer | UnansweredSource:
        """Return what it makes of a turn, by its own guard, rule pack, deciders and threshold."""

    def call(self, template_id: str, turn: Turn, known: Mapping[str, Any]) -> Decision:
        """Return a template's call with what the turn says and what is `known` beside it."""


@dataclass(frozen=True, slots=True)
class SourceDecision(FollowUpDecision):
    """A decision, and whose it is: `source` makes its calls, and knows its templates by their ids.

    Without a `source` it is nobody's, and templates are named with their source; `callers` are
    then whose each of several calls is. `unanswered` are sources that were named in vain.
    """

    source: str = ""
    callers: tuple[str, ...] = ()
    unanswered: tuple[UnansweredSource, ...] = ()
    detection: Detection | None = None
    private: bool = False


@dataclass(frozen=True, slots=True)
class IntentCompositeRetriever:
    """Asks several adapters, and decides by how sure each is and what it reads of the question.

    It is made for a server, and bound to the sources that serve for each turn.
    """

    clarify_margin: float
    aliases: Mapping[str, tuple[str, ...]]
    """What people call each adapter, beside its name, its label and the name of its domain."""
    sources: tuple[OpenSource, ...] = ()
    down: tuple[UnansweredSource, ...] = ()

    def bound_to(
        self, sources: Sequence[OpenSource], down: Sequence[UnansweredSource]
    ) -> "IntentCompositeRetriever":
        return replace(self, sources=tuple(sources), down=tuple(down))

    async def decide(self, turn: Turn, trace: Trace) -> Decision | FollowUpDecision:
        """Decide which source answers, and what; one that fails does not stop the others."""
        asking = _Asking.of(self, turn)
        with trace.stage("sources") as details:
            decided = await asking.decide()
            details |= asking.describe(decided)
        return decided

    async def close(self) -> None:
        """Nothing to give back: the sources are adapters of their own."""


@dataclass(slots=True)
class _Asking:
    """One question on its way through the sources."""

    turn: Turn
    reader: SourceReader
    named: NamedSources
    lexicon: Lexicon
    margin: float
    open: Mapping[str, OpenSource]
    down: Mapping[str, UnansweredSource]
    answers: list[SourceAnswer]
    failed: list[UnansweredSource]

    @classmethod
    def of(cls, composite: IntentCompositeRetriever, turn: Turn) -> "_Asking":
        """Read what the question names."""
        domains = {one.name.adapter: one.library.domain for one in composite.sources}
        names: dict[str, tuple[str, ...]] = {}
        sources = *(one.name for one in composite.sources), *(d.source for d in composite.down)
        for name, label in ((each.adapter, each.label) for each in sources):
            domain = (domains[name].name,) if name in domains else ()
            names[name] = (name, label, *domain, *composite.aliases.get(name, ()))
        spoken = (each.response.supported_languages for each in domains.values())
        codes = dict.fromkeys(("en", *(code for some in spoken for code in some)))
        reader = source_reader(tuple(names.items()), tuple(codes))
        return cls(
            turn=turn,
            reader=reader,
            named=reader.read(turn.text),
            lexicon=shipped_lexicon(),
            margin=composite.clarify_margin,
            open={one.name.adapter: one for one in composite.sources},
            down={one.source.adapter: one for one in composite.down},
            answers=[],
            failed=[],
        )

    async def decide(self) -> SourceDecision:
        """Decide; raises what asking raises that is no failure of one source."""
        named = self.named
        if self.turn.given and (asking := self._lead()) is not None:
            answered = await self._ask(asking, message=self.turn.text)
            if answered is not None:
                return self._answered(answered)
        chosen = self._chosen()
        if chosen is not None:
            return chosen
        if len(named.sources) > 1:
            return await self._side_by_side()
        if named.sources and (named.certain or not self._has_rest()):
            return await self._from_named(named.sources[0])
        lead = self._lead()
        if lead is not None and not named.sources:
            together = await self._going_on_together()
            if together is not None:
                return together
            first = self._answer_of(lead) or await self._ask(lead)
            if first is not None and first.decided.contribution:
                return await self._going_on(first)
        return self._best(await self._ask_rest())

    def describe(self, decided: SourceDecision) -> dict[str, Any]:
        """What was named, what each source made of the question, and whose answer it is."""
        failed = [*self.down.values(), *self.failed]
        return {
            "named": list(self.named.sources),
            "asked": [
                {"source": each.source.adapter, **describe_choice(each.decision)}
                for each in self.answers
            ],
            "unavailable": [{"source": each.source.adapter, "why": each.why} for each in failed],
            "answers": decided.source or ", ".join(decided.callers) or None,
        }

    async def _ask(self, name: str, *, message: str | None = None) -> SourceAnswer | None:
        """What a source makes of the question; None where it fails.

        Without a `message`, a source that is named is asked for what stands beside its name.
        """
        source, named = self.open[name], self.named
        is_named = name in named.sources and message is None
        text = message or (named.text if is_named else self.turn.text)
        context = local_context(self._context_for(source, is_named=is_named), name)
        found = await source.ask(replace(self.turn, text=text, context=context))
        if isinstance(found, UnansweredSource):
            self.failed.append(found)
            return None
        if is_named:
            decided = found.decided
            decision = _covered(decided.decision, named, self.turn.text)
            found = replace(found, decided=replace(decided, decision=decision))
        self.answers.append(found)
        return found

    async def _ask_all(
        self, names: Sequence[str], *, message: str | None = None
    ) -> list[SourceAnswer]:
        await asyncio.gather(*(self._ask(name, message=message) for name in names))
        order = list(self.open)
        return sorted(self.answers, key=lambda answer: order.index(answer.source.adapter))

    def _context_for(self, source: OpenSource, *, is_named: bool) -> ConversationContext:
        """The conversation; where it goes on with another source, as if it had been this one."""
        context, last = self.turn.context, _last_call(self.turn.context)
        if last is not None and last.together:
            # Of calls that were made beside one another, each source goes on with its own.
            own = [call for call in context.done if call.together == last.together]
            own = [call for call in own if split_id(call.template_id)[0] == source.name.adapter]
            context = replace(context, done=(*(c for c in context.done if c not in own), *own))
            last = _last_call(context)
        if not is_named or last is None or split_id(last.template_id)[0] == source.name.adapter:
            return context
        twin = self._twin(last, source)
        if twin is None:
            return context
        moved = _moved(last, twin, source)
        if context.waiting is not None:
            return replace(context, waiting=moved)
        return replace(context, done=(*context.done, moved))

    async def _from_named(self, name: str) -> SourceDecision:
        """What the one source that is named makes of it; others only if it is no name after all."""
        if name in self.down:
            return self._not_reached(self.down[name])
        last = _last_call(self.turn.context)
        if last is not None and not self._has_rest():
            twin = self._twin(last, self.open[name])
            if twin is not None:
                decision = self._again(self.open[name], twin, last)
                return self._of(name, FollowUpDecision(decision, None, "follow_up"))
        found = await self._ask(name)
        if found is None:
            return self._not_reached(self.failed[-1])
        is_whole = not self._ends_in_value(found.decision)
        if is_whole and not isinstance(found.decision, NoMatch):
            return self._answered(found)
        others = [other for other in self.open if other != name or not is_whole]
        reading = [
            other
            for other in await self._ask_all(others, message=self.turn.text)
            if other is not found
            and isinstance(other.decision, Call | MissingArguments)
            and _is_read(other.decision)
            and self.named.are_read(_coverage(other.decision))
        ]
        return self._best(reading) if reading else self._answered(found)

    def _ends_in_value(self, decision: Decision) -> bool:
        """Whether a name may be the beginning of a value: “at Toronto station”."""
        if not isinstance(decision, Call | MissingArguments):
            return False
        part = decision.call if isinstance(decision, Call) else decision
        places = [source.span for source in part.sources.values() if source.span is not None]
        return any(
            end <= start and not self.turn.text[end:start].strip()
            for _, end in self.named.names
            for start, _ in places
        )

    async def _side_by_side(self) -> SourceDecision:
        """The same of each source that is named."""
        named = self.named.sources
        unanswered = [self.down[name] for name in named if name in self.down]
        asked = [name for name in named if name in self.open]
        last = _last_call(self.turn.context)
        found: dict[str, Call] = {}
        if last is not None and not self._has_rest():
            decided = {
                name: self._again(self.open[name], twin, last)
                for name in asked
                if (twin := self._twin(last, self.open[name])) is not None
            }
            found = {name: one for name, one in decided.items() if isinstance(one, Call)}
        else:
            answers = {each.source.adapter: each for each in await self._ask_all(asked)}
            unanswered += self.failed
            calls = [each for each in answers.values() if isinstance(each.decision, Call)]
            if not calls:
                best = self._best(list(answers.values()))
                return replace(best, unanswered=tuple(unanswered))
            best_call = max(calls, key=lambda each: _confidence(each.decision))
            topic = self._topic(best_call)
            for name in asked:
                call = self._of_topic(name, answers.get(name), topic)
                if call is not None:
                    found[name] = call
        down = {each.source.adapter for each in unanswered}
        unanswered += [
            UnansweredSource(self.open[name].name, _NOTHING_ALIKE)
            for name in asked
            if name not in found and name not in down
        ]
        if not found:
            why = "nothing that was asked before can be asked of these"
            return self._shared(NoMatch(why, coverage=NO_COVERAGE), unanswered)
        if len(found) == 1:
            ((name, only),) = found.items()
            return replace(self._of(name, FollowUpDecision(only)), unanswered=tuple(unanswered))
        several = SeveralCalls(tuple(found.values()))
        return replace(self._shared(several, unanswered), callers=tuple(found))

    def _of_topic(self, name: str, answer: SourceAnswer | None, topic: str) -> Call | None:
        """The call of a source for a topic: as it decided, or of its template for the topic."""
        if answer is None:
            return None
        if isinstance(answer.decision, Call) and self._topic(answer) == topic:
            return answer.decision
        source = self.open[name]
        template = next(_of_topic(source.library, topic), None)
        if template is None:
            return None
        turn = replace(self.turn, text=self.named.text, intent=answer.decided.intent)
        decision = _covered(source.call(template.id, turn, {}), self.named, self.turn.text)
        is_read = isinstance(decision, Call) and _is_read(decision)
        return decision if is_read and isinstance(decision, Call) else None

    async def _going_on(self, lead: SourceAnswer) -> SourceDecision:
        """What goes on with the conversation, unless another source has a clear use for all."""
        if lead.decided.certain:
            return self._answered(lead)
        clear = [
            other
            for other in await self._ask_rest()
            if isinstance(other.decision, Call | SeveralCalls)
            and not other.decided.contribution
            and _is_read(other.decision)
        ]
        return self._best(clear) if clear else self._answered(lead)

    async def _going_on_together(self) -> SourceDecision | None:
        """What goes on with calls that were made beside one another, in each of their sources."""
        last = _last_call(self.turn.context)
        if last is None or not last.together:
            return None
        done = self.turn.context.done
        made = [split_id(call.template_id)[0] for call in done if call.together == last.together]
        if len(made) < _LEAST_OF_A_CHOICE or any(name not in self.open for name in made):
            return None
        await self._ask_all(made)
        calls = [
            found.decision
            for name in made
            if (found := self._answer_of(name)) is not None
            and found.decided.contribution
            and isinstance(found.decision, Call)
        ]
        if len(calls) < len(made):
            return None
        several = self._shared(SeveralCalls(tuple(calls)))
        return replace(several, callers=tuple(made), contribution="follow_up")

    def _answer_of(self, name: str) -> SourceAnswer | None:
        return next((each for each in self.answers if each.source.adapter == name), None)

    async def _ask_rest(self) -> list[SourceAnswer]:
        """What every source makes of it, of which some were asked already."""
        known = {answer.source.adapter for answer in self.answers}
        return await self._ask_all([name for name in self.open if name not in known])

    def _best(self, answers: Sequence[SourceAnswer]) -> SourceDecision:
        """The likeliest answer, or the question which of those that are near to it is meant."""
        likely = [one for one in answers if isinstance(one.decision, _ASKS_FOR_SOMETHING)]
        likely.sort(key=lambda one: -_confidence(one.decision))
        if not likely:
            return self._nothing(answers)
        best = likely[0]
        near = [one for one in likely if one is best or self._is_near(one, best)]
        read = [one for one in near if _is_read(one.decision)]
        near = read or near
        named = [one for one in near if one.source.adapter in self.named.sources]
        near = named or near
        options = tuple(match for one in near for match in _options(one))
        if len(near) > 1 and len(options) >= _LEAST_OF_A_CHOICE:
            return self._shared(Clarify(options, _coverage(near[0].decision)))
        return self._answered(near[0])

    def _is_near(self, one: SourceAnswer, best: SourceAnswer) -> bool:
        if _confidence(best.decision) - _confidence(one.decision) < self.margin:
            return True
        topic = self._topic(best)
        return topic != "" and self._topic(one) == topic

    def _nothing(self, answers: Sequence[SourceAnswer]) -> SourceDecision:
        for one in answers:
            if isinstance(one.decision, Blocked):
                return self._answered(one)
        for one in answers:
            if isinstance(one.decision, Courtesy):
                return self._shared(one.decision)
        for one in answers:
            if isinstance(one.decision, Cancelled):
                return self._answered(one)
        failed = [*self.down.values(), *self.failed]
        if not answers:
            why = "; ".join(f"{each.source.adapter}: {each.why}" for each in failed)
            return self._shared(NoMatch(why, objection=NOT_REACHED), failed)
        nothing = [
            shared
            for one in answers
            if isinstance(shared := shared_ending(one.source.adapter, one.decision), NoMatch)
        ]
        # Words that speak against doing anything are named before what is merely not known.
        nothing.sort(
            key=lambda each: (
                not each.objection,
                -each.nearest[0].confidence if each.nearest else 0.0,
            )
        )
        nearest = sorted(
            (match for each in nothing for match in each.nearest),
            key=lambda match: -match.confidence,
        )
        return self._shared(replace(nothing[0], nearest=tuple(nearest)))

    def _not_reached(self, failed: UnansweredSource) -> SourceDecision:
        return self._shared(NoMatch(failed.why, objection=NOT_REACHED), [failed])

    def _chosen(self) -> SourceDecision | None:
        """What a message chooses of what several sources offered, by its place or its source."""
        options = self.turn.context.options
        if options is None:
            return None
        ids = [name for name in options.template_ids if self._template(name) is not None]
        if len({split_id(name)[0] for name in ids}) < _LEAST_OF_A_CHOICE:
            return None
        utterance = read_utterance(self.turn.text, self.lexicon)
        if utterance.form == "cancel":
            return self._shared(Cancelled())
        if len(self.named.sources) == 1 and not self._has_rest():
            ids = [name for name in ids if split_id(name)[0] == self.named.sources[0]]
        else:
            offered = [template for name in ids if (template := self._template(name)) is not None]
            place = by_place(utterance, offered, self.lexicon)
            ids = [n for n, t in zip(ids, offered, strict=True) if t is place]
        if not ids:
            return None
        if len(ids) > 1:
            why = "offered before"
            return self._shared(Clarify(tuple(Match(name, 1.0, 0.0, why) for name in ids)))
        name, template_id = split_id(ids[0])
        turn = replace(self.turn, text=self.reader.read(options.question).text)
        decision = _said_before(self.open[name].call(template_id, turn, {}))
        return self._of(name, FollowUpDecision(decision, None, "choice"))

    def _again(self, source: OpenSource, twin: Template, last: CompletedCall) -> Decision:
        """The last call once more, in another source."""
        known = _moved(last, twin, source).arguments
        decision = source.call(twin.id, replace(self.turn, text=self.named.text), known)
        return _covered(decision, self.named, self.turn.text)

    def _lead(self) -> str | None:
        """The source that the conversation goes on with, if it serves."""
        context = self.turn.context
        last = context.asked or context.waiting or (context.done[-1] if context.done else None)
        template_id = last.template_id if last is not None else ""
        if context.options is not None:
            template_id = context.options.template_ids[0]
        name = split_id(template_id)[0]
        return name if name in self.open else None

    def _has_rest(self) -> bool:
        """Whether anything is said beside the names of sources, and words that go on."""
        words = tuple(word.text for word in message_words(self.named.text))
        opened = self.lexicon.continuations.at(words, 0)
        return any(word not in self.lexicon.idle for word in words[opened:])

    def _twin(self, last: CompletedCall, source: OpenSource) -> Template | None:
        """The template of a source that is for the same as the last call."""
        template = self._template(last.template_id)
        return next(_of_topic(source.library, topic_of(template)), None) if template else None

    def _template(self, template_id: str) -> Template | None:
        name, local = split_id(template_id)
        return self.open[name].library.templates.get(local) if name in self.open else None

    def _topic(self, answer: SourceAnswer) -> str:
        """What the template is for that a source would call; nothing where that is not one."""
        if not isinstance(answer.decision, Call | MissingArguments):
            return ""
        template_id = answer.decision.match.template_id
        return topic_of(self.open[answer.source.adapter].library.templates[template_id])

    def _answered(self, answer: SourceAnswer) -> SourceDecision:
        found = self._of(answer.source.adapter, answer.decided)
        return replace(found, detection=answer.detection)

    def _of(self, name: str, decided: FollowUpDecision) -> SourceDecision:
        return SourceDecision(
            decision=decided.decision,
            intent=decided.intent,
            contribution=decided.contribution,
            form=decided.form,
            source=name,
            private=self._private,
        )

    def _shared(
        self, decision: Decision, unanswered: Sequence[UnansweredSource] = ()
    ) -> SourceDecision:
        found = SourceDecision(decision, private=self._private)
        return replace(found, unanswered=tuple(unanswered))

    @property
    def _private(self) -> bool:
        return any(answer.private for answer in self.answers)


_ASKS_FOR_SOMETHING: Final = (
    Call,
    SeveralCalls,
    MissingArguments,
    Clarify,
    ClarifyingQuestion,
)


def topic_of(template: Template) -> str:
    """Return what a template is for, which templates of two sources may share."""
    return template.topic or template.id


def _of_topic(library: Library, topic: str) -> Iterator[Template]:
    return (each for each in library.templates.values() if topic_of(each) == topic)


def _confidence(decision: Decision) -> float:
    match decision:
        case Call(match) | MissingArguments(match):
            return match.confidence
        case SeveralCalls(calls):
            return min(call.match.confidence for call in calls)
        case Clarify(options):
            return min(1.0, sum(option.confidence for option in options))
        case ClarifyingQuestion():
            return decision.confidence
    return 0.0


def _coverage(decision: Decision) -> Coverage:
    if isinstance(decision, SeveralCalls):
        return decision.calls[0].coverage
    if isinstance(decision, Call | MissingArguments | Clarify | NoMatch):
        return decision.coverage
    return NO_COVERAGE


def _is_read(decision: Decision) -> bool:
    """Whether every word of the question was read."""
    calls = decision.calls if isinstance(decision, SeveralCalls) else (decision,)
    return not any(True for each in calls for _ in _coverage(each).unread())


def _options(answer: SourceAnswer) -> tuple[Match, ...]:
    """What can be offered of an answer, each with its source."""
    found = tuple[Match, ...]()
    match answer.decision:
        case Call(chosen) | MissingArguments(chosen):
            found = (chosen,)
        case Clarify(options):
            found = options
    source = answer.source.adapter
    return tuple(shared_match(source, replace(each, runner_up=None)) for each in found)


def _covered(decision: Decision, named: NamedSources, message: str) -> Decision:
    """The decision on a message without the names of sources, as one on the whole message."""
    if isinstance(decision, SeveralCalls):
        calls = (_covered(call, named, message) for call in decision.calls)
        return replace(decision, calls=tuple(call for call in calls if isinstance(call, Call)))
    if isinstance(decision, Call | MissingArguments | Clarify | NoMatch):
        return replace(decision, coverage=named.on_message(decision.coverage, message))
    return decision


def _said_before(decision: Decision) -> Decision:
    """A decision on an earlier question, as one on a message that only chooses it."""
    if isinstance(decision, Call):
        sources = dict.fromkeys(decision.call.sources, Source("conversation"))
        call = replace(decision.call, sources=sources)
        return replace(decision, call=call, coverage=NO_COVERAGE)
    if isinstance(decision, MissingArguments):
        sources = dict.fromkeys(decision.sources, Source("conversation"))
        return replace(decision, sources=sources, coverage=NO_COVERAGE)
    return decision


def _last_call(context: ConversationContext) -> CompletedCall | None:
    return context.waiting or (context.done[-1] if context.done else None)


def _moved(last: CompletedCall, twin: Template, source: OpenSource) -> CompletedCall:
    """The last call as one of another source: its arguments under the same names."""
    names = {parameter.name for parameter in twin.parameters}
    arguments = {name: value for name, value in last.arguments.items() if name in names}
    return CompletedCall(qualified_id(source.name.adapter, twin.id), arguments, leads=last.leads)
