"""Folders for what is nobody else's business."""

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for their owner alone.

    A folder that is there already is left as it is.
    """
    for missing in reversed([f for f in (folder, *folder.parents) if not f.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)  # another process may have been faster
