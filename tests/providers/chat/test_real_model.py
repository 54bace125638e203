"""One real model behind every provider: what it says reaches the other side unharmed."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from pydantic import BaseModel

from server.core.ports import ChatModel
from server.providers.chat.factory import build_chat_model
from server.providers.chat.llama_engine import DEFAULT_MODEL, weights
from server.settings.models import ModelsSettings
from tests.providers.chat.speaking import heard, said
from tests.support.gemini_server import gemini
from tests.support.local_model import needs_local_model, thinking
from tests.support.loopback import serving
from tests.support.ollama_server import ollama_stand_in
from tests.support.ports import free_port

pytestmark = [pytest.mark.anyio, needs_local_model]

SAY = "Say in one sentence: 15% of 200 is 30."


class Order(BaseModel):
    verb: Literal["refund", "cancel"]
    number: int


@contextmanager
def ollama_url() -> Iterator[str]:
    with thinking() as think, ollama_stand_in() as served:
        served.think = think
        yield served.base_url


@contextmanager
def gemini_url() -> Iterator[str]:
    with thinking() as think, serving(lambda asked: gemini(asked, think)) as served:
        yield f"{served.base_url}/v1beta"


@asynccontextmanager
async def model_at(provider: str, url: str) -> AsyncIterator[ChatModel]:
    options: dict[str, Any] = {"base_url": url, "timeout_s": 600, "max_tokens": 40}
    settings = ModelsSettings.model_validate({provider: options})
    model = build_chat_model(provider, None, settings, {}, folder=Path())
    try:
        yield model
    finally:
        await model.close()


async def speaks(model: ChatModel) -> None:
    reply = await model.complete(said(SAY))
    pieces, streamed = await heard(model, SAY)
    assert "30" in reply.text
    assert streamed is not None
    assert ("".join(pieces), streamed.text) == (reply.text, reply.text)
    assert len(pieces) > 3
    order = await model.complete(said("refund order number 7"), schema=Order.model_json_schema())
    Order.model_validate(order.data)


async def test_ollama_says_what_the_model_says() -> None:
    with ollama_url() as url:
        async with model_at("ollama", url) as model:
            await speaks(model)


async def test_gemini_says_what_the_model_says() -> None:
    with gemini_url() as url:
        async with model_at("gemini", url) as model:
            await speaks(model)


async def test_a_real_server_of_openais_protocol_says_what_the_model_says() -> None:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "llama_cpp.server", "--model", str(weights(DEFAULT_MODEL))),
        *("--host", "127.0.0.1", "--port", str(port), "--n_ctx", "512", "--verbose", "false"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )
    try:
        await until_it_listens(port)
        async with model_at("openai", f"http://127.0.0.1:{port}/v1") as model:
            await speaks(model)
    finally:
        process.terminate()
        await process.wait()


async def until_it_listens(port: int) -> None:
    end = time.monotonic() + 120
    async with httpx.AsyncClient() as client:
        while time.monotonic() < end:
            try:
                await client.get(f"http://127.0.0.1:{port}/v1/models")
            except httpx.TransportError:
                await asyncio.sleep(0.1)
            else:
                return
    pytest.fail("llama_cpp.server did not come up")
