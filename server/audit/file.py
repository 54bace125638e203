"""The audit as JSON lines, put aside by size."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from server.audit.entry import GENESIS, AuditEntry, AuditSeal
from server.errors import StoreUnavailable
from server.storage.files import make_private, written_whole

try:
    import fcntl
except ImportError:  # not on Windows, where one process alone may write
    fcntl = None  # type: ignore[assignment]

_CHAIN: Final = ("number", "previous", "digest")
_LONGEST_LINE: Final = 4_000_000
_OWNER_ONLY: Final = 0o600


class FileSink:
    """One object a line, on one machine. `audit.jsonl.1` was put aside before `.2`."""

    def __init__(self, path: Path, seal: AuditSeal, *, max_bytes: int, keep: int) -> None:
        """Raises `StoreUnavailable` when the folder cannot be used. Blocks."""
        self._path, self._seal = path, seal
        self._max_bytes, self._keep = max_bytes, keep
        self._end_path = path.with_name(f"{path.name}.end")
        try:
            make_private(path.parent)
            self._finish_line()
        except OSError as failed:
            raise _unusable(path, failed) from failed

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        try:
            with self._locked():
                self._rotate()
                entries = self._seal.entries(events, *self._last())
                lines = [json.dumps(e.to_dict(), separators=(",", ":")) for e in entries]
                _append_text(self._path, "\n".join(lines) + "\n")
                number, digest = entries[-1].number, entries[-1].digest
                end = {"number": number, "digest": digest, "seal": self._seal.end(number, digest)}
                with written_whole(self._end_path, durable=True) as file:
                    file.write(json.dumps(end).encode())
        except OSError as failed:
            raise _unusable(self._path, failed) from failed

    def entries(self) -> Iterator[AuditEntry]:
        for path in [*self._rotated_files(), self._path]:
            if not path.exists():
                continue
            with path.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    yield _entry(line)

    def holds_first(self) -> bool:
        aside = self._rotated_files()
        return not aside or aside[0].name == f"{self._path.name}.1"

    def end(self) -> tuple[int, str, str] | None:
        try:
            found = json.loads(self._end_path.read_text(encoding="utf-8"))
            return int(found["number"]), str(found["digest"]), str(found["seal"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return 0, "", ""

    def close(self) -> None:
        return None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the trail against other processes, such as a command beside the server."""
        lock = self._path.with_name(f"{self._path.name}.lock")
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT, _OWNER_ONLY)
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _last(self) -> tuple[int, str]:
        """Return the last entry: the sealed end, or what a crash left after it.

        Lines that are gone are never written over: the gap stays to be found.
        """
        written = self._last_written()
        end = self.end()
        if end is not None and end[2] == self._seal.end(end[0], end[1]) and end[0] >= written[0]:
            return end[0], end[1]
        return written

    def _last_written(self) -> tuple[int, str]:
        for path in [self._path, *reversed(self._rotated_files())]:
            if path.exists() and path.stat().st_size:
                with path.open("rb") as file:
                    file.seek(max(0, path.stat().st_size - _LONGEST_LINE))
                    line = file.read().rstrip(b"\n").rpartition(b"\n")[2]
                last = _entry(line.decode("utf-8", "replace"))
                return last.number, last.digest
        return 0, GENESIS

    def _rotate(self) -> None:
        if not self._path.exists() or self._path.stat().st_size < self._max_bytes:
            return
        aside = self._rotated_files()
        number = 1 + (int(aside[-1].suffix[1:]) if aside else 0)
        self._path.rename(self._path.with_name(f"{self._path.name}.{number}"))
        for old in self._rotated_files()[: -self._keep]:
            old.unlink()

    def _rotated_files(self) -> list[Path]:
        found = self._path.parent.glob(f"{self._path.name}.*")
        return sorted((p for p in found if p.suffix[1:].isdigit()), key=lambda p: int(p.suffix[1:]))

    def _finish_line(self) -> None:
        """End a line that a crash left half written, so that the next one is readable."""
        if self._path.exists() and self._path.read_bytes()[-1:] not in (b"", b"\n"):
            _append_text(self._path, "\n")


def _entry(line: str) -> AuditEntry:
    try:
        row = json.loads(line)
        number, previous, digest = (row.pop(name) for name in _CHAIN)
        return AuditEntry(int(number), row, str(previous), str(digest))
    except (ValueError, KeyError, TypeError, AttributeError):
        return AuditEntry(0, {"unreadable": line[:200]}, "", "")


def _append_text(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _unusable(path: Path, failed: OSError) -> StoreUnavailable:
    return StoreUnavailable(f"the audit at {path} cannot be written: {failed.strerror}")
