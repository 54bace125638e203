"""Decides what a question means after what was said before; alone, when it needs none of it."""

import asyncio
from dataclasses import replace

from server.conversation.followups.lexicon import Lexicon, shipped_lexicon
from server.conversation.followups.utterances import read_utterance
from server.core.decision import (
    Call,
    Cancelled,
    ClarifyingQuestion,
    Decision,
    SeveralCalls,
    Trace,
)
from server.core.ports import Decider
from server.core.turn import Turn
from server.extraction.extractor import Extractor
from server.library.model import Library
from server.retrievers.followups.answers import (
    FilledAnswer,
    answer_to_question,
    chosen_by_place,
    chosen_by_words,
    more_arguments,
)
from server.retrievers.followups.by_form import by_form
from server.retrievers.followups.context import Contribution, FollowUpContext, FollowUpDecision
from server.retrievers.followups.references import by_pack_reference, by_reference, to_shown_row
from server.retrievers.followups.repeat_call import repeat_last_call


class FollowUpDecider:
    """The head of an adapter's chain: reads a message in its conversation before others do."""

    def __init__(self, following: Decider, library: Library, extractor: Extractor) -> None:
        self._following = following
        self._library = library
        self._extractor = extractor
        self._lexicon: Lexicon | None = None

    async def decide(self, turn: Turn, trace: Trace) -> Decision | FollowUpDecision:
        """Decide what `turn` means in its conversation.

        Raises:
            ProviderError: the question could not be embedded.
        """
        context = turn.context
        if not (context.asked or context.options or context.done or context.waiting):
            return await self._following.decide(turn, trace)
        if self._lexicon is None:
            self._lexicon = await asyncio.to_thread(shipped_lexicon)
        utterance = read_utterance(turn.text, self._lexicon)
        if (
            not utterance.words and not turn.given
        ):  # signs alone, or far too many words to go on with anything
            return await self._following.decide(turn, trace)
        ctx = FollowUpContext(turn, utterance, self._lexicon, self._library, self._extractor)
        if turn.given and ctx.asked is not None:
            return by_form(ctx, ctx.asked)
        answer = answer_to_question(ctx)
        decided = _certain_follow_up(ctx, answer)
        if decided is not None:
            decided = replace(decided, certain=True)
        else:
            first = await self._following.decide(turn, trace)
            if isinstance(first, Call) and first.otherwise is not None:
                decided = _possible_follow_up(ctx, answer, first.otherwise)
                decision = replace(first, otherwise=decided.decision)
                decided = replace(decided, decision=decision)
            else:
                decided = _possible_follow_up(ctx, answer, first)
        return replace(decided, form=utterance.form)

    async def close(self) -> None:
        await self._following.close()


def _certain_follow_up(
    ctx: FollowUpContext, answer: FilledAnswer | None
) -> FollowUpDecision | None:
    """What needs no other decider: what was asked, what was offered, what changes a call."""
    asked, form = ctx.asked, ctx.utterance.form
    if form == "cancel" and (asked or ctx.turn.context.options):
        return FollowUpDecision(Cancelled(asked.template_id if asked else None), None, "dropped")
    if answer is not None and not answer.by_text:
        contribution: Contribution = "correction" if form == "correction" else "answer"
        return ctx.decided(answer.decision, answer.asked.intent, contribution)
    return chosen_by_place(ctx) or repeat_last_call(ctx)


def _possible_follow_up(
    ctx: FollowUpContext, answer: FilledAnswer | None, first: Decision
) -> FollowUpDecision:
    """What the conversation makes of `first`, the decision on the message alone."""
    alone = FollowUpDecision(first, ctx.turn.intent)
    if isinstance(first, SeveralCalls):
        return alone
    if answer is not None and answer.is_meant(ctx, first):
        return ctx.decided(answer.decision, answer.asked.intent, "answer")
    if isinstance(first, Call):
        return to_shown_row(ctx, alone)
    return (
        more_arguments(ctx, first)
        or chosen_by_words(ctx, first)
        or by_pack_reference(ctx, first)
        or (alone if isinstance(first, ClarifyingQuestion) else by_reference(ctx, alone))
    )
