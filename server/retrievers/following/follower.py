"""Decides what a question means after what was said before; alone, when it needs none of it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from server.conversation.followups.choosing import by_place, by_words
from server.conversation.followups.referring import (
    Reference,
    has_anaphor,
    read_possessive,
    read_reference,
    read_result,
    resolve,
)
from server.conversation.followups.rows import nouns
from server.conversation.followups.saying import read_saying
from server.conversation.followups.wording import Wording, shipped_wording
from server.core.context import Asked, Done, Options
from server.core.decision import AskBack, AskFor, Call, Clarify, Decision, Dropped, NoMatch
from server.core.intent import Intent
from server.core.trace import Trace
from server.core.turn import Turn
from server.extraction.extractor import Extractor
from server.library.model import Library, Template
from server.retrievers.following.answering import Filled, filled
from server.retrievers.following.building import build
from server.retrievers.following.changing import changed, continued
from server.retrievers.following.given import Message, is_written_as_name
from server.retrievers.following.pointing import (
    Rewritten,
    for_row,
    from_last,
    from_row,
    listed,
    read_from,
    routed,
    with_name,
    with_row,
    with_value,
)

How = Literal["", "answer", "correction", "choice", "follow_up", "reference", "result", "dropped"]


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision, and the intent that the rule pack found for it."""

    decision: Decision
    intent: Intent | None = None
    how: How = ""
    """What the conversation contributed; empty when the question stands alone."""


Alone = Callable[[str], Awaitable[Decided]]
"""What a question is decided to mean without any conversation."""


Follow = Callable[[Turn, Intent | None, Alone, Trace], Awaitable[Decided]]
"""Decides what a turn means in its conversation, given what it would mean alone."""


class Follower:
    """Follows the conversations of one adapter. Keeps no state of its own."""

    def __init__(self, library: Library, extractor: Extractor) -> None:
        self._library = library
        self._extractor = extractor
        self._wording: Wording | None = None

    async def follow(self, turn: Turn, named: Intent | None, alone: Alone, trace: Trace) -> Decided:
        """Decide what `turn` means in its conversation.

        `named` holds everything the rule pack read in it, whatever its intent.

        Raises:
            ProviderError: the question could not be embedded.
        """
        context = turn.context
        if context.asked is None and context.options is None and not context.done:
            return await alone(turn.text)
        if self._wording is None:
            self._wording = await asyncio.to_thread(shipped_wording)
        following = _Following(turn, named, alone, self._library, self._extractor, self._wording)
        decided = await following.decide()
        trace.note(
            "conversation",
            {"form": following.message.saying.form, "contributes": decided.how or "nothing"},
        )
        return decided


class _Following:
    """One message in its conversation."""

    def __init__(
        self,
        turn: Turn,
        named: Intent | None,
        alone: Alone,
        library: Library,
        extractor: Extractor,
        wording: Wording,
    ) -> None:
        self._turn = turn
        self._context = turn.context
        self._alone = alone
        self._library = library
        self._extractor = extractor
        self._wording = wording
        saying = read_saying(turn.text, wording)
        self.message = Message(saying, wording, turn.received_at.astimezone(), named)

    async def decide(self) -> Decided:
        """The surest first: what was asked, what was offered, what changes the last call."""
        asked, options = self._asked, self._context.options
        if self.message.saying.form == "cancel" and (asked or options):
            return Decided(Dropped(asked.template_id if asked else None), None, "dropped")
        answer = self._answer(asked) if asked is not None else None
        corrects = self.message.saying.form == "correction"
        if asked is not None and answer is not None and not answer.by_text:
            return self._told(answer.decision, asked.intent, "correction" if corrects else "answer")
        if options is not None and (picked := by_place(*self._offered(options))):
            return self._picked(options, picked)
        change = self._change()
        if change is not None:
            return change
        first = await self._alone(self._turn.text)
        if asked is not None and answer is not None and self._is_answer(answer, first):
            return self._told(answer.decision, asked.intent, "answer")
        if isinstance(first.decision, Call):
            return await self._row(first) or first
        return await self._after_all(first, asked, options)

    async def _after_all(
        self, first: Decided, asked: Asked | None, options: Options | None
    ) -> Decided:
        """What else a question can mean that does not stand alone."""
        if asked is not None and (merged := self._merged(first, asked)):
            return merged
        if options is not None and (picked := self._by_words(first, options)):
            return self._picked(options, picked)
        return self._reference(first) or await self._pointing(first) or first

    # What was asked

    @property
    def _asked(self) -> Asked | None:
        asked = self._context.asked
        return asked if asked is not None and asked.template_id in self._library.templates else None

    def _answer(self, asked: Asked) -> Filled | None:
        template = self._library.templates[asked.template_id]
        return filled(self.message, asked, template, self._extractor, self._library.domain)

    def _is_answer(self, answer: Filled, first: Decided) -> bool:
        """Whether free text is the answer, rather than a question of its own."""
        decision = first.decision
        if isinstance(decision, NoMatch | AskBack):
            return True
        if answer.given.problems and isinstance(decision, Clarify):
            return True  # it would be asked about anyway
        if answer.given.problems or not is_written_as_name(self.message, self.message.saying.words):
            return isinstance(decision, Call) and self._is_its_text(decision, answer)
        return not isinstance(decision, Call) or self._reads_text(decision)

    def _is_its_text(self, call: Call, answer: Filled) -> bool:
        """Whether the question was a call only in that all its words are a text for one."""
        spans = [source.span for source in call.call.sources.values() if source.span]
        whole = not self.message.saying.left(spans, self._wording)
        return whole and not answer.given.problems and self._reads_text(call)

    def _reads_text(self, call: Call) -> bool:
        """Whether all that a call has of the question is one text."""
        read = [n for n, source in call.call.sources.items() if source.span is not None]
        return len(read) == 1 and isinstance(call.call.arguments[read[0]], str)

    def _merged(self, first: Decided, asked: Asked) -> Decided | None:
        """More arguments for the call that was asked about, in a sentence that names it again."""
        decision = first.decision
        if not isinstance(decision, AskFor) or decision.match.template_id != asked.template_id:
            return None
        if not decision.arguments.keys() - asked.arguments.keys():
            return None
        template = self._library.templates[asked.template_id]
        arguments = {**asked.arguments, **decision.arguments}
        problems = {missing.name: missing.problem for missing in decision.missing}
        built = build(
            template,
            self._library.domain,
            arguments,
            decision.sources,
            {name: problem for name, problem in problems.items() if problem},
            "it answers what was asked",
        )
        return Decided(built, first.intent, "answer")

    # What was offered

    def _offered(self, options: Options) -> tuple[Any, list[Template], Wording]:
        templates = self._library.templates
        offered = [templates[name] for name in options.template_ids if name in templates]
        return self.message.saying, offered, self._wording

    def _by_words(self, first: Decided, options: Options) -> Template | None:
        decision = first.decision
        if isinstance(decision, AskFor):
            meant = decision.match.template_id
            return self._library.templates[meant] if meant in options.template_ids else None
        return by_words(*self._offered(options))

    def _picked(self, options: Options, template: Template) -> Decided:
        """The template that was chosen, with what the question gave that led to the choice."""
        found = self._extractor.extract(options.question, template, now=self.message.now)
        given = {
            name: value
            for name, value in found.arguments.items()
            if found.sources[name].span is not None
        }
        problems = {m.name: m.problem for m in found.missing if m.problem}
        decision = build(
            template, self._library.domain, given, {}, problems, "it was chosen of what was offered"
        )
        return self._told(decision, options.intent, "choice")

    # The last call once more

    @property
    def _last(self) -> Done | None:
        done = self._context.done
        return done[-1] if done and done[-1].template_id in self._library.templates else None

    def _change(self) -> Decided | None:
        form, last = self.message.saying.form, self._last
        if last is None or form not in _GOES_ON:
            return None
        template = self._library.templates[last.template_id]
        if not _may_repeat(template):
            return None
        how: How = "correction" if form == "correction" else "follow_up"
        pointed = self._pointed(last)
        if pointed is not None:
            return self._told(pointed, last.intent, how)
        decision = changed(self.message, last, template, self._extractor, self._library.domain)
        return self._told(decision, last.intent, how) if decision is not None else None

    def _pointed(self, last: Done) -> Call | None:
        """The last call for another row, of which the message says nothing but the place."""
        reference = read_reference(self._turn.text, self._wording, self._things)
        if reference is None or not self._is_but(reference):
            return None
        shown = resolve(reference, listed(self._context.done, self._library))
        return for_row(last, shown, self._library) if shown is not None else None

    # What was shown

    def _reference(self, first: Decided) -> Decided | None:
        """What a rule pack says refers to earlier answers."""
        intent = first.intent
        if intent is None or intent.route is None or not isinstance(first.decision, AskBack):
            return None
        if intent.entities.get("reference_type") == "context":
            return self._continued()
        found = routed(intent, self._context.done, self._library)
        if found is None:
            return None
        return Decided(found, replace(intent, name=intent.route, ask="", route=None), "reference")

    def _continued(self) -> Decided | None:
        """The latest call that has a use for what the message names, with that in it."""
        for done in reversed(self._context.done):
            template = self._library.templates.get(done.template_id)
            if template is None or not _may_repeat(template):
                continue
            repeated = continued(
                self.message, done, template, self._extractor, self._library.domain
            )
            if repeated is not None:
                return self._told(repeated, done.intent, "follow_up")
        return None

    async def _row(self, first: Decided) -> Decided | None:
        """What points to a row that was shown: "the second one", "the last post"."""
        done, text = listed(self._context.done, self._library), self._turn.text
        reference = read_reference(text, self._wording, self._things)
        shown = resolve(reference, done) if reference is not None else None
        if reference is None or shown is None:
            return None
        asking = first.decision
        if isinstance(asking, Call) and not self._points_only(asking, reference):
            return None
        if isinstance(asking, AskFor):
            call = from_row(asking, shown, self._library, self._library.domain)
            if call is not None:
                return Decided(call, first.intent, "reference")
        row = with_row(text, reference.span, shown, self._library)
        return await self._rewritten(row, first, "reference")

    def _points_only(self, call: Call, reference: Reference) -> bool:
        """Whether a call took the reference for a value, or took nothing from a bare reference."""
        spans = [source.span for source in call.call.sources.values() if source.span]
        start, end = reference.span
        if any(first < end and start < last for first, last in spans):
            return True
        return not spans and self._is_but(reference)

    def _is_but(self, reference: Reference) -> bool:
        """Whether the message is the reference, and words to ask for it."""
        left = self.message.saying.left([reference.span], self._wording)
        asking = self._wording.commands | self._wording.asks
        return all(word.text in asking for word in left)

    @property
    def _things(self) -> set[str]:
        """Nouns of what was listed."""
        templates = self._library.templates
        names = [call.template_id for call in self._context.done if call.rows]
        return {noun for name in names if name in templates for noun in nouns(templates[name])}

    async def _pointing(self, first: Decided) -> Decided | None:
        """What points to a row, the last result or the last arguments in so many words."""
        last, text = self._last, self._turn.text
        if last is None or isinstance(first.decision, AskBack):
            return None
        row = await self._row(first)
        if row is not None:
            return row
        span = read_result(text, self._wording)
        if span is not None and last.value is not None:
            value = with_value(text, span, last.value)
            if result := await self._rewritten(value, first, "result"):
                return result
        points = self.message.saying.form in _GOES_ON or has_anaphor(
            self.message.saying.words, self._wording
        )
        if points and isinstance(first.decision, AskFor):
            call = from_last(first.decision, last, self._library)
            if call is not None:
                return Decided(call, first.intent, "follow_up")
        possessive = read_possessive(text, self._wording)
        if possessive is None:
            return None
        return await self._rewritten(with_name(text, *possessive, last), first, "follow_up")

    async def _rewritten(
        self, rewritten: Rewritten | None, first: Decided, how: How
    ) -> Decided | None:
        """The message decided with something put in, where that is what it needed."""
        if rewritten is None:
            return None
        second = await self._alone(rewritten.text)
        if not isinstance(second.decision, Call | AskFor):
            return None
        asking, meant = first.decision, second.decision.match.template_id
        if isinstance(asking, AskFor) and asking.match.template_id != meant:
            return None
        if isinstance(second.decision, AskFor) and not isinstance(asking, AskFor):
            return None
        found = read_from(second.decision, rewritten, self._turn.text)
        return Decided(found, second.intent, how) if found is not None else None

    def _told(self, decision: Decision, intent: str | None, how: How) -> Decided:
        """The decision, for the intent that the call it goes on with was for."""
        if intent is None:
            return Decided(decision, self._turn.intent, how)
        meant = Intent(intent, 1.0, "default", explanation="as before in this conversation")
        return Decided(decision, meant, how)


_GOES_ON: Final = frozenset({"correction", "continuation", "fragment"})


def _may_repeat(template: Template) -> bool:
    """Whether a few words may run the template again: never one that writes without a yes."""
    return template.effect == "read" or template.policy.confirm
