"""Decides what a question means after what was said before; alone, when it needs none of it."""

import asyncio

from server.conversation.followups.lexicon import Lexicon, shipped_lexicon
from server.conversation.followups.utterances import read_utterance
from server.core.answer import Trace
from server.core.decision import Call, Cancelled
from server.core.turn import Intent, Turn
from server.extraction.extractor import Extractor
from server.library.model import Library
from server.retrievers.followups.answers import (
    fill_answer,
    is_answer,
    merged,
    picked,
    picked_by_words,
)
from server.retrievers.followups.context import Alone, FollowUpContext, FollowUpDecision, How
from server.retrievers.followups.provided_values import FollowUpMessage
from server.retrievers.followups.references import pointed, referred, row_pointed_to
from server.retrievers.followups.repeat_call import repeated


class Follower:
    """Follows the conversations of one adapter. Keeps no state of its own."""

    def __init__(self, library: Library, extractor: Extractor) -> None:
        self._library = library
        self._extractor = extractor
        self._wording: Lexicon | None = None

    async def follow(
        self, turn: Turn, named: Intent | None, alone: Alone, trace: Trace
    ) -> FollowUpDecision:
        """Decide what `turn` means in its conversation.

        `named` holds everything the rule pack read in it, whatever its intent.

        Raises:
            ProviderError: the question could not be embedded.
        """
        context = turn.context
        if not (context.asked or context.options or context.done or context.waiting):
            return await alone(turn.text)
        if self._wording is None:
            self._wording = await asyncio.to_thread(shipped_lexicon)
        saying = read_utterance(turn.text, self._wording)
        if not saying.words:  # signs alone, or far too many words to go on with anything
            return await alone(turn.text)
        message = FollowUpMessage(saying, self._wording, turn.received_at.astimezone(), named)
        decided = await _decide(
            FollowUpContext(turn, message, self._library, self._extractor, alone)
        )
        told = {"form": saying.form, "contributes": decided.how or "nothing"}
        trace.note("conversation", told)
        return decided


async def _decide(scene: FollowUpContext) -> FollowUpDecision:
    """The surest first: what was asked, what was offered, what changes the last call."""
    asked, form = scene.asked, scene.message.saying.form
    if form == "cancel" and (asked or scene.context.options):
        return FollowUpDecision(Cancelled(asked.template_id if asked else None), None, "dropped")
    answer = fill_answer(scene, asked) if asked is not None else None
    if asked is not None and answer is not None and not answer.by_text:
        how: How = "correction" if form == "correction" else "answer"
        return scene.told(answer.decision, asked.intent, how)
    surely = picked(scene) or repeated(scene)
    if surely is not None:
        return surely
    first = await scene.alone(scene.turn.text)
    if asked is not None and answer is not None and is_answer(scene, answer, first):
        return scene.told(answer.decision, asked.intent, "answer")
    if isinstance(first.decision, Call):
        return await row_pointed_to(scene, first) or first
    return (
        (merged(scene, asked, first) if asked is not None else None)
        or picked_by_words(scene, first)
        or referred(scene, first)
        or await pointed(scene, first)
        or first
    )
