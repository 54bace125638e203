"""The vectors of examples, made once and kept by content.

One file for each encoder. What cannot be read is made again, and what cannot be written
is made again at the next start: a cache is never a reason to fail.
"""

import asyncio
import hashlib
import logging
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from server.core.ports import Embedder, Vectors

_log = logging.getLogger(__name__)


class ExampleVectors:
    """Vectors of examples as one encoder makes them, in a folder."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        name = hashlib.blake2b(embedder.fingerprint.encode(), digest_size=8).hexdigest()
        self._path = folder / f"{name}.npz"
        self._embedder = embedder
        self._known: dict[str, Vectors] | None = None
        self.made = 0
        """How many had to be embedded since this was opened."""

    async def of(self, texts: Sequence[str]) -> Vectors:
        """(len(texts), d) unit rows, in their order.

        Raises:
            ProviderError: what is not known could not be embedded.
        """
        if self._known is None:
            self._known = await asyncio.to_thread(self._read)
        known = self._known
        missing = [text for text in dict.fromkeys(texts) if _key(text) not in known]
        if missing:
            rows = await self._embedder.embed(missing)
            self.made += len(missing)
            known |= {_key(text): row for text, row in zip(missing, rows, strict=True)}
            await asyncio.to_thread(self._write, dict(known))
        if not texts:
            return np.empty((0, 0), np.float32)
        return np.vstack([known[_key(text)] for text in texts]).astype(np.float32)

    def _read(self) -> dict[str, Vectors]:
        try:
            with np.load(self._path, allow_pickle=False) as kept:
                keys, rows = kept["keys"], kept["rows"]
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as broken:
            _log.warning("%s cannot be read, so its vectors are made again: %s", self._path, broken)
            return {}
        if rows.ndim != 2 or len(keys) != len(rows) or not np.isfinite(rows).all():
            _log.warning("%s is damaged, so its vectors are made again", self._path)
            return {}
        return {str(key): row for key, row in zip(keys, rows, strict=True)}

    def _write(self, known: dict[str, Vectors]) -> None:
        beside = self._path.with_suffix(f".{os.getpid()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with beside.open("wb") as stream:
                np.savez(stream, keys=np.array(list(known)), rows=np.vstack(list(known.values())))
            beside.replace(self._path)
        except OSError as refused:
            _log.warning("%s cannot be written: %s", self._path, refused)
            beside.unlink(missing_ok=True)


def _key(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
