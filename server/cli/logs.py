"""The log of a server: set up as configured, kept small, shown and followed."""

import json
import logging
import os
import sys
import time
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from server.api.log_level import set_log_level
from server.settings.models import LoggingSettings
from server.storage.files import make_private

_LARGEST_BYTES: Final = 10 * 1024 * 1024
_KEPT: Final = 3
_BLOCK_BYTES: Final = 64 * 1024
_POLL_S: Final = 0.25


def log_path(data_dir: Path) -> Path:
    return data_dir / "logs" / "server.log"


def make_room(log: Path) -> int:
    """Put a log that has grown large aside, keeping three; return where new lines begin."""
    make_private(log.parent)
    size = log.stat().st_size if log.exists() else 0
    if size < _LARGEST_BYTES:
        return size
    for number in range(_KEPT - 1, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number + 1}"))
    log.replace(log.with_name(f"{log.name}.1"))
    return 0


def last_lines(log: Path, count: int, *, since: int = 0) -> list[str]:
    """Return the last `count` lines after byte `since`, without reading all of a large file."""
    if count <= 0:
        return []
    with log.open("rb") as file:
        at = file.seek(0, os.SEEK_END)
        tail = b""
        while at > since and tail.count(b"\n") <= count:
            step = min(_BLOCK_BYTES, at - since)
            at -= step
            file.seek(at)
            tail = file.read(step) + tail
    return tail.decode("utf-8", "replace").splitlines()[-count:]


def follow_log(log: Path, *, start: int) -> Generator[bytes]:
    """Yield what is written after byte `start`, endlessly, also when the log is rotated."""
    position = start
    file = log.open("rb")
    try:
        file.seek(position)
        while True:
            new = file.read()
            if new:
                yield new
                continue
            if _is_rotated(file.fileno(), log, file.tell()):
                file.close()
                file = log.open("rb")
                continue
            time.sleep(_POLL_S)
    finally:
        file.close()


def _is_rotated(descriptor: int, log: Path, position: int) -> bool:
    try:
        now = log.stat()
    except FileNotFoundError:
        return False
    return now.st_ino != os.fstat(descriptor).st_ino or now.st_size < position


class JsonLines(logging.Formatter):
    """One JSON object a record, with the `fields` that were given as `extra`."""

    def __init__(self, worker: int | None = None) -> None:
        super().__init__()
        self._of = {} if worker is None else {"worker": worker}

    def format(self, record: logging.LogRecord) -> str:
        row = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **self._of,
        }
        row |= getattr(record, "fields", {})
        if record.exc_info:
            row["exception"] = self.formatException(record.exc_info)
        return json.dumps(row, ensure_ascii=False, default=str)


def set_up_logging(settings: LoggingSettings, *, worker: int | None = None) -> None:
    """Write the log as the settings say; each line names the `worker`, where there are several."""
    handler = logging.StreamHandler(sys.stderr)
    if settings.format == "json":
        handler.setFormatter(JsonLines(worker))
    else:
        of = "" if worker is None else f"[{worker}] "
        line = f"%(asctime)s %(levelname)-7s {of}%(name)s: %(message)s"
        handler.setFormatter(logging.Formatter(line))
    logging.basicConfig(handlers=[handler], force=True)
    set_log_level(settings.level)
