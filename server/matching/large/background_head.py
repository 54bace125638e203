"""The head of a large library, which is learnt in the background while neighbours serve."""

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final, Literal

import numpy as np

from server.core.ports import Vectors
from server.errors import IndexUnavailable
from server.matching.index.template_index import digest_of
from server.matching.large.head import Floats, NeighbourHead, ProjectedHead, Projection
from server.matching.large.index import LargeIndex
from server.matching.large.training import Stopped, learn
from server.matching.model.head import DIMENSIONS
from server.storage.arrays import read_arrays, write_arrays

_log = logging.getLogger(__name__)

_VERSION: Final = "1"
"""Changes with what learning would give, so that older files are learnt anew."""
_NICE: Final = 10
"""How far learning stands back behind questions."""
_OF_PROJECTION: Final = ("centre", "spread", "rarity", "middle", "axes")

Alone = Callable[[], AbstractAsyncContextManager[None]]

State = Literal["learning", "learnt", "read", "neighbours"]
"""Whether the head is being learnt, was learnt or read, or there is nothing to learn from."""


class BackgroundHead:
    """Scores by the nearest examples until the head is there, and then by the head."""

    def __init__(
        self,
        index: LargeIndex,
        negatives: Sequence[str],
        vectors: Vectors,
        alone: Alone = nullcontext,
    ) -> None:
        """`vectors` (n, d) are those of the `negatives`, texts that are for no library.

        It is learnt within `alone`, which one process at a time enters; the others read that.
        """
        self.state: State = "learning"
        self.learnt_s: float | None = None
        self._index, self._negatives, self._vectors = index, negatives, vectors
        self._alone = alone
        self._head: NeighbourHead | ProjectedHead | None = None
        self._stopped = threading.Event()
        self._waits = True
        """Whether another process is learning it, for all that is known."""
        self._learning: asyncio.Task[None] | None = None
        self._told: list[Callable[[], None]] = []

    async def open(self, state_dir: Path) -> None:
        """Read the head that was kept, or begin to learn one.

        Raises:
            IndexUnavailable: the vectors cannot be read.
        """
        path = state_dir / f"{self._index.name}.npz"
        key = digest_of((_VERSION, str(DIMENSIONS), self._index.key, *self._negatives))
        self._head = await asyncio.to_thread(_load, path, key, self._index)
        if self._head is not None:
            self.state = "read"
            return
        self._head = await asyncio.to_thread(NeighbourHead, self._index, self._vectors)
        if not any(template.nl_examples for template in self._index.templates):
            self.state = "neighbours"
            return
        self._learning = asyncio.create_task(self._learn(path, key))

    @property
    def size(self) -> int:
        return self._head.size if self._head is not None else 0

    def probabilities(self, vectors: Vectors, texts: Sequence[str]) -> Floats:
        """(templates + 1,) probabilities of one question's readings, the last that of none."""
        assert self._head is not None  # noqa: S101  open() sets it or raises
        return self._head.probabilities(vectors, texts)

    def when_learnt(self, told: Callable[[], None]) -> None:
        """Call `told` when the head has come to serve, if that is still to come."""
        self._told.append(told)

    def stats(self) -> dict[str, Any]:
        """What serves, as JSON-ready data."""
        took = {} if self.learnt_s is None else {"learnt_s": self.learnt_s}
        return {"head": self.state, **took}

    async def learnt(self) -> None:
        """Wait until the head serves, or cannot be learnt."""
        if self._learning is not None:
            await asyncio.shield(self._learning)

    async def close(self) -> None:
        self._stopped.set()
        if self._learning is not None:
            if self._waits:
                self._learning.cancel()
            with suppress(asyncio.CancelledError):
                await self._learning

    async def _learn(self, path: Path, key: str) -> None:
        async with self._alone():
            # Whoever held it before has learnt it.
            self._waits = False
            kept = await asyncio.to_thread(_load, path, key, self._index)
            if kept is None:
                await self._learn_now(path, key)
                return
        self._head, self.state = kept, "read"
        self._tell()

    async def _learn_now(self, path: Path, key: str) -> None:
        began = monotonic()
        name, size = self._index.name, len(self._index.templates)
        _log.info("%s: learning a head of %d templates; neighbours serve until then", name, size)
        try:
            with ThreadPoolExecutor(1, thread_name_prefix="learning") as aside:
                head = await asyncio.get_running_loop().run_in_executor(aside, self._learn_aside)
        except Stopped:
            return
        except (IndexUnavailable, np.linalg.LinAlgError, MemoryError) as failed:
            self.state = "neighbours"
            _log.warning("%s: no head can be learnt: %s", name, failed)
            return
        await asyncio.to_thread(_save, path, key, head)
        self._head, self.state = head, "learnt"
        self.learnt_s = round(monotonic() - began, 1)
        _log.info(
            "%s: the head is learnt, after %.0f s, and serves from now on", name, self.learnt_s
        )
        self._tell()

    def _tell(self) -> None:
        for told in self._told:
            told()

    def _learn_aside(self) -> ProjectedHead:
        if sys.platform == "linux":  # elsewhere it would be the whole process
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        return learn(self._index, self._negatives, self._vectors, self._stopped.is_set)


def _load(path: Path, key: str, index: LargeIndex) -> ProjectedHead | None:
    stored = read_arrays(path, key)
    if stored is None or not stored.keys() >= {*_OF_PROJECTION, "classes", "bias"}:
        return None
    projection = Projection(**{name: stored[name] for name in _OF_PROJECTION})
    head = ProjectedHead(projection, stored["classes"], stored["bias"])
    answers, size = len(index.templates) + 1, index.dimensions + DIMENSIONS
    fits = (
        head.bias.shape == head.classes.shape[:1] == (answers,)
        and projection.axes.shape == (size, head.classes.shape[1])
        and projection.middle.shape == (size,)
        and projection.centre.shape == (index.dimensions,)
        and bool(np.isfinite(head.classes).all() and np.isfinite(head.bias).all())
    )
    return head if fits else None


def _save(path: Path, key: str, head: ProjectedHead) -> None:
    parts = {name: getattr(head.projection, name) for name in _OF_PROJECTION}
    write_arrays(path, key, classes=head.classes, bias=head.bias, **parts)
