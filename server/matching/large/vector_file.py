"""Vectors in a file of their own, as float16, of which only those asked for are read.

Rows are only ever appended, so that who reads need not wait for who writes.
"""

import os
import weakref
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from server.core.ports import Vectors

Ids = NDArray[np.uint64]
"""What each row is the vector of, as a hash of its text."""

_WIDTH: Final = 2
_ID: Final = 8


class VectorFile:
    """`PATH.f16` has the rows, and `PATH.ids` what each is of; ids are written last.

    All of it blocks. Raises `OSError`.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._names = [path.with_name(f"{path.name}.{ending}") for ending in ("f16", "ids")]
        self._rows, self._ids = (_open(name) for name in self._names)
        for descriptor in (self._rows, self._ids):
            weakref.finalize(self, os.close, descriptor)
        self._count = os.fstat(self._ids).st_size // _ID
        # What was cut short is written again.
        size = os.fstat(self._rows).st_size
        self.dimensions = _dimensions(self._rows, size)
        if self.dimensions:
            self._count = min(self._count, (size - _ID) // (self.dimensions * _WIDTH))

    def __len__(self) -> int:
        return self._count

    def ids(self) -> Ids:
        return np.frombuffer(os.pread(self._ids, self._count * _ID, 0), np.uint64)

    def append(self, ids: Ids, vectors: Vectors) -> None:
        """Add rows, whose ids the file does not have."""
        if not self.dimensions:
            self.dimensions = vectors.shape[1]
            os.pwrite(self._rows, self.dimensions.to_bytes(_ID, "little"), 0)
        at = _ID + self._count * self.dimensions * _WIDTH
        _write(self._rows, vectors.astype(np.float16).tobytes(), at)
        _write(self._ids, ids.astype(np.uint64).tobytes(), self._count * _ID)
        self._count += len(ids)

    def clear(self) -> None:
        """Begin anew, as when most rows are of texts that are gone.

        Who has the file open, another process perhaps, goes on reading what was there.
        """
        for name in reversed(self._names):  # rows without ids are none
            name.unlink(missing_ok=True)
        for descriptor, name in zip((self._rows, self._ids), self._names, strict=True):
            begun = _open(name)
            os.dup2(begun, descriptor, inheritable=False)
            os.close(begun)
        self._count = self.dimensions = 0

    def read(self, rows: NDArray[np.intp]) -> Vectors:
        """Return rows, (n, d) float32, in the order asked for."""
        size = self.dimensions * _WIDTH
        found = np.empty((len(rows), self.dimensions), np.float16)
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        for first, last in _runs(breaks.tolist(), len(rows)):
            count, at = last - first, _ID + int(rows[first]) * size
            part = os.pread(self._rows, count * size, at)
            found[first:last] = np.frombuffer(part, np.float16).reshape(count, self.dimensions)
        return found.astype(np.float32)


def _open(name: Path) -> int:
    return os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _dimensions(descriptor: int, size: int) -> int:
    return int.from_bytes(os.pread(descriptor, _ID, 0), "little") if size > _ID else 0


def _write(descriptor: int, data: bytes, at: int) -> None:
    while data:
        written = os.pwrite(descriptor, data, at)
        data, at = data[written:], at + written


def _runs(breaks: Sequence[int], end: int) -> list[tuple[int, int]]:
    bounds = [0, *breaks, end]
    return [(a, b) for a, b in pairwise(bounds) if b > a]
