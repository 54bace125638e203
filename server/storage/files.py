"""Private folders, and files that are written atomically."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents, accessible to their owner alone.

    A folder that is there already is left as it is.
    """
    for missing in reversed([f for f in (folder, *folder.parents) if not f.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)  # another process may have been faster


@contextmanager
def written_whole(path: Path, *, durable: bool = False, new: bool = False) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends without a failure.

    Readers find the old content or the new, and only the owner can read it.
    `durable` waits until it is on the disk; with `new` it never replaces a file.

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
