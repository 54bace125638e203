"""A message in its conversation, and what can be decided of it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from server.conversation.followups.lexicon import Lexicon
from server.core.answer import Trace
from server.core.decision import Call, Decision, Match, MissingArguments, MissingParameter
from server.core.tools import Source
from server.core.turn import CompletedCall, ConversationContext, Intent, PendingQuestion, Turn
from server.extraction.extractor import Extractor
from server.extraction.values import note_ambiguous_dates
from server.library.model import Domain, Library, Template
from server.retrievers.followups.provided_values import FollowUpMessage

How = Literal["", "answer", "correction", "choice", "follow_up", "reference", "result", "dropped"]


@dataclass(frozen=True, slots=True)
class FollowUpDecision:
    """A decision, and the intent that the rule pack found for it."""

    decision: Decision
    intent: Intent | None = None
    how: How = ""
    """What the conversation contributed; empty when the question stands alone."""


Alone = Callable[[str], Awaitable[FollowUpDecision]]
"""What a question is decided to mean without any conversation."""

Follow = Callable[[Turn, Intent | None, Alone, Trace], Awaitable[FollowUpDecision]]
"""Decides what a turn means in its conversation, given what it would mean alone."""

_GOES_ON: Final = frozenset({"correction", "continuation", "fragment"})


@dataclass(frozen=True, slots=True)
class FollowUpContext:
    """One message, what came before it, and the library that answers."""

    turn: Turn
    message: FollowUpMessage
    library: Library
    extractor: Extractor
    alone: Alone

    @property
    def context(self) -> ConversationContext:
        return self.turn.context

    @property
    def wording(self) -> Lexicon:
        return self.message.wording

    @property
    def goes_on(self) -> bool:
        """Whether the message says by its form that it goes on with something."""
        return self.message.saying.form in _GOES_ON

    @property
    def asked(self) -> PendingQuestion | None:
        """What was asked, if the library still has the template."""
        asked = self.context.asked
        return asked if asked is not None and asked.template_id in self.library.templates else None

    @property
    def last(self) -> CompletedCall | None:
        """The last call, be it that it waits for a yes, if the library still has its template."""
        context = self.context
        done = context.waiting or (context.done[-1] if context.done else None)
        known = done is not None and done.template_id in self.library.templates
        return done if known else None

    def told(self, decision: Decision, intent: str | None, how: How) -> FollowUpDecision:
        """The decision, for the intent that the call it goes on with was for."""
        if intent is None:
            return FollowUpDecision(decision, self.turn.intent, how)
        meant = Intent(intent, 1.0, "default", explanation="as before in this conversation")
        return FollowUpDecision(decision, meant, how)


def build_decision(
    template: Template,
    domain: Domain,
    arguments: Mapping[str, Any],
    sources: Mapping[str, Source],
    problems: Mapping[str, str],
    why: str,
) -> Call | MissingArguments:
    """Call the template with what is known, or ask for what it still needs.

    `problems` say why a value that was given cannot be used. What nobody gave takes the
    template's default.
    """
    known: dict[str, Any] = {}
    origins: dict[str, Source] = {}
    missing: list[MissingParameter] = []
    for parameter in template.parameters:
        name = parameter.name
        problem = problems.get(name, "")
        if name in arguments and not problem:
            known[name] = arguments[name]
            origins[name] = sources.get(name) or Source("conversation")
        elif problem or (parameter.required and parameter.default is None):
            missing.append(parameter.missing(problem))
        elif parameter.default is not None:
            known[name] = parameter.default
            origins[name] = Source("default")
    match = Match(template.id, 1.0, 0.0, why)
    origins = dict(note_ambiguous_dates(known, origins, domain.date_order))
    if missing:
        return MissingArguments(match, tuple(missing), known, origins)
    return Call(match, template.call(known, origins))


def said_before(arguments: Mapping[str, Any]) -> dict[str, Source]:
    """The sources of arguments that an earlier turn brought."""
    return dict.fromkeys(arguments, Source("conversation"))
