"""What a conversation remembers: read before a turn, written after it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from server.chat.adapter import Adapter
from server.conversation.memory import ChatMemory
from server.core.answer import Answer, Trace
from server.core.chat_messages import Message
from server.core.decision import (
    Blocked,
    Call,
    Clarify,
    ClarifyingQuestion,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
)
from server.core.json import to_json
from server.core.redaction import REDACTED, Redactor
from server.core.tools import Source
from server.core.turn import (
    CompletedCall,
    ConversationContext,
    OfferedChoices,
    PendingQuestion,
    Turn,
)
from server.library.model import Library
from server.text.tokens import lead_at

MOST_CHARS: Final = 4000
"""Of longer messages the beginning is remembered."""
_MOST_DONE: Final = 5
_MOST_ROWS: Final = 20
_MOST_FIELDS: Final = 8
_LONGEST_FIELD: Final = 80
_MOST_ARGUMENT_CHARS: Final = 4000
"""Arguments that are longer, such as tables of data, are not remembered."""
_MOST_TRIES: Final = 3
"""Messages after which a question that is not answered is asked no longer."""


def updated_context(
    library: Library | None, turn: Turn, answer: Answer, *, max_turns: int, private: bool
) -> ConversationContext:
    """What is remembered after `turn`, which `turn.context` came before.

    `private` says that words of the question must not be kept, since sensitive values may
    stand among them. A question that a guard refused leaves nothing behind. `library` is
    that of the adapter that answered, and None when it is not the one that is asked.
    """
    before = turn.context
    if isinstance(answer.decision, Blocked):
        return before
    memory = ChatMemory.of(before.messages, max_turns)
    memory.add_message("user", REDACTED if private else turn.text[:MOST_CHARS])
    memory.add_message("assistant", answer.content[:MOST_CHARS])
    if library is None:
        return replace(before, messages=memory.messages)
    question = "" if private else turn.text[:MOST_CHARS]
    return ConversationContext(
        memory.messages,
        _asked(library, turn, answer, question, private=private),
        _options(turn, answer, question),
        before.done if private else _done(library, turn, answer),
        before.held,
        None if private else _waiting(library, turn, answer),
    )


def _waiting(library: Library, turn: Turn, answer: Answer) -> CompletedCall | None:
    """The call that waits for a yes, for as long as it does."""
    decision = answer.decision
    if isinstance(decision, ProposalNotExecuted) and decision.held is not None:
        return turn.context.waiting
    if (
        not isinstance(decision, PendingConfirmation)
        or decision.match.template_id not in library.templates
    ):
        return None
    template_id, call = decision.match.template_id, decision.call
    kept = _kept(library, template_id, call.arguments, call.sources)
    return CompletedCall(
        template_id, kept, intent=turn.intent.name if turn.intent is not None else None
    )


def _asked(
    library: Library, turn: Turn, answer: Answer, question: str, *, private: bool
) -> PendingQuestion | None:
    decision, before = answer.decision, turn.context
    if isinstance(decision, NoMatch | ClarifyingQuestion):
        # Not understood: what was asked may still be answered, but not for ever.
        again = before.asked
        if again is None or again.tries >= _MOST_TRIES:
            return None
        return replace(again, tries=again.tries + 1)
    if (
        not isinstance(decision, MissingArguments)
        or decision.match.template_id not in library.templates
    ):
        return None
    template_id, earlier = decision.match.template_id, before.asked
    same = earlier is not None and earlier.template_id == template_id
    tries = earlier.tries + 1 if earlier is not None and same else 1
    return PendingQuestion(
        template_id,
        tuple(missing.name for missing in decision.missing),
        {} if private else _kept(library, template_id, decision.arguments, decision.sources),
        earlier.question if earlier is not None and same else question,
        turn.intent.name if turn.intent is not None else None,
        tries,
    )


def _options(turn: Turn, answer: Answer, question: str) -> OfferedChoices | None:
    decision = answer.decision
    if not isinstance(decision, Clarify):
        return None
    return OfferedChoices(
        tuple(option.template_id for option in decision.options),
        question,
        turn.intent.name if turn.intent is not None else None,
    )


def _done(library: Library, turn: Turn, answer: Answer) -> tuple[CompletedCall, ...]:
    decision, before = answer.decision, turn.context
    if not isinstance(decision, Call) or decision.match.template_id not in library.templates:
        return before.done
    execution = answer.metadata.get("tool_execution", {})
    if execution.get("status") != "success":
        return before.done
    template_id = decision.match.template_id
    call = decision.call
    redactor = Redactor(library.templates[template_id].policy.sensitive_params)
    result = execution.get("result")
    payload = result.get("result") if isinstance(result, Mapping) else result
    done = CompletedCall(
        template_id,
        _kept(library, template_id, call.arguments, call.sources),
        # What comes back of a call with secrets may repeat them under any name.
        () if redactor else _rows(payload),
        None if redactor else _value(payload),
        turn.intent.name if turn.intent is not None else None,
        {} if redactor else _leads(before, template_id, call.sources, turn.text),
    )
    return (*before.done, done)[-_MOST_DONE:]


def _leads(
    before: ConversationContext, template_id: str, sources: Mapping[str, Source], text: str
) -> dict[str, str]:
    """The words that arguments stood behind: "by" of the 4 in "divide 100 by 4"."""
    last = before.done[-1] if before.done else None
    leads: dict[str, str] = {}
    for name, source in sources.items():
        if source.kind == "conversation" and last is not None and last.template_id == template_id:
            leads |= {name: last.leads[name]} if name in last.leads else {}
        elif source.span is not None and (lead := lead_at(text, source.span[0])):
            leads[name] = lead
    return leads


def _kept(
    library: Library,
    template_id: str,
    arguments: Mapping[str, Any],
    sources: Mapping[str, Source],
) -> dict[str, Any]:
    """Arguments that somebody gave, without what is sensitive and what is too long."""
    redactor = Redactor(library.templates[template_id].policy.sensitive_params)
    parameters = {parameter.name for parameter in library.templates[template_id].parameters}
    kept = {
        name: value
        for name, value in arguments.items()
        if name in parameters
        and not redactor.covers(name)
        and (name not in sources or sources[name].kind not in ("default", "system"))
    }
    return {
        name: value
        for name, value in kept.items()
        if len(text := to_json(value)) <= _MOST_ARGUMENT_CHARS and REDACTED not in text
    }


def _rows(payload: Any) -> tuple[Mapping[str, Any], ...]:
    listed: Sequence[Any] = payload if isinstance(payload, list | tuple) else (payload,)
    rows = [_short(row) for row in listed[:_MOST_ROWS] if isinstance(row, Mapping)]
    return tuple(row for row in rows if row) if len(rows) == len(listed[:_MOST_ROWS]) else ()


def _short(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by which a row can be told, the first few of them."""
    short = {
        str(name): value
        for name, value in row.items()
        if isinstance(value, str | int | float | Decimal) and len(str(value)) <= _LONGEST_FIELD
    }
    return dict(list(short.items())[:_MOST_FIELDS])


def _value(payload: Any) -> Any:
    if isinstance(payload, Mapping) and len(payload) == 1:
        (payload,) = payload.values()
    if isinstance(payload, bool) or not isinstance(payload, str | int | float | Decimal):
        return None
    return payload if len(str(payload)) <= _LONGEST_FIELD else None


async def load_history(adapter: Adapter, turn: Turn, trace: Trace) -> Turn:
    """The turn with what its conversation remembers; a turn that begins one reads nothing.

    Raises:
        StoreUnavailable: it cannot be read.
    """
    if adapter.conversations is None or not turn.continues:
        return turn
    with trace.stage("recall") as details:
        context = await adapter.conversations.recall(turn.caller, turn.session_id)
        details["messages"] = len(context.messages)
    return replace(turn, context=context)


async def save_history(
    adapter: Adapter, turn: Turn, answer: Answer, *, by: Adapter, private: bool
) -> None:
    """Keep what the next turn has to know of this one, which the adapter `by` answered."""
    store = adapter.conversations
    if store is None:
        return
    library = adapter.library if by is adapter else None
    if _is_over(answer):
        if _only_looked(answer):
            # What was asked for is done with; what came of it is what “cancel it” means next.
            reply = Message("assistant", answer.content[:MOST_CHARS])
            await store.remember(turn.caller, turn.session_id, ConversationContext((reply,)))
        else:
            await store.forget(turn.caller, turn.session_id)
        return
    context = updated_context(library, turn, answer, max_turns=store.max_turns, private=private)
    context = replace(context, held=_held_after(turn, answer))
    if context != turn.context:
        # What a yes refers to must not be lost, whatever happens to the server.
        waits = context.held is not None
        await store.remember(turn.caller, turn.session_id, context, at_once=waits)


def _held_after(turn: Turn, answer: Answer) -> str | None:
    """The proposal to which the next yes or no belongs; a change of subject leaves none."""
    decision = answer.decision
    if isinstance(decision, Blocked):
        return turn.context.held
    if isinstance(decision, PendingConfirmation):
        return decision.proposal_id
    if isinstance(decision, ProposalNotExecuted):
        return decision.held.proposal_id if decision.held is not None else None
    proposal = answer.metadata.get("proposal", {})
    return proposal["proposal_id"] if proposal.get("status") == "held" else None


def _is_over(answer: Answer) -> bool:
    """Whether what was read out of the conversation was committed or declined.

    The next question then begins anew: what was said before has served its purpose.
    """
    proposal = answer.metadata.get("proposal", {})
    return proposal.get("origin") == "conversation" and proposal.get("status") in (
        "done",
        "declined",
    )


def _only_looked(answer: Answer) -> bool:
    """Whether what was confirmed changed nothing."""
    decision = answer.decision
    return isinstance(decision, Call) and decision.call.effect == "read"
