"""The language model that tests run in process, where it can be."""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import pytest

from server.core.chat_messages import Message
from server.errors import ProviderUnavailable
from server.providers.chat.llama_engine import DEFAULT_MODEL, LlamaEngine, weights
from tests.support.ollama_server import Said, Think

_TRIAL = """
import sys, llama_cpp
model = llama_cpp.Llama(sys.argv[1], n_ctx=128, verbose=False)
model.eval(model.tokenize(b"one two three four five six seven eight"))
"""


@cache
def why_not() -> str | None:
    """Why the model cannot be run here; None when it can.

    Tried in a process of its own: a library that was compiled for another processor ends
    the process that it is in.
    """
    try:
        path = weights(DEFAULT_MODEL)
    except ProviderUnavailable as missing:
        return str(missing)
    tried = subprocess.run(
        [sys.executable, "-c", _TRIAL, str(path)], capture_output=True, check=False, timeout=300
    )
    if tried.returncode == 0:
        return None
    return f"llama-cpp-python does not run on this machine (exit status {tried.returncode})"


needs_local_model = pytest.mark.local_model
"""Skips the test, and says why, where the model cannot be run (see `tests/conftest.py`)."""


@contextmanager
def thinking() -> Iterator[Think]:
    """What a stand-in for a provider says, from the real model."""
    engine = LlamaEngine(DEFAULT_MODEL, context_tokens=512, threads=None)
    one_at_a_time = Lock()

    def think(asked: Mapping[str, Any]) -> Said:
        messages = [Message(said["role"], said["content"]) for said in asked["messages"]]
        with one_at_a_time:
            for piece in engine.say(
                messages, schema=asked.get("format") or None, temperature=0.0, max_tokens=40
            ):
                if piece.text:
                    yield piece.text

    try:
        yield think
    finally:
        engine.close()
