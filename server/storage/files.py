"""Folders that are their owner's alone, and files that are never seen half written."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone.

    A folder that is there already is left as it is.
    """
    for missing in reversed([f for f in (folder, *folder.parents) if not f.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)  # another process may have been faster


@contextmanager
def written_whole(path: Path, *, durable: bool = False, new: bool = False) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when the block ends without a failure.

    Readers find the old content or the new, never half of it, and only the owner can read
    it. `durable` waits until it is on the disk; with `new` it never replaces a file.

    Raises:
        FileExistsError: with `new`, there is one already.
    """
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        (os.link if new else os.replace)(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)
