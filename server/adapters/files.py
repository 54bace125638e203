"""The files that an adapter is read from, and whether they have changed."""

import os
from collections.abc import Iterable
from pathlib import Path

from server.retrievers.calibration import calibration_path
from server.settings.fields import expand
from server.settings.models import AdapterSettings, Settings

Fingerprint = frozenset[tuple[str, int, int, int]]
"""Of each file that is there its path, its inode, when it was written, and its size."""


def adapter_files(adapter: AdapterSettings, settings: Settings) -> tuple[Path, ...]:
    """Return the files and globs that are read when the adapter is opened, there or not."""
    config, guards, shared = adapter.config, adapter.guards, settings.guards
    compare = shared.compare if guards.compare is None else guards.compare
    single = config.intents, config.reformulator, config.prompts
    if config.child_adapters:
        return ()  # each of them is read by itself
    domain = config.domain_config_path
    found = [
        *(domain, calibration_path(domain), *config.template_library_path),
        *(path for path in single if path is not None),
        *(*shared.packs, *guards.packs, *compare),
    ]
    return tuple(dict.fromkeys(found))


def fingerprint(paths: Iterable[Path]) -> Fingerprint:
    """Return what changes when one of the files, or which files there are, changes. Blocks."""
    seen = set()
    for file in (file for path in paths for file in expand(path)):
        try:
            found = os.stat(file)
        except OSError:
            continue  # it went away in between
        seen.add((str(file), found.st_ino, found.st_mtime_ns, found.st_size))
    return frozenset(seen)
