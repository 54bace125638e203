"""Files of lines that grow: appended to, locked between processes, put aside by size. All block.

`log.jsonl.1` was put aside before `log.jsonl.2`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # not on Windows, where one process alone may write
    fcntl = None  # type: ignore[assignment]

_OWNER_ONLY: Final = 0o600


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file against other processes, such as a command beside the server."""
    lock = path.with_name(f"{path.name}.lock")
    descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT, _OWNER_ONLY)
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def append_text(path: Path, text: str, *, durable: bool = False) -> None:
    """Append to a file that its owner alone can read; `durable` waits until it is on the disk."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _OWNER_ONLY)
    with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def put_aside(path: Path, *, max_bytes: int, keep: int) -> None:
    """Put a file aside that has reached a size, and delete all but the latest `keep` of those."""
    if not path.exists() or path.stat().st_size < max_bytes:
        return
    aside = files_aside(path)
    number = 1 + (int(aside[-1].suffix[1:]) if aside else 0)
    path.rename(path.with_name(f"{path.name}.{number}"))
    for old in files_aside(path)[:-keep]:
        old.unlink()


def files_aside(path: Path) -> list[Path]:
    """Return what was put aside of a file, the oldest first."""
    found = path.parent.glob(f"{path.name}.*")
    return sorted((p for p in found if p.suffix[1:].isdigit()), key=lambda p: int(p.suffix[1:]))
