"""The vectors of an index as they were last read from ChromaDB, in a file.

Importing and opening ChromaDB is half of a start. One that finds the library as it left it,
and a ChromaDB that nothing was written to since, reads this file instead.
"""

import hashlib
import logging
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from server.core.ports import Vectors

_log = logging.getLogger(__name__)


def load_snapshot(path: Path, ids: Sequence[str], generation: str | None) -> Vectors | None:
    """The vectors of `ids`, in their order; None when the file is of something else.

    `generation` names the state of the collection; None for one that others may write to.
    """
    if generation is None:
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            if str(stored["key"]) != _key(ids, generation):
                return None
            vectors: Vectors = stored["vectors"]
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None  # cut short or not ours: ChromaDB has them
    fits = vectors.ndim == 2 and len(vectors) == len(ids) and vectors.dtype == np.float32
    return vectors if fits and bool(np.isfinite(vectors).all()) else None


def save_snapshot(path: Path, ids: Sequence[str], generation: str | None, vectors: Vectors) -> None:
    """Write the vectors so that a reader finds the old file or the new one, never half of it."""
    if generation is None:
        return
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            np.savez(file, key=_key(ids, generation), vectors=vectors)
        unfinished.replace(path)
    except OSError as full:
        # The server works without the file; the next start only takes longer.
        _log.warning("%s cannot be written: %s", path, full)


def _key(ids: Sequence[str], generation: str) -> str:
    digest = hashlib.blake2b(generation.encode(), digest_size=16)
    for one in ids:
        digest.update(b"\x00" + one.encode())
    return digest.hexdigest()
