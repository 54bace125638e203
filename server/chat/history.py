"""What a conversation remembers: read before a turn, written after it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from server.chat.adapter import Adapter
from server.conversation.store import ChatMemory
from server.core.chat_messages import Message
from server.core.decision import (
    Answer,
    Blocked,
    Call,
    Clarify,
    ClarifyingQuestion,
    Courtesy,
    DecidedCalls,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
    SeveralEndings,
    Trace,
)
from server.core.json import to_json
from server.core.redaction import REDACTED, Redactor
from server.core.sources import local_context, shared_context
from server.core.tools import Source, ToolCall, payload_of
from server.core.transcript import Exchange, ToldCall, Transcript
from server.core.turn import (
    NO_CONTEXT,
    Caller,
    CompletedCall,
    ConversationContext,
    OfferedChoices,
    PendingQuestion,
    Turn,
)
from server.errors import ConversationUnknown
from server.library.model import Library, Template
from server.text.tokens import lead_at

_MAX_CHARS: Final = 4000
"""Of longer messages the beginning is remembered."""
_MAX_CALLS: Final = 5
_MAX_ROWS: Final = 20
_MAX_FIELDS: Final = 8
_MAX_FIELD_CHARS: Final = 80
_MAX_ARGUMENT_CHARS: Final = 4000
"""Arguments that are longer, such as tables of data, are not remembered."""
_MAX_TURNS: Final = 10
"""Turns that count of a conversation that is kept nowhere."""
_MAX_DECIDED_AGAIN: Final = 5
"""Questions of which nothing is kept, and that are decided again to answer the next."""
_MAX_TRIES: Final = 3
"""Messages after which a question that is not answered is asked no longer."""


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


async def load_transcript(
    adapter: Adapter, turn: Turn, told: Transcript, trace: Trace
) -> tuple[Turn, tuple[Exchange, ...]]:
    """The turn with the latest that is remembered of what its client tells, and what came since.

    Raises:
        ConversationUnknown: what the client only names is not remembered, or not any more.
        StoreUnavailable: it cannot be read.
    """
    store, exchanges = adapter.conversations, told.exchanges
    latest = exchanges[-(store.max_turns if store is not None else _MAX_TURNS) :]
    found = None
    with trace.stage("recall") as details:
        if store is not None:
            moments = dict.fromkeys(each.moment for each in reversed(latest))
            if exchanges and exchanges[0].question is None:
                moments[exchanges[0].moment] = None
            found = await store.recall_latest(turn.caller, tuple(moments))
        if found is not None:
            moment, context = found
            known = max(n for n, each in enumerate(exchanges) if each.moment == moment)
            turn, latest = replace(turn, context=context), exchanges[known + 1 :]
        elif exchanges and exchanges[0].question is None:
            raise ConversationUnknown("that answer is not remembered, or not any more")
        details |= {"messages": len(turn.context.messages), "not_kept": len(latest)}
    return turn, latest[-_MAX_DECIDED_AGAIN:]


async def save_history(
    adapter: Adapter, turn: Turn, answer: Answer, *, by: Adapter, private: bool
) -> None:
    """Keep what the next turn has to know of this one, which the adapter `by` answered."""
    store, caller = adapter.conversations, turn.caller
    if store is None:
        return
    context = next_context(adapter, turn, answer, by=by, private=private)
    # What a yes refers to must not be lost, whatever happens to the server.
    waits = context.held is not None
    if turn.transcript is not None:
        moment = turn.transcript.after(answer.content, told_calls(answer))
        await store.remember(caller, moment, context, at_once=waits)
    elif context == turn.context:
        return
    elif context == NO_CONTEXT:
        await store.forget(caller, turn.session_id)
    else:
        await store.remember(caller, turn.session_id, context, at_once=waits)


async def forget_conversation(adapter: Adapter, caller: Caller, session_id: str) -> None:
    """Forget a caller's own conversation, if there is one, and what waits in it.

    Raises `StoreUnavailable`: it could not be forgotten.
    """
    if adapter.proposals is not None:
        await adapter.proposals.forget(caller, session_id)
    if adapter.conversations is not None:
        await adapter.conversations.forget(caller, session_id)
    if adapter.inbox is not None:
        await adapter.inbox.forget(caller, session_id)
    if adapter.downloads is not None:
        await adapter.downloads.forget(caller, session_id)


def told_calls(answer: Answer) -> list[ToldCall]:
    """The calls that an answer tells its client to make, as they come back from there."""
    told = answer.metadata.get("tool_calls", ())
    return [ToldCall(each["name"], json.loads(to_json(each["arguments"]))) for each in told]


def next_context(
    adapter: Adapter, turn: Turn, answer: Answer, *, by: Adapter, private: bool
) -> ConversationContext:
    """What is remembered after a turn that the adapter `by` answered, through `adapter`."""
    decision, store = answer.decision, adapter.conversations
    max_turns = store.max_turns if store is not None else _MAX_TURNS
    proposal = answer.metadata.get("proposal", {})
    is_over = proposal.get("status") in ("done", "declined")
    if is_over and proposal.get("origin") == "conversation":
        # What was proposed from the conversation is settled: the next question begins anew.
        if isinstance(decision, Call) and decision.call.effect == "read":
            # Nothing was changed; what was shown is what “cancel it” means next.
            reply = Message("assistant", answer.kept_content[:_MAX_CHARS])
            return ConversationContext((reply,))
        return NO_CONTEXT
    if by.name in adapter.behind:
        context = local_context(turn.context, by.name)
        own = replace(turn, context=context)
        context = updated_context(by.library, own, answer, max_turns=max_turns, private=private)
        return shared_context(context, by.name)
    library = adapter.library if by is adapter else None
    context = updated_context(library, turn, answer, max_turns=max_turns, private=private)
    if adapter.behind and isinstance(decision, SeveralEndings):
        context = _made_together(turn, answer, context)
    return context


def updated_context(
    library: Library | None, turn: Turn, answer: Answer, *, max_turns: int, private: bool
) -> ConversationContext:
    """What is remembered after `turn`; a question that a guard refused leaves nothing behind.

    `private` says that words of the question must not be kept. `library` is that of the
    adapter that answered, and None when it is not the one that is asked.
    """
    before, decision = turn.context, answer.decision
    if isinstance(decision, Blocked):
        return before
    question = "" if private else turn.text[:_MAX_CHARS]
    memory = ChatMemory(max_turns, before.messages)
    memory.add_message("user", REDACTED if private else question)
    if answer.content:
        memory.add_message("assistant", answer.kept_content[:_MAX_CHARS])
    proposal = answer.metadata.get("proposal", {})
    # The proposal to which the next yes or no belongs; a change of subject leaves none.
    held = proposal["proposal_id"] if proposal.get("status") == "held" else None
    if isinstance(decision, PendingConfirmation):
        held = decision.proposal_id
    elif isinstance(decision, ProposalNotExecuted):
        held = decision.held.proposal_id if decision.held is not None else None
    held_in = None
    if held is not None and turn.transcript is not None:
        held_in = before.held_in if held == before.held else turn.session_id
    if library is None:
        return replace(before, messages=memory.messages, held=held, held_in=held_in)
    intent = turn.intent.name if turn.intent is not None else None
    template, asked, options, done, waiting = None, None, None, before.done, None
    if isinstance(decision, Call | MissingArguments | PendingConfirmation):
        template = library.templates.get(decision.match.template_id)
    match decision:
        case NoMatch() | ClarifyingQuestion() | Courtesy():
            # Not an answer: what was asked may still be answered, but not for ever.
            if before.asked is not None and before.asked.tries < _MAX_TRIES:
                asked = replace(before.asked, tries=before.asked.tries + 1)
        case MissingArguments(_, missing, arguments, sources) if template is not None:
            names = tuple(each.name for each in missing)
            kept = {} if private else _given_arguments(template, arguments, sources)
            asked = PendingQuestion(template.id, names, kept, question, intent)
            if before.asked is not None and before.asked.template_id == template.id:
                tries, question = before.asked.tries + 1, before.asked.question
                asked = replace(asked, tries=tries, question=question)
        case Clarify(matches):
            options = OfferedChoices(
                tuple(option.template_id for option in matches), question, intent
            )
        case Call() if template is not None and not private:
            execution = answer.metadata.get("tool_execution", {})
            if execution.get("status") == "success":
                call = _completed_call(template, turn, decision, execution.get("result"))
                done = (*before.done, call)[-_MAX_CALLS:]
        case SeveralEndings(parts) if not private:
            told = answer.metadata["calls"]
            done, waiting = _several_calls(library, turn, parts, told)
        case DecidedCalls(calls) if not private:
            done, waiting = _decided_calls(library, turn, calls)
        case PendingConfirmation(_, call) if template is not None and not private:
            waiting = _waiting_call(template, turn, call)
        case ProposalNotExecuted(held=PendingConfirmation()) if not private:
            waiting = before.waiting
    return ConversationContext(memory.messages, asked, options, done, held, waiting, held_in)


def _made_together(turn: Turn, answer: Answer, context: ConversationContext) -> ConversationContext:
    """The context, which says of the calls of this turn that they were made together."""
    executions = [told.get("tool_execution", {}) for told in answer.metadata["calls"]]
    made = sum(each.get("status") == "success" for each in executions)
    first = len(context.done) - made
    done = tuple(
        replace(call, together=turn.id) if at >= first else call
        for at, call in enumerate(context.done)
    )
    return replace(context, done=done)


def _several_calls(
    library: Library,
    turn: Turn,
    parts: Sequence[Call | PendingConfirmation],
    told: Sequence[Mapping[str, Any]],
) -> tuple[tuple[CompletedCall, ...], CompletedCall | None]:
    """The calls that are done by now, the last of several last, and the one that waits."""
    done, waiting = turn.context.done, None
    for part, fields in zip(parts, told, strict=True):
        # As it is known here, which is not its own id where the call is another adapter's.
        template = replace(library.templates[part.match.template_id], id=part.match.template_id)
        execution = fields.get("tool_execution", {})
        if isinstance(part, PendingConfirmation):
            waiting = _waiting_call(template, turn, part.call)
        elif execution.get("status") == "success":
            done = (*done, _completed_call(template, turn, part, execution.get("result")))
    return done[-_MAX_CALLS:], waiting


def _decided_calls(
    library: Library, turn: Turn, calls: Sequence[Call]
) -> tuple[tuple[CompletedCall, ...], CompletedCall | None]:
    """The calls that are known by now, of which nobody knows what came, and one that waits."""
    done, waiting = turn.context.done, None
    for decision in calls:
        name = decision.match.template_id
        template = replace(library.templates[name], id=name)
        if template.policy.confirm or decision.proposed is not None:
            waiting = _waiting_call(template, turn, decision.call)
        else:
            done = (*done, _completed_call(template, turn, decision, None))
    return done[-_MAX_CALLS:], waiting


def _waiting_call(template: Template, turn: Turn, call: ToolCall) -> CompletedCall:
    kept = _given_arguments(template, call.arguments, call.sources)
    intent = turn.intent.name if turn.intent is not None else None
    return CompletedCall(template.id, kept, intent=intent)


def _completed_call(template: Template, turn: Turn, decision: Call, result: Any) -> CompletedCall:
    call, done = decision.call, turn.context.done
    intent = turn.intent.name if turn.intent is not None else None
    kept = _given_arguments(template, call.arguments, call.sources)
    if template.policy.sensitive_params:
        # What comes back of a call with secrets may repeat them under any name.
        return CompletedCall(template.id, kept, intent=intent)
    # The words that arguments stood behind: "by" of the 4 in "divide 100 by 4".
    leads = dict(done[-1].leads) if done and done[-1].template_id == template.id else {}
    for name, source in call.sources.items():
        if source.kind != "conversation":
            leads[name] = lead_at(turn.text, source.span[0]) if source.span is not None else ""
    leads = {name: lead for name, lead in leads.items() if lead and name in call.sources}
    rows, value = _short_result(payload_of(result))
    return CompletedCall(template.id, kept, rows, value, intent, leads)


def _given_arguments(
    template: Template, arguments: Mapping[str, Any], sources: Mapping[str, Source]
) -> dict[str, Any]:
    """Arguments that somebody gave, without what is sensitive and what is too long."""
    redactor = Redactor(template.policy.sensitive_params)
    names = {parameter.name for parameter in template.parameters}
    return {
        name: value
        for name, value in arguments.items()
        if name in names
        and not redactor.covers(name)
        and not (name in sources and sources[name].kind in ("default", "system"))
        and len(text := to_json(value)) <= _MAX_ARGUMENT_CHARS
        and REDACTED not in text
    }


def _short_result(payload: Any) -> tuple[tuple[Mapping[str, Any], ...], Any]:
    """The first rows of a result with their first short fields, and its one value if it has one."""
    is_list, is_row = isinstance(payload, list | tuple), isinstance(payload, Mapping)
    rows = payload[:_MAX_ROWS] if is_list else (payload if is_row else {"value": payload},)
    if not all(isinstance(row, Mapping) for row in rows):
        return (), None
    fields = [
        [
            (str(name), value)
            for name, value in row.items()
            if isinstance(value, str | int | float | Decimal)
            and len(str(value)) <= _MAX_FIELD_CHARS
        ]
        for row in rows
    ]
    value = None
    # The one figure of a row that is alone is the result, as it is where no row is around it.
    if len(rows) == 1 and len(rows[0]) == 1 and fields[0] and not isinstance(fields[0][0][1], bool):
        value = fields[0][0][1]
    shown = tuple(dict(row[:_MAX_FIELDS]) for row in fields if row)
    return (shown if is_list or is_row else ()), value
