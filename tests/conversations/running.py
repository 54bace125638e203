"""Conversations with the shipped adapters, with every service on this machine."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from server.adapters.local import open_adapter
from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.cli.options import configured
from server.core.decision import Answer
from server.core.turn import Caller, ConversationContext, Turn
from tests.examples.running import ROOT

NOW = datetime(2025, 6, 4, 12, tzinfo=UTC)


class Talks:
    """Adapters as they ship, each opened on first use, that keep conversations."""

    def __init__(self, data: Path, environ: Mapping[str, str]) -> None:
        self._data = data
        self._environ = environ
        self._runner = asyncio.Runner()
        self._opened: dict[str, Adapter] = {}
        self._exits: list[AsyncExitStack] = []

    def adapter(self, name: str) -> Adapter:
        if name not in self._opened:
            found = configured(ROOT / "config" / "config.yaml", data=self._data / name)
            stack = AsyncExitStack()
            (adapter,) = (one for one in found.settings.adapters if one.name == name)
            opening = open_adapter(
                found.settings,
                {**found.environ, **self._environ},
                adapter.model_copy(update={"enabled": True}),
                remembers=True,
            )
            self._opened[name] = self._runner.run(stack.enter_async_context(opening))
            self._exits.append(stack)
        return self._opened[name]

    def say(self, adapter: str, session: str, text: str) -> Answer:
        """The answer to a message of a conversation."""
        turn = Turn(
            id=uuid4().hex,
            text=text,
            session_id=session,
            caller=self._caller(adapter),
            received_at=NOW,
            continues=True,
        )
        return self._runner.run(run_turn(self.adapter(adapter), turn, timeout_s=30))

    def state(self, adapter: str, session: str) -> ConversationContext:
        """What the conversation remembers by now."""
        store = self.adapter(adapter).conversations
        assert store is not None
        return self._runner.run(store.recall(self._caller(adapter), session))

    def alone(self, adapter: str, text: str) -> Answer:
        """The answer to a message that begins a conversation."""
        return self.say(adapter, uuid4().hex, text)

    def close(self) -> None:
        for stack in reversed(self._exits):
            self._runner.run(stack.aclose())
        self._runner.close()

    @staticmethod
    def _caller(adapter: str) -> Caller:
        return Caller(key_id="local", adapter=adapter, user_id="local", role="admin")


def remembered(context: ConversationContext) -> dict[str, Any]:
    """What is remembered, less the messages, in few words."""
    return {
        "asked": list(context.asked.missing) if context.asked else None,
        "options": list(context.options.template_ids) if context.options else None,
        "done": [done.template_id for done in context.done],
        "held": context.held is not None,
    }
