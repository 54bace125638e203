"""Arrays that can be made again: files of a folder, and where there is one, a shared database."""

import asyncio
import io
import logging
import zipfile
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from server.storage.artefacts import ArtefactStore
from server.storage.files import written_whole

_log = logging.getLogger(__name__)

Arrays = dict[str, NDArray[Any]]

_UNREADABLE: Final = (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile)


class NotKept(Exception):
    """What is asked for has to be made first, and this is not the moment."""


class ArrayStore:
    """Named arrays, each good for one key, which is a digest of all that they are made from.

    What another machine has `shared` is copied into the folder. Unless it `may_make`, whoever is
    about to make something is stopped by `NotKept`.
    """

    def __init__(
        self, folder: Path, shared: ArtefactStore | None = None, *, may_make: bool = True
    ) -> None:
        self.folder = folder
        self.shared = shared
        self.may_make = may_make

    def reading(self) -> "ArrayStore":
        """Return the same store for one who only reads."""
        return ArrayStore(self.folder, self.shared, may_make=False)

    def check_may_make(self) -> None:
        if not self.may_make:
            raise NotKept

    async def read(self, name: str, key: str) -> Arrays | None:
        """Return the arrays that were written with this name and key; None where there are none."""
        path = self.folder / f"{name}.npz"
        found = await asyncio.to_thread(read_arrays, path, key)
        if found is not None or self.shared is None:
            return found
        found = await self.read_shared(name, key)
        if found is not None:
            await asyncio.to_thread(partial(write_arrays, path, key, **found))
        return found

    async def write(self, name: str, key: str, **arrays: Any) -> None:
        await asyncio.to_thread(partial(write_arrays, self.folder / f"{name}.npz", key, **arrays))
        await self.share(name, key, **arrays)

    async def read_shared(self, name: str, key: str) -> Arrays | None:
        """The same from the database alone."""
        content = await self.shared.read(name, key) if self.shared is not None else None
        return None if content is None else await asyncio.to_thread(_from_bytes, content, key)

    async def share(self, name: str, key: str, **arrays: Any) -> None:
        """Write into the database alone, if there is a shared one."""
        if self.shared is not None:
            content = await asyncio.to_thread(partial(_to_bytes, key, **arrays))
            await self.shared.write(name, key, content)


def read_arrays(path: Path, key: str) -> Arrays | None:
    """Return the arrays of a file that was written with this key; None for any other file."""
    try:
        with path.open("rb") as file:
            return _read(file, key)
    except _UNREADABLE:
        return None  # cut short or not ours


def write_arrays(path: Path, key: str, **arrays: Any) -> None:
    """Write arrays so that a reader finds the old file or the new one, never half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as file:
            np.savez(file, key=np.array(key), **arrays)
    except OSError as full:
        # The server works without the file; the next start only takes longer.
        _log.warning("%s cannot be written: %s", path, full)


def _read(file: BinaryIO, key: str) -> Arrays | None:
    with np.load(file, allow_pickle=False) as stored:
        if str(stored["key"]) != key:
            return None
        return {name: stored[name] for name in stored.files if name != "key"}


def _to_bytes(key: str, **arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, key=np.array(key), **arrays)
    return file.getvalue()


def _from_bytes(content: bytes, key: str) -> Arrays | None:
    try:
        return _read(io.BytesIO(content), key)
    except _UNREADABLE:
        return None
