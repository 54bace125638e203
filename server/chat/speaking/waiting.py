"""How long a turn waits for a model."""

import asyncio
from typing import Final

PATIENCE: Final = 0.5
"""Seconds of a turn that are kept for answering without the model."""


def within(timeout_s: float, left_s: float) -> asyncio.Timeout:
    """A limit for one step: its own, or what the turn has left, whichever is sooner."""
    return asyncio.timeout(max(0.0, min(timeout_s, left_s - PATIENCE)))
