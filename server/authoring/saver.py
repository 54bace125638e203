"""Saves what was written into an adapter's files, or leaves everything as it was."""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from shutil import rmtree
from typing import Any, Final, NamedTuple

from server.adapters.authored import AuthoredFile, Content
from server.adapters.manager import AdapterManager
from server.adapters.registry import AdapterStatus
from server.audit.changes import Change, ChangeRecorder
from server.core.suggestions import did_you_mean
from server.core.turn import Caller
from server.errors import (
    FileChanged,
    FileFixed,
    FilesRefused,
    FilesUnwritable,
    FileUnknown,
    Problem,
)
from server.storage.files import make_private

_log = logging.getLogger(__name__)

MOST_BACKUPS: Final = 100
"""Backups that are kept of an adapter; then the oldest goes."""

Texts = Mapping[Path, bytes]
Check = Callable[[Texts], Awaitable[Sequence[Problem]]]
"""Says what is wrong with an adapter when texts stand in place of its files."""


class Draft(NamedTuple):
    """What shall stand in a file; `version` is of the content that it was written from."""

    id: str
    text: str
    version: str | None = None


class Saved(NamedTuple):
    """What came of saving: the adapter, the versions of what was written, and the backup."""

    status: AdapterStatus
    versions: Mapping[str, str]
    backup: Path


class DraftContents(NamedTuple):
    """Drafts as the files would have them, and what is there now."""

    files: Mapping[str, AuthoredFile]
    before: Mapping[str, Content]
    after: Mapping[str, Content]

    @property
    def texts(self) -> dict[Path, bytes]:
        return {self.files[name].path: content.raw for name, content in self.after.items()}


def contents_of(files: Mapping[str, AuthoredFile], drafts: Sequence[Draft]) -> DraftContents:
    """Return what drafts would make of files. Blocks.

    Raises `FileUnknown`, or `FilesRefused`: a file is named twice, or cannot be read.
    """
    twice = [name for name, count in Counter(draft.id for draft in drafts).items() if count > 1]
    if twice:
        raise FilesRefused(f"{twice[0]} is named twice: send each file once")
    for draft in drafts:
        if draft.id not in files:
            hint = did_you_mean(draft.id, list(files))
            raise FileUnknown(f"the adapter has no file {draft.id!r}; {hint}")
    before = {draft.id: files[draft.id].read() for draft in drafts}
    after = {d.id: Content(before[d.id].rewritten(d.text)) for d in drafts}
    return DraftContents(files, before, after)


@dataclass(frozen=True, slots=True)
class LibrarySaver:
    """Writes the files of a server's adapters, for one author after the other."""

    manager: AdapterManager
    changes: ChangeRecorder
    folder: Path
    """Where backups are kept: a folder for each adapter."""
    _saving: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def save(
        self, name: str, drafts: Sequence[Draft], check: Check, by: Caller, request_id: str = ""
    ) -> Saved:
        """Check drafts, keep what they replace, write them, and answer by them from now on.

        Where the adapter cannot be reloaded, its files are put back. Raises:
            AdapterUnknown, FileUnknown: nothing of that name is there.
            FilesRefused: the drafts bring errors, or are not of what is there now.
            FilesUnwritable: the disk did not take them.
            ReloadRefused, ProviderError, StoreUnavailable: the adapter could not be reloaded.
        """
        async with self._saving:
            files = await asyncio.to_thread(self.manager.authored, name)
            contents = await asyncio.to_thread(contents_of, files, drafts)
            await asyncio.to_thread(_check_writable, contents, drafts)
            await _check_sound(contents, check)
            digests = {
                each: {"before": contents.before[each].version, "after": after.version}
                for each, after in contents.after.items()
            }
            change = Change(by, "files", "save", name, {"files": digests}, request_id)
            return await self.changes.make(
                change,
                lambda: self._write(name, contents, by, request_id),
                lambda saved: {"backup": saved.backup.name},
            )

    async def _write(
        self, name: str, contents: DraftContents, by: Caller, request_id: str
    ) -> Saved:
        try:
            backup = await asyncio.to_thread(self._back_up, name, contents.before)
            status = await self.manager.rewrite(name, contents.texts, by, request_id)
        except OSError as failed:
            why = failed.strerror or type(failed).__name__
            raise FilesUnwritable(
                f"the files could not be written, and are as they were: {why}", shown=True
            ) from failed
        versions = {each: content.version for each, content in contents.after.items()}
        return Saved(status, versions, backup)

    def _back_up(self, name: str, contents: Mapping[str, Content]) -> Path:
        folder = self.folder / name
        backup = folder / f"{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}"
        for each, content in contents.items():
            place = backup / each
            make_private(place.parent)
            place.write_bytes(content.raw)
        for old in sorted(folder.iterdir())[:-MOST_BACKUPS]:
            rmtree(old, ignore_errors=True)
        return backup


def _check_writable(contents: DraftContents, drafts: Sequence[Draft]) -> None:
    changed: list[dict[str, Any]] = []
    for draft in drafts:
        if why := contents.files[draft.id].why_fixed():
            raise FileFixed(f"{draft.id} cannot be changed here: {why}", [{"id": draft.id}])
        version = contents.before[draft.id].version
        if draft.version is not None and draft.version != version:
            changed.append({"id": draft.id, "version": version})
    if changed:
        names = ", ".join(row["id"] for row in changed)
        raise FileChanged(f"changed by somebody else in the meantime: {names}", changed)


async def _check_sound(contents: DraftContents, check: Check) -> None:
    """Raise `FilesRefused` for errors that the drafts bring; others may be mended by and by."""
    errors = [problem for problem in await check(contents.texts) if problem.is_error]
    if not errors:
        return
    known = Counter(_identity(each) for each in await check({}) if each.is_error)
    brought: list[Problem] = []
    for problem in errors:
        known[_identity(problem)] -= 1
        if known[_identity(problem)] < 0:
            brought.append(problem)
    if brought:
        more = f" (and {len(brought) - 1} more)" if len(brought) > 1 else ""
        rows = [{"what": p.what, "where": str(p.where), "kind": p.kind} for p in brought]
        raise FilesRefused(f"nothing was saved: {brought[0]}{more}", rows)


def _identity(problem: Problem) -> tuple[str, ...]:
    """What makes it the same problem, wherever in its file it stands."""
    return problem.what, problem.kind, problem.where.file
