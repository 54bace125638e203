"""A call by its name: nothing is decided, and from the policy chain on it is as any other."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from server.chat.adapter import Adapter
from server.chat.confirm import hold_call
from server.chat.downloads import offer_download
from server.chat.execute import execute_call, proposal_of
from server.chat.history import save_history
from server.chat.respond import respond
from server.chat.sources import answer_of_source
from server.core.decision import Answer, Call, Ending, Match, Trace
from server.core.tools import Source
from server.core.turn import Turn


async def answer_named_call(
    adapter: Adapter,
    by: Adapter,
    turn: Turn,
    template_id: str,
    arguments: Mapping[str, Any],
    trace: Trace,
) -> Answer:
    template = by.library.templates[template_id]
    call = template.call(arguments, dict.fromkeys(arguments, Source("given")))
    decision = Call(Match(template_id, 1.0, 0.0, "called by its name"), call)
    proposal = replace(proposal_of(by, turn, decision), proposed_by="caller")
    outcome = await execute_call(by, proposal, trace)
    ending: Ending = replace(decision, call=outcome.call)
    if outcome.to_confirm is not None:
        held = await hold_call(by, turn, decision, outcome, proposal, trace)
        ending = held or ending
    answer = respond(by, turn, ending, trace, outcome=outcome)
    answer = await offer_download(by, turn, answer, outcome)
    private = bool(template.policy.sensitive_params)
    await save_history(adapter, turn, answer, by=by, private=private)
    return answer_of_source(adapter, by, answer)
