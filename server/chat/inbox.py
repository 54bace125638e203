"""What the inbox keeps of a turn, and what the turn says of the one before it."""

from typing import Final

from server.chat.adapter import Adapter
from server.conversation.inbox import Hindsight, InboxTurn, TurnKind
from server.core.decision import (
    Answer,
    Blocked,
    Call,
    Clarify,
    ClarifyingQuestion,
    Courtesy,
    DecidedCalls,
    Ending,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    SeveralEndings,
)
from server.core.turn import Turn

_MAX_CHARS: Final = 4000


def note_turn(
    adapter: Adapter, turn: Turn, answer: Answer, *, by: Adapter, private: bool, form: str
) -> None:
    """Note a turn that the adapter `by` answered; nothing waits for it to be written.

    What a guard refused is not kept, and of a `private` question no words are. `form` is that of
    a follow-up.
    """
    decision = answer.decision
    if adapter.inbox is None or isinstance(decision, Blocked):
        return
    caller, template = turn.caller, _template_of(decision)
    noted = InboxTurn(
        key_id=caller.key_id,
        adapter=caller.adapter,
        user_id=caller.user_id or "",
        session_id=turn.session_id,
        request_id=turn.id,
        answered_by=by.name,
        at=turn.received_at,
        kind=_kind_of(decision),
        question="" if private else turn.text[:_MAX_CHARS],
        masked=private,
        follows=bool(turn.context.messages),
        template_id=template,
    )
    adapter.inbox.note(noted, _hindsight(turn, decision, form) if by is adapter else None)


def _kind_of(decision: Ending) -> TurnKind:
    match decision:
        case NoMatch():
            return "declined"
        case Clarify() | ClarifyingQuestion():
            return "asked_back"
        case MissingArguments():
            return "asked"
    return "answered"


def _template_of(decision: Ending) -> str | None:
    """The template that was called or asked for, or else the likeliest."""
    match decision:
        case Call(match) | PendingConfirmation(match) | MissingArguments(match):
            return match.template_id
        case Clarify([first, *_]) | NoMatch(_, [first, *_]):
            return first.template_id
        case SeveralEndings([first, *_]) | DecidedCalls([first, *_]):
            return first.match.template_id
    return None


def _hindsight(turn: Turn, decision: Ending, form: str) -> Hindsight | None:
    """What is certain now of the turn before; that words are like its words is not enough."""
    context = turn.context
    came_to = None
    if isinstance(decision, Call | PendingConfirmation | MissingArguments):
        came_to = decision.match.template_id
    if context.options is not None:
        first, *_ = context.options.template_ids
        if came_to in context.options.template_ids:
            return Hindsight("asked_back", first, "asked_back", expected=came_to)
    elif context.asked is not None:
        of = context.asked.template_id
        if came_to != of and not isinstance(decision, Courtesy):
            return Hindsight("asked", of, "asked_back")
    elif form == "correction" and came_to is not None:
        last = context.waiting or (context.done[-1] if context.done else None)
        if last is not None and last.template_id != came_to:
            return Hindsight("answered", last.template_id, "corrected", expected=came_to)
    return None
