"""A model's reply to what no template answers, marked as such."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Final

from server.core.chat_messages import Message, Reply
from server.core.decision import Answer, Trace
from server.core.streaming import TurnDeadline
from server.core.turn import Turn
from server.library.model import Library
from server.llm.prompts import MODEL_FAILURES, PromptedModel, as_data
from server.llm.truncation import tokens_in

_MAX_TOKENS: Final = 300
_HISTORY_TOKENS: Final = 1500
"""Of a longer conversation, the latest messages are given."""
_MOST_ABILITIES: Final = 8


class ChatResponder:
    """Replies with a model, by the adapter's system prompt and the conversation so far."""

    def __init__(
        self, model: PromptedModel, library: Library, *, system_prompt: str | None
    ) -> None:
        self._model = model
        abilities = [t.description for t in library.templates.values() if t.description]
        self._about = {
            "adapter": as_data(library.domain.name),
            "description": as_data(library.domain.description),
            "abilities": abilities[:_MOST_ABILITIES],
            "system_prompt": system_prompt or "",
        }

    async def reply(
        self, turn: Turn, otherwise: Answer, trace: Trace, deadline: TurnDeadline, *, language: str
    ) -> Answer:
        """Return the model's reply; `otherwise`, the answer without a model, when it fails.

        Never raises for what a model or provider does.
        """
        why = ""
        said: list[str] = []
        with trace.stage("converse") as details:
            details |= self._model.details
            try:
                messages = self._messages(turn, language)
                async with deadline.step_timeout(self._model.timeout_s):
                    await self._collect(messages, said, deadline, details)
            except MODEL_FAILURES as failed:
                why = self._model.explain_failure(failed)
            text = "".join(said).strip()
            if not why and not text:
                why = f"{self._model.model.name} said nothing"
            if why:
                details["why"] = why
        if why:
            if deadline.listener is not None:
                deadline.listener.reset(why)
            return otherwise
        metadata = {
            **otherwise.metadata,
            "source": "model",
            "synthesized": True,
            "synthesis": {"model": self._model.model.name},
        }
        return replace(otherwise, content=text, confidence=0.0, metadata=metadata)

    def _messages(self, turn: Turn, language: str) -> tuple[Message, ...]:
        system = self._model.prompt.render(**self._about, language=language)
        return (*system, *_latest(turn.context.messages), Message("user", turn.text))

    async def _collect(
        self,
        messages: Sequence[Message],
        said: list[str],
        deadline: TurnDeadline,
        details: dict[str, Any],
    ) -> None:
        async with aclosing(self._model.model.stream(messages, max_tokens=_MAX_TOKENS)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    details["tokens"] = [piece.tokens.prompt, piece.tokens.completion]
                    if piece.cut:
                        said.append(_send("…", deadline))
                    return
                said.append(_send(piece if said else piece.lstrip(), deadline))


def _send(words: str, deadline: TurnDeadline) -> str:
    if deadline.listener is not None:
        deadline.listener.send(words)
    return words


def _latest(messages: Sequence[Message]) -> tuple[Message, ...]:
    room, first = _HISTORY_TOKENS, len(messages)
    while first > 0 and (room := room - tokens_in(messages[first - 1].content)) >= 0:
        first -= 1
    return tuple(messages[first:])
