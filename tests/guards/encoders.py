"""Encoders that fail on purpose, named by dotted path as an operator's own would be."""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from server.core.ports import Vectors
from server.providers.embeddings.local import LocalEmbedder


class Breaking(LocalEmbedder):
    """The real encoder, but for its next `failing` single questions, and `delay_s` for each."""

    failing: ClassVar[int] = 0
    delay_s: ClassVar[float] = 0.0

    def __init__(self, model: str | None = None) -> None:
        super().__init__()

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if len(texts) == 1:
            await asyncio.sleep(type(self).delay_s)
            if type(self).failing > 0:
                type(self).failing -= 1
                raise RuntimeError("the encoder is broken")
        return await super().embed(texts)
