"""What a database has been asked already: SQL that it took is not asked about at every start."""

import hashlib
import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from server import __version__
from server.storage.files import make_private, written_whole

_log = logging.getLogger(__name__)
_DIGITS: Final = 64


def digest_of(parts: Iterable[Any]) -> str:
    """Return a digest of what the SQL of a library and a schema are, by how they are written."""
    digest = hashlib.sha256(__version__.encode())
    for part in parts:
        digest.update(repr(part).encode())
    return digest.hexdigest()


class ProvenSql:
    """The SQL of one adapter that its database took when it was last asked, kept in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def holds(self, digest: str) -> bool:
        try:
            return self._path.read_bytes()[:_DIGITS].decode("ascii", "replace") == digest
        except OSError:
            return False

    def keep(self, digest: str) -> None:
        """Keep what was proven; where that cannot be written, it is asked again next time."""
        try:
            make_private(self._path.parent)
            with written_whole(self._path) as file:
                file.write(digest.encode())
        except OSError as failed:
            _log.warning("%s cannot be written: %s", self._path, failed.strerror)
