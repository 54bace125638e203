"""Private folders, files that are written atomically, and the secret of an installation."""

import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from server.errors import ConfigurationInvalid, Location, Problem
from server.settings.fields import SECRET_DIGITS, secret_problem

_log = logging.getLogger(__name__)


def make_private(folder: Path) -> None:
    """Make a folder and its missing parents, accessible to their owner alone.

    A folder that is there already is left as it is.
    """
    for missing in reversed([f for f in (folder, *folder.parents) if not f.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)  # another process may have been faster


@contextmanager
def written_whole(path: Path, *, durable: bool = False, new: bool = False) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when the block ends without a failure.

    Readers find the old content or the new, and only the owner can read it. `durable` waits until
    it is on the disk; with `new` it never replaces a file. Raises `FileExistsError`: with `new`,
    there is one already; or another `OSError`, which names the file.
    """
    descriptor, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        (os.link if new else os.replace)(draft, path)
    except OSError as failure:
        if failure.filename is None:  # as when the disk is full
            raise OSError(failure.errno, failure.strerror, str(path)) from failure
        raise
    finally:
        Path(draft).unlink(missing_ok=True)


def read_secret(path: Path) -> bytes:
    """Return the secret in a file that has to be there, such as one that is mounted.

    Raises `ConfigurationInvalid`: it cannot be read, is too short to be safe, or is damaged.
    """
    try:
        secret = path.read_bytes().strip()
    except OSError as failure:
        raise _unusable(path, failure.strerror or str(failure)) from failure
    if problem := secret_problem(secret):
        raise _unusable(path, problem)
    return secret


def load_or_create_secret(path: Path) -> tuple[bytes, bool]:
    """Return the secret in `path`, and whether it was made just now.

    Of several processes that start at once on an empty folder, one makes the secret and all return
    it. A file that others may read is closed to them, with a warning. Raises
    `ConfigurationInvalid`: the file cannot be read or made, is too short to be safe, or is damaged.
    """
    try:
        created = not path.exists() and _create(path)
        _close_to_others(path)
        secret = path.read_bytes().strip()
    except OSError as failure:
        raise _unusable(path, failure.strerror or str(failure)) from failure
    if problem := secret_problem(secret):
        raise _unusable(
            path,
            f"{problem}; restore it from a backup, or delete it to start over (every key made so "
            "far then stops working)",
        )
    return secret, created


def _create(path: Path) -> bool:
    make_private(path.parent)
    try:
        with written_whole(path, durable=True, new=True) as file:
            file.write(secrets.token_hex(SECRET_DIGITS // 2).encode() + b"\n")
    except FileExistsError:
        return False
    return True


def _close_to_others(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & 0o077:
        return
    try:
        path.chmod(0o600)
    except OSError as refused:
        _log.warning(
            "%s has mode %04o, so others can read it, and that cannot be changed from here (%s): "
            "make it 0600",
            path,
            mode,
            refused.strerror,
        )
    else:
        _log.warning("%s had mode %04o, so others could read it; it is 0600 now", path, mode)


def _unusable(path: Path, reason: str) -> ConfigurationInvalid:
    problem = Problem(
        f"the secret that protects keys cannot be used: {reason}", Location(str(path)), "secret"
    )
    return ConfigurationInvalid([problem])
