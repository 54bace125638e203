"""Many small requests to one model, a batch at a time, in a thread."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from server.core.ports import Vectors

MAX_BATCH: Final = 64
"""Texts in one computation: enough to share the work, few enough to answer soon."""

Encode = Callable[[list[str]], Vectors]


class Batcher:
    """Runs `encode` in one thread; requests that wait are answered by one computation.

    A lone request starts at once. Requests that arrive while the model is busy share
    the next batch, which costs little more than one of them would.
    """

    def __init__(self, encode: Encode, *, max_batch: int = MAX_BATCH) -> None:
        self._encode = encode
        self._max_batch = max_batch
        self._waiting: deque[tuple[str, asyncio.Future[Vectors]]] = deque()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self._drainer: asyncio.Task[None] | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), d) rows, in the order of `texts`, which is not empty."""
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in texts]
        self._waiting.extend(zip(texts, futures, strict=True))
        if self._drainer is None or self._drainer.done():
            self._drainer = asyncio.create_task(self._drain())
        return np.vstack(await asyncio.gather(*futures))

    async def run(self, work: Callable[[], None]) -> None:
        """Run something else in the model's own thread, such as loading it."""
        await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = [
                self._waiting.popleft() for _ in range(min(self._max_batch, len(self._waiting)))
            ]
            live = [(text, future) for text, future in batch if not future.done()]
            if not live:
                continue
            try:
                rows = await loop.run_in_executor(
                    self._thread, self._encode, [text for text, _ in live]
                )
            except Exception as failed:  # whatever it is belongs to those who wait
                for _, future in live:
                    if not future.done():
                        future.set_exception(failed)
                continue
            for row, (_, future) in zip(rows, live, strict=True):
                if not future.done():
                    future.set_result(row)
