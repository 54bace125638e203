"""The log of decisions: a line of JSON for each turn, written by a thread of its own.

What the lines hold is put together in `server.chat.observation`; `diff --log` reads them.
"""

import asyncio
import logging
import random
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, Final, Self

from server.core.json import to_json
from server.errors import ConfigurationInvalid, Location, Problem
from server.metrics.metrics import Metrics
from server.settings.models import DecisionLogSettings
from server.storage.files import make_private
from server.storage.line_files import append_text, locked, put_aside

_log = logging.getLogger(__name__)

_MOST_WAITING: Final = 10_000
_MOST_AT_ONCE: Final = 1_000
_LOST: Final = "decisions of the log"


class DecisionLogWriter:
    """Writes lines in the order in which they came; those that come too fast are lost, and counted.

    Nobody waits for it, and no failure of the disk reaches a turn.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_bytes: int,
        keep: int,
        sample: float = 1.0,
        metrics: Metrics | None = None,
        most_waiting: int = _MOST_WAITING,
    ) -> None:
        self._path = path
        self._max_bytes, self._keep = max_bytes, keep
        self._sample = sample
        self._metrics = metrics
        self._waiting = Queue[Mapping[str, Any] | None](most_waiting)
        self._ended = Event()
        self._failing = False
        self._under_way = 0
        self._thread = Thread(target=self._work, name="orbit-decision-log", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, settings: DecisionLogSettings, metrics: Metrics) -> Self | None:
        """Return the configured log; None where none is kept. Blocks.

        Raises `ConfigurationInvalid`: the file cannot be written.
        """
        path = settings.path
        if path is None:
            return None
        try:
            make_private(path.parent)
            append_text(path, "")
        except OSError as failed:
            what = f"the log of decisions cannot be written: {failed.strerror or failed}"
            problem = Problem(what, Location(str(path)), "decision-log")
            raise ConfigurationInvalid([problem]) from failed
        return cls(
            path,
            max_bytes=settings.max_file_mb * 1_000_000,
            keep=settings.keep_files,
            sample=settings.sample,
            metrics=metrics,
        )

    def takes_next(self) -> bool:
        """Whether the turn that is asked about is one of those to write."""
        return self._sample >= 1 or random.random() < self._sample  # noqa: S311  no secret

    def note(self, line: Mapping[str, Any]) -> None:
        """Write a line soon; it must not be changed any more."""
        try:
            self._waiting.put_nowait(line)
        except Full:
            self._lose(1)

    async def close(self, *, within_s: float = 5.0) -> None:
        """Write what waits; what is not written in time is lost, and told."""
        self._ended.set()
        with suppress(Full):  # the thread is awake then
            self._waiting.put_nowait(None)
        await asyncio.to_thread(self._thread.join, within_s)
        left = self._under_way + sum(line is not None for line in list(self._waiting.queue))
        if left:
            _log.error("%d %s could not be written at the end, and may be lost", left, _LOST)
            self._lose(left)

    def _work(self) -> None:
        while True:
            lines = [self._waiting.get()]
            with suppress(Empty):
                while len(lines) < _MOST_AT_ONCE:
                    lines.append(self._waiting.get_nowait())
            whole = [line for line in lines if line is not None]
            self._under_way = len(whole)
            self._write(whole)
            self._under_way = 0
            if self._ended.is_set() and self._waiting.empty():
                return

    def _write(self, lines: list[Mapping[str, Any]]) -> None:
        try:
            text = "".join(f"{to_json(line)}\n" for line in lines)
            with locked(self._path):
                put_aside(self._path, max_bytes=self._max_bytes, keep=self._keep)
                append_text(self._path, text)
        except Exception as failed:  # the thread has to go on, whatever the disk or a value does
            if not self._failing:  # told once, however often it fails
                _log.error("the %s cannot be written to %s: %s", _LOST, self._path, failed)
            self._failing = True
            self._lose(len(lines))
        else:
            self._failing = False

    def _lose(self, count: int) -> None:
        if self._metrics is not None:
            self._metrics.values_lost(_LOST, count)
