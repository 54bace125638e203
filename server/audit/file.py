"""The audit as JSON lines, put aside by size."""

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from server.audit.entry import GENESIS, AuditEntry, AuditSeal, End, Head, Settling
from server.audit.head import KeptHead
from server.errors import StoreUnavailable
from server.storage.files import make_private, written_whole
from server.storage.line_files import append_text, files_aside, locked, put_aside

_log = logging.getLogger(__name__)

_CHAIN: Final = ("number", "previous", "digest")
_USUAL_TAIL: Final = 64_000
_LONGEST_LINE: Final = 4_000_000


class FileSink:
    """One object a line, on one machine. `audit.jsonl.1` was put aside before `.2`."""

    def __init__(
        self, path: Path, seal: AuditSeal, head: KeptHead, *, max_bytes: int, keep: int
    ) -> None:
        """Raises `StoreUnavailable` when the folder cannot be used. Blocks."""
        self._path, self._seal, self._head = path, seal, head
        self._max_bytes, self._keep = max_bytes, keep
        self._end_path = path.with_name(f"{path.name}.end")
        self.one_server = head.one_server
        try:
            make_private(path.parent)
        except OSError as failed:
            raise _unusable(path, failed) from failed

    def append(
        self, events: Sequence[Mapping[str, Any]], *, settling: Settling | None = None
    ) -> None:
        with self._head.lock() as head:
            if not head.allows(settling):
                return
            try:
                with locked(self._path):
                    self._cut_unfinished()
                    last = self._last_written()
                    entries = self._seal.following(events, last, self.end(), head.end)
                    if entries:
                        put_aside(self._path, max_bytes=self._max_bytes, keep=self._keep)
                        self._write(entries)
            except OSError as failed:
                raise _unusable(self._path, failed) from failed
            if entries or settling:
                head.move(entries, last[0], settling)

    def _write(self, entries: Sequence[AuditEntry]) -> None:
        lines = [json.dumps(e.to_dict(), separators=(",", ":")) for e in entries]
        size = self._path.stat().st_size if self._path.exists() else 0
        try:
            append_text(self._path, "\n".join(lines) + "\n", durable=True)
            end = self._seal.end(entries[-1].number, entries[-1].digest)
            with written_whole(self._end_path, durable=True) as file:
                file.write(json.dumps(end._asdict()).encode())
        except OSError:
            if self._path.is_file():  # all of them or none
                os.truncate(self._path, size)
            raise

    def entries(self, *, after: int = 0) -> Iterator[AuditEntry]:
        for path in self._files(after):
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    if not line.endswith("\n"):
                        return  # it is being written, or was when a crash came
                    entry = _entry(line)
                    if entry.number > after or not after:
                        yield entry

    def newest(self, *, before: int | None = None) -> Iterator[AuditEntry]:
        last = before
        for path in (self._path, *reversed(files_aside(self._path))):
            for line in _lines_backwards(path):
                entry = _entry(line)
                # A file that is put aside meanwhile is met twice.
                if entry.number and (last is None or entry.number < last):
                    last = entry.number
                    yield entry

    def _files(self, after: int) -> list[Path]:
        """Return the files with entries of higher numbers, oldest first."""
        found: list[Path] = []
        for path in (self._path, *reversed(files_aside(self._path))):
            if path.exists():
                found.insert(0, path)
                with path.open(encoding="utf-8", errors="replace") as lines:
                    if 0 < _entry(lines.readline()).number <= after:
                        break
        return found

    def holds_first(self) -> bool:
        aside = files_aside(self._path)
        return not aside or aside[0].name == f"{self._path.name}.1"

    def end(self) -> End | None:
        try:
            found = json.loads(self._end_path.read_text(encoding="utf-8"))
            return End(int(found["number"]), str(found["digest"]), str(found["seal"]))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return End(0, "", "")

    def head(self) -> Head | None:
        return self._head.read()

    def close(self) -> None:
        self._head.close()

    def _last_written(self) -> tuple[int, str]:
        """Return number and digest of the last line that is an entry."""
        for path in [self._path, *reversed(files_aside(self._path))]:
            for length in (_USUAL_TAIL, _LONGEST_LINE) if path.exists() else ():
                for line in reversed(_tail(path, length)[1].splitlines()):
                    if (last := _entry(line.decode("utf-8", "replace"))).number:
                        return last.number, last.digest
        return 0, GENESIS

    def _cut_unfinished(self) -> None:
        """Cut off a last line that a crash left half written: nobody was told that it is there."""
        if not self._path.exists():
            return
        if _tail(self._path, 1)[1] in (b"", b"\n"):
            return
        begin, tail = _tail(self._path, _LONGEST_LINE)
        os.truncate(self._path, begin + tail.rfind(b"\n") + 1)
        _log.warning("the last line of %s was not written to its end", self._path)


def _tail(path: Path, length: int) -> tuple[int, bytes]:
    """Return the last bytes of a file, and where they begin."""
    with path.open("rb") as file:
        begin = max(0, file.seek(0, os.SEEK_END) - length)
        file.seek(begin)
        return begin, file.read()


def _lines_backwards(path: Path) -> Iterator[str]:
    """Yield the lines of a file that are written to their end, the last one first."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    with file:
        at, tail, ended = file.seek(0, os.SEEK_END), b"", False
        while at:
            step = min(_USUAL_TAIL, at)
            at -= step
            file.seek(at)
            tail, *lines = (file.read(step) + tail).split(b"\n")
            for line in reversed(lines):
                if ended:
                    yield line.decode("utf-8", "replace")
                ended = True
        if ended:
            yield tail.decode("utf-8", "replace")


def _entry(line: str) -> AuditEntry:
    try:
        row = json.loads(line)
        number, previous, digest = (row.pop(name) for name in _CHAIN)
        return AuditEntry(int(number), row, str(previous), str(digest))
    except (ValueError, KeyError, TypeError, AttributeError):
        return AuditEntry(0, {"unreadable": line[:200]}, "", "")


def _unusable(path: Path, failed: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"the audit at {path} cannot be written: {failed.strerror}")
