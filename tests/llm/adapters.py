"""Adapters whose models say what a script has, asked in process."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.core.chat_messages import Reply
from server.core.decision import Answer
from server.core.ports import ChatModel
from server.core.streaming import StreamEvent, StreamListener
from server.core.turn import NO_CONTEXT, Caller, ConversationContext, Turn
from server.errors import OrbitError
from server.llm.models import build_models
from server.llm.prompts import load_prompts
from server.providers.chat.scripted import Line, ScriptedChat
from server.settings.adapters import AdapterSettings
from tests.support.deciding import table_adapter

CONFIG: Mapping[str, Any] = {
    "domain_config_path": "domain.yaml",
    "template_library_path": "tools.yaml",
}

Script = Sequence[str | Reply | OrbitError | Line]


def speaking(
    model: ChatModel | Script, adapter: Adapter | None = None, *, agent: Any = None, **more: Any
) -> Adapter:
    """The adapter with one model for everything that models do."""
    written = {
        "name": "a",
        "inference_model": "m",
        "config": {**CONFIG, "agent": agent or {}, **more},
    }
    settings = AdapterSettings.model_validate(written)
    adapter = adapter or table_adapter()
    prompts, problems = load_prompts(settings.config.prompts, {})
    assert prompts is not None, problems
    made = model if isinstance(model, ChatModel) else ScriptedChat(model)
    models = build_models(settings, adapter.library, prompts, lambda provider, name: made)
    return replace(adapter, models=models)


def ask(
    adapter: Adapter, text: str, context: ConversationContext = NO_CONTEXT, *, timeout_s: float = 20
) -> Answer:
    return asyncio.run(run_turn(adapter, turn_of(text, context), timeout_s=timeout_s))


def overhear(adapter: Adapter, text: str) -> tuple[Answer, list[StreamEvent]]:
    """The answer, and what a listener heard of it on the way."""

    async def listen() -> tuple[Answer, list[StreamEvent]]:
        listener = StreamListener()
        answer = await run_turn(adapter, turn_of(text), timeout_s=20, listener=listener)
        return answer, [listener.events.get_nowait() for _ in range(listener.events.qsize())]

    return asyncio.run(listen())


def turn_of(text: str, context: ConversationContext = NO_CONTEXT) -> Turn:
    caller = Caller("k", "arithmetic", "ana")
    return Turn("r", text, "s", caller, datetime.now(UTC), context=context)


def stage(answer: Answer, name: str) -> dict[str, Any]:
    """What the trace holds of one stage."""
    return next(s.details for s in answer.trace.stages if s.name == name)
