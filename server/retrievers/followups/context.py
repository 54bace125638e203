"""A message in its conversation, and what can be decided of it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from server.conversation.followups.lexicon import Lexicon
from server.conversation.followups.utterances import Utterance
from server.core.coverage import Coverage
from server.core.decision import Call, Decision, Match, MissingArguments, MissingParameter
from server.core.tools import Source
from server.core.turn import CompletedCall, Intent, PendingQuestion, Turn
from server.extraction.extractor import Extractor
from server.extraction.values import Extraction, note_ambiguous_dates
from server.library.model import Library, Template

Contribution = Literal[
    "", "answer", "correction", "choice", "follow_up", "reference", "result", "dropped"
]
"""What a conversation contributed to a decision; empty when the question stands alone."""

Span = tuple[int, int]

_FORMS_THAT_GO_ON: Final = frozenset({"correction", "continuation", "fragment"})


@dataclass(frozen=True, slots=True)
class FollowUpDecision:
    """A decision, the intent it is for, and what the conversation contributed to it.

    `form` is that of the message, and it is `certain` where no other decider was needed. With
    `rewritings`, the decision is what the message means as it is written: they are to be detected
    and decided first, in their order, and the first that is accepted takes its place.
    """

    decision: Decision
    intent: Intent | None = None
    contribution: Contribution = ""
    form: str = ""
    rewritings: tuple["Rewriting", ...] = ()
    certain: bool = False


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A message with `name` in place of the words at `span` that stand for it.

    `first` is the decision on the message as it is written.
    """

    text: str
    span: Span
    name: str
    contribution: Contribution
    first: Decision

    @property
    def rewritten(self) -> str:
        return f"{self.text[: self.span[0]]}{self.name}{self.text[self.span[1] :]}"

    def accept(self, decision: Decision, intent: Intent | None) -> FollowUpDecision | None:
        """The decision on the rewritten message as one on the message itself, if it is better.

        It is not when it asks for something where the first one did not, when it asks for
        another template than the first one, or when the name had no part in it.
        """
        if not isinstance(decision, Call | MissingArguments):
            return None
        if isinstance(self.first, MissingArguments):
            if self.first.match.template_id != decision.match.template_id:
                return None
        elif isinstance(decision, MissingArguments):
            return None
        part = decision.call if isinstance(decision, Call) else decision
        sources = {name: self._source(source) for name, source in part.sources.items()}
        used = any(part.sources[name].span and not sources[name].span for name in sources)
        if not used or part.arguments.keys() - sources.keys():
            return None
        if isinstance(decision, Call):
            decision = replace(decision, call=replace(decision.call, sources=sources))
        else:
            decision = replace(decision, sources=sources)
        read = decision.coverage.before_rewriting(self.text, self.span, len(self.name))
        decision = replace(decision, coverage=read if read.words else decision.coverage)
        return FollowUpDecision(decision, intent, self.contribution)

    def _source(self, source: Source) -> Source:
        end = self.span[0] + len(self.name)
        if source.span is None or source.span[1] <= self.span[0]:
            return source
        if source.span[0] < end:
            return Source("conversation", note=source.note)
        shift = end - self.span[1]
        start, stop = source.span[0] - shift, source.span[1] - shift
        return replace(source, span=(start, stop), text=self.text[start:stop])


@dataclass(frozen=True, slots=True)
class FollowUpContext:
    """One message, what its words say of what came before it, and the library that answers."""

    turn: Turn
    utterance: Utterance
    lexicon: Lexicon
    library: Library
    extractor: Extractor

    @property
    def now(self) -> datetime:
        return self.turn.received_at.astimezone()

    @property
    def text(self) -> str:
        """The message with its opening words blanked out; every place is where it was."""
        return " " * self.utterance.start + self.utterance.text[self.utterance.start :]

    @property
    def goes_on(self) -> bool:
        """Whether the message says by its form that it goes on with something."""
        return self.utterance.form in _FORMS_THAT_GO_ON

    @property
    def asked(self) -> PendingQuestion | None:
        """What was asked, if the library still has the template."""
        asked = self.turn.context.asked
        return asked if asked is not None and asked.template_id in self.library.templates else None

    @property
    def last(self) -> CompletedCall | None:
        """The last call, be it that it waits for a yes, if the library still has its template."""
        context = self.turn.context
        done = context.waiting or (context.done[-1] if context.done else None)
        return done if done is not None and done.template_id in self.library.templates else None

    def decided(
        self, decision: Decision, intent: str | None, contribution: Contribution
    ) -> FollowUpDecision:
        """The decision, for the intent that the call it goes on with was for."""
        if intent is None:
            return FollowUpDecision(decision, self.turn.intent, contribution)
        meant = Intent(intent, 1.0, "default", explanation="as before in this conversation")
        return FollowUpDecision(decision, meant, contribution)

    def call_or_ask(
        self,
        template: Template,
        arguments: Mapping[str, Any],
        sources: Mapping[str, Source],
        why: str,
        problems: Mapping[str, str] | None = None,
    ) -> Call | MissingArguments:
        """Call the template with what is known, or ask for what it still needs.

        `problems` say why a value that was given cannot be used. What nobody gave takes the
        template's default; arguments without a source were given earlier.
        """
        known: dict[str, Any] = {}
        origins: dict[str, Source] = {}
        missing: list[MissingParameter] = []
        for parameter in template.parameters:
            name = parameter.name
            problem = problems.get(name, "") if problems else ""
            if name in arguments and not problem:
                known[name] = arguments[name]
                origins[name] = sources.get(name) or Source("conversation")
            elif problem or parameter.is_needed:
                missing.append(parameter.missing(problem))
            elif parameter.default is not None:
                known[name] = parameter.default_on(datetime.now().astimezone())
                origins[name] = Source("default")
        match = Match(template.id, 1.0, 0.0, why)
        noted = note_ambiguous_dates(known, origins, self.library.domain.date_order)
        coverage = self._coverage(template, known, noted)
        if missing:
            return MissingArguments(match, tuple(missing), known, noted, coverage)
        return Call(match, template.call(known, noted), coverage=coverage)

    def _coverage(
        self, template: Template, arguments: Mapping[str, Any], sources: Mapping[str, Source]
    ) -> Coverage:
        """How the message was read; of values that an earlier one gave, nothing stands in it."""
        text = self.turn.text
        here = {
            name: source
            for name, source in sources.items()
            if source.span is not None and source.text == text[source.span[0] : source.span[1]]
        }
        reading = self.extractor.read(text, self.now)
        found = Extraction(arguments, here)
        return replace(self.extractor.cover(reading, template, found), ruled=True)
