"""Disks that are full or read-only. Making one takes the right to mount."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(size_kb: int) -> Iterator[Path]:
    """A disk in memory with room for so much. Skips the test where none can be made."""
    with tempfile.TemporaryDirectory(prefix="orbit-tests-disk-") as folder:
        _mount("-t", "tmpfs", "-o", f"size={size_kb}k,mode=0755", "tmpfs", folder)
        try:
            yield Path(folder)
        finally:
            _unmount(folder)


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """The folder once more, where it can only be read."""
    with tempfile.TemporaryDirectory(prefix="orbit-tests-disk-") as again:
        _mount("--bind", str(folder), again)
        try:
            _mount("-o", "remount,bind,ro", again)
            yield Path(again)
        finally:
            _unmount(again)


@contextmanager
def filled(disk: Path, *, free_kb: int = 0) -> Iterator[None]:
    """Fill a disk up to so much, until the block ends."""
    ballast, keep = disk / "ballast", disk / "kept-free"
    keep.write_bytes(b"\0" * free_kb * 1024)
    try:
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(b"\0" * 4096)
        keep.unlink()
        yield
    finally:
        keep.unlink(missing_ok=True)
        ballast.unlink()


def _mount(*arguments: str) -> None:
    if shutil.which("mount") is None:
        pytest.skip("there is no mount here, to make a disk with")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here, which takes root: {done.stderr.strip()}")


def _unmount(folder: str) -> None:
    subprocess.run(["umount", "--lazy", folder], check=True)
