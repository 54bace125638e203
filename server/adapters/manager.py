"""The life of a server's adapters: opened, tried again while a provider is down, reloaded."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from server import errors
from server.adapters.authored import AuthoredFile, authored_files, replace_files
from server.adapters.build import build_adapter
from server.adapters.files import Fingerprint, adapter_files, fingerprint
from server.adapters.registry import Adapters, AdapterStatus
from server.adapters.resources import SharedResources
from server.adapters.snapshots import Snapshots
from server.audit.changes import Change
from server.audit.entry import SERVER
from server.chat.adapter import Adapter
from server.core.turn import Caller
from server.library.earlier import version_of
from server.settings.loader import root_of
from server.settings.models import AdapterSettings
from server.storage.announcements import Announcement

_log = logging.getLogger(__name__)

_FIRST_RETRY_S: Final = 2.0
_LONGEST_RETRY_S: Final = 60.0

Reread = Callable[[], Sequence[AdapterSettings]]
"""Reads the adapters of the configuration again. Blocks; raises `ConfigurationInvalid`."""

Sources = Callable[[], Sequence[Path]]
"""Returns the files and globs that the configuration is read from. Blocks."""


@dataclass(frozen=True, slots=True)
class FilesRead:
    """Files and globs, and how they were just before they were read."""

    paths: tuple[Path, ...] = ()
    was: Fingerprint = frozenset()

    @classmethod
    def now(cls, paths: Iterable[Path]) -> "FilesRead":
        listed = tuple(paths)
        return cls(listed, fingerprint(listed))


@dataclass(frozen=True, slots=True)
class _OpeningFailed:
    """Why an adapter could not be opened: for readiness, for the log, for whoever reloads it.

    `passing` says whether trying again may help.
    """

    why: str
    report: str
    error: Exception
    passing: bool = False


class AdapterManager:
    """Opens the adapters of a server in the background, and opens them anew when asked.

    A reloaded adapter answers until the new one is open, or goes on if that cannot be opened.
    Questions under way are answered by the adapter that they came to; it is closed with the last.
    """

    def __init__(
        self,
        adapters: Adapters,
        resources: SharedResources,
        reread: Reread,
        sources: Sources = tuple,
        *,
        alone: bool = True,
    ) -> None:
        """Unless `alone`, another process may use what earlier versions left on disk."""
        self._adapters = adapters
        self._alone = alone
        self._resources = resources
        self._reread = reread
        self._sources = sources
        self._snapshots = Snapshots(resources.settings)
        self.configuration = FilesRead.now(sources())
        self._files: dict[str, FilesRead] = {}
        self._faulty: set[str] = set()
        self._written: dict[str, AdapterSettings] = {}
        self._rewriting: frozenset[str] = frozenset()
        self._changes = resources.guardrails.changes
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._retiring: set[asyncio.Task[None]] = set()
        self._replaced: list[Adapter] = []
        self._being_opened: set[str] = set()
        self._reloading = asyncio.Lock()
        resources.announcements.hear("adapters", self._take_up)

    @property
    def files(self) -> Mapping[str, FilesRead]:
        """What each adapter was opened from, or failed to be."""
        return self._files

    @property
    def faulty(self) -> frozenset[str]:
        """The adapters that do not serve all that is written, for what is written."""
        return frozenset(self._faulty)

    @property
    def rewriting(self) -> frozenset[str]:
        """The adapters whose files are being replaced, which are reloaded when all of them are."""
        return self._rewriting

    def written(self, name: str) -> AdapterSettings:
        """Return the settings that an adapter was opened by last, or failed to be.

        Raises `AdapterUnknown`.
        """
        if name not in self._written:
            raise errors.AdapterUnknown(f"there is no adapter {name!r} in this configuration")
        return self._written[name]

    @property
    def root(self) -> Path:
        """The folder of the project, which holds `config/`."""
        paths = self.configuration.paths
        return root_of(paths[0]) if paths else Path.cwd()

    def authored(self, name: str) -> dict[str, AuthoredFile]:
        """Return the files that an adapter's author writes, by id. Blocks.

        Raises `AdapterUnknown`.
        """
        settings, environ = self._resources.settings, self._resources.environ
        return authored_files(self.written(name), settings, environ, self.root)

    def version(self, name: str) -> str:
        """Return since when an adapter is open as it is; nothing for one that is not."""
        opened_at = self._adapters.opened_at(name)
        return "" if opened_at is None else version_of(opened_at)

    def open(self, adapter: AdapterSettings) -> None:
        """Begin to open an adapter; go on until it is open or found to be broken."""
        self._adapters.expect(adapter.name)
        self._opening[adapter.name] = asyncio.create_task(self._keep_trying(adapter))

    async def reload(self, name: str, by: Caller, request_id: str = "") -> AdapterStatus:
        """Read an adapter's settings, library and packs again, and answer by them from now on.

        One new in the configuration is opened; one taken out of it, or disabled, is closed.
        May raise AdapterUnknown, ReloadRefused, ProviderError or StoreUnavailable.
        """
        async with self._reloading:
            change = Change(by, "adapters", "reload", name, request_id=request_id)
            return await self._reload(name, await self._read_again(change), by, request_id)

    async def announce(self, *names: str) -> bool:
        """Have other processes reload adapters that were reloaded here; return if they will.

        Each reads its own files: one that cannot use them goes on as it was.
        """
        announcing = self._resources.announcements.announce
        return all([await announcing("adapters", name) for name in names])

    async def _take_up(self, announced: Announcement) -> None:
        """Reload an adapter as another process did, whose change it is: it is not one of ours.

        Raises what trying again may help against.
        """
        name, origin = announced.subject, announced.origin
        async with self._reloading:
            try:
                written = {each.name: each for each in await self._reread_enabled()}
                if name in written or name in self._adapters.names:
                    _log.info("adapter %s is being reloaded, as by %s", name, origin)
                    await self._replace(name, written.get(name))
            except errors.ConfigurationInvalid as broken:
                why = _reload_refused("the configuration cannot be used", broken)
                _log.warning("adapter %s is not reloaded, as by %s: %s", name, origin, why)
            except (errors.ProviderError, errors.StoreUnavailable):
                if self.version(name):
                    raise  # the version before goes on, and nobody here would ask again
            except errors.OrbitError:
                pass  # it is logged, and shown by /ready

    async def reload_all(
        self, by: Caller, request_id: str = ""
    ) -> list[tuple[AdapterStatus, errors.OrbitError | None]]:
        """Reload every adapter, and return how each stands, with why it was not reloaded.

        May raise ReloadRefused, when the configuration itself cannot be used.
        """
        async with self._reloading:
            written = await self._read_again(
                Change(by, "adapters", "reload", request_id=request_id)
            )
            outcomes: list[tuple[AdapterStatus, errors.OrbitError | None]] = []
            for name in dict.fromkeys((*self._adapters.names, *written)):
                try:
                    status = await self._reload(name, written, by, request_id)
                    outcomes.append((status, None))
                except errors.OrbitError as failed:
                    outcomes.append((self._adapters.status(name), failed))
            return outcomes

    async def rewrite(
        self, name: str, contents: Mapping[Path, bytes], by: Caller, request_id: str = ""
    ) -> AdapterStatus:
        """Replace files that an adapter is read from, and answer by them from now on.

        Other adapters that are read from them are reloaded too. If one of them cannot be, all
        files are put back, and what ran before goes on. Raises as `reload`, and `OSError`: the
        files could not be written, and are as they were.
        """
        async with self._reloading:
            change = Change(by, "adapters", "reload", name, request_id=request_id)
            written = await self._read_again(change)
            named = {str(path) for path in contents}
            readers = [
                other
                for other, files in self._files.items()
                if other != name and other in written and any(f[0] in named for f in files.was)
            ]
            self._rewriting = frozenset({name, *readers})
            try:
                before = await asyncio.to_thread(_contents, contents)
                await asyncio.to_thread(replace_files, contents)
                status = await self._reload_or_put_back(
                    [name, *readers], written, before, by, request_id
                )
            finally:
                self._rewriting = frozenset()
        await self.announce(name, *readers)
        return status

    async def stop(self) -> None:
        await cancel_tasks(self._opening.values())

    async def close(self) -> None:
        """Close the adapters that were replaced; those that are open stay open."""
        await cancel_tasks(self._retiring)

    async def _open(self, adapter: AdapterSettings) -> Adapter | _OpeningFailed:
        name = adapter.name
        self._written[name] = adapter
        self._being_opened.add(name)
        replaces = bool(self._adapters.opened_at(name))
        try:
            files = adapter_files(adapter, self._resources.settings)
            self._files[name] = await asyncio.to_thread(FilesRead.now, files)
            return await build_adapter(
                adapter, self._resources, snapshots=self._snapshots, replaces=replaces
            )
        except (errors.ProviderError, errors.StoreUnavailable) as down:
            return _OpeningFailed(str(down), str(down), down, passing=True)
        except errors.ConfigurationInvalid as broken:
            report = "; ".join(str(problem) for problem in broken.problems if problem.is_error)
            error = _reload_refused(f"adapter {name!r} was not reloaded", broken)
            return _OpeningFailed(errors.first_of(broken.problems), report, error)
        except errors.OrbitError as failed:
            error = errors.ReloadRefused(f"adapter {name!r} was not reloaded: {failed}")
            return _OpeningFailed(str(failed), str(failed), error)
        except Exception as unexpected:
            _log.exception("adapter %s could not be opened", name)
            why = "it could not be opened; the log says why"
            return _OpeningFailed(why, why, unexpected)
        finally:
            self._being_opened.discard(name)

    async def _keep_trying(self, adapter: AdapterSettings) -> None:
        name, pause_s = adapter.name, _FIRST_RETRY_S
        opening, told = Change(SERVER, "adapters", "open", name), ""
        while isinstance(outcome := await self._open(adapter), _OpeningFailed):
            self._fail(name, outcome)
            if outcome.why != told:
                told = outcome.why
                self._changes.note(opening, "error", told)
            if not outcome.passing:
                _log.error("adapter %s: %s", name, outcome.report)
                return
            _log.warning("adapter %s: %s; trying again in %g s", name, outcome.report, pause_s)
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_RETRY_S)
        self._put_in_place(outcome)
        self._changes.note(opening, "success")
        _log.info("adapter %s is ready", name)
        await _warm(outcome)

    async def _reload(
        self, name: str, written: dict[str, AdapterSettings], by: Caller, request_id: str
    ) -> AdapterStatus:
        if name not in written and name not in self._adapters.names:
            raise errors.AdapterUnknown(
                f"there is no enabled adapter {name!r} in the configuration"
            )
        how = "reload" if name in written else "close"
        change = Change(by, "adapters", how, name, request_id=request_id)
        return await self._changes.make(change, lambda: self._replace(name, written.get(name)))

    async def _replace(self, name: str, written: AdapterSettings | None) -> AdapterStatus:
        """Open an adapter as it is written now, in the place of the one before; close it if not."""
        if (opening := self._opening.pop(name, None)) is not None:
            await cancel_tasks([opening])
        if written is None:
            self._retire(name, self._adapters.remove(name))
            self._resources.guards.forget(name)
            self._files.pop(name, None)
            self._written.pop(name, None)
            self._faulty.discard(name)
            await asyncio.to_thread(self._snapshots.forget, name)
            _log.info("adapter %s is closed: it is no longer in the configuration", name)
            return AdapterStatus(name, "closed")
        outcome = await self._open(written)
        if isinstance(outcome, _OpeningFailed):
            if version := self.version(name):
                told = name, outcome.why, version
                _log.warning("adapter %s is not reloaded: %s; the version of %s goes on", *told)
                self._adapters.not_reloaded(name, outcome.why)
            else:
                _log.warning("adapter %s is not reloaded: %s", name, outcome.why)
            if self._adapters.status(name).state != "ready":
                self._fail(name, outcome)
                if outcome.passing:
                    self.open(written)
            raise outcome.error
        self._put_in_place(outcome)
        _log.info("adapter %s is reloaded", name)
        await _warm(outcome)
        return self._adapters.status(name)

    def _fail(self, name: str, failed: _OpeningFailed) -> None:
        self._adapters.failed(name, failed.why)
        (self._faulty.discard if failed.passing else self._faulty.add)(name)

    def _put_in_place(self, adapter: Adapter) -> None:
        library = adapter.library
        is_faulty = bool(library.left_out or library.stand_ins)
        (self._faulty.add if is_faulty else self._faulty.discard)(adapter.name)
        self._retire(adapter.name, self._adapters.opened(adapter))

    async def _reload_or_put_back(
        self,
        names: Sequence[str],
        written: dict[str, AdapterSettings],
        before: Mapping[Path, bytes],
        by: Caller,
        request_id: str,
    ) -> AdapterStatus:
        failures = {name: self._adapters.why_not_reloaded(name) for name in names}
        done: dict[str, AdapterStatus] = {}
        try:
            for name in names:
                done[name] = await self._reload(name, written, by, request_id)
        except BaseException as failure:
            replace_files(before)  # at once: this may be the end of the process
            if isinstance(failure, Exception):
                for name in names[: len(done) + 1]:
                    await self._go_on(
                        name, written, failures[name], by, request_id, anew=name in done
                    )
            raise
        return done[names[0]]

    async def _go_on(
        self,
        name: str,
        written: dict[str, AdapterSettings],
        failure: str,
        by: Caller,
        request_id: str,
        *,
        anew: bool,
    ) -> None:
        """Leave an adapter as it was before its files were replaced, and put back."""
        if anew or not self.version(name):
            with suppress(errors.OrbitError):
                await self._reload(name, written, by, request_id)
            return
        self._files[name] = await asyncio.to_thread(FilesRead.now, self._files[name].paths)
        self._adapters.not_reloaded(name, failure)

    async def _read_again(self, change: Change) -> dict[str, AdapterSettings]:
        try:
            adapters = await self._reread_enabled()
        except errors.ConfigurationInvalid as broken:
            refused = _reload_refused("the configuration cannot be used", broken)
            self._changes.note(change, "error", refused.code)
            raise refused from None
        return {adapter.name: adapter for adapter in adapters}

    async def _reread_enabled(self) -> list[AdapterSettings]:
        # Looked at first, so that what changes while it is read counts as a change.
        paths = (*self.configuration.paths, *await asyncio.to_thread(self._sources))
        self.configuration = await asyncio.to_thread(FilesRead.now, dict.fromkeys(paths))
        return [each for each in await asyncio.to_thread(self._reread) if each.enabled]

    def _retire(self, name: str, replaced: Adapter | None) -> None:
        """Give back what an adapter that was opened or closed leaves without use."""
        if replaced is not None:
            self._replaced.append(replaced)
        task = asyncio.create_task(self._give_back(name, replaced))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _give_back(self, name: str, replaced: Adapter | None) -> None:
        if replaced is not None:
            await self._close_later(replaced)
            self._replaced.remove(replaced)
            del replaced
        async with self._reloading:
            index = self._adapters.index_name(name)
            if index and self._alone and name not in self._being_opened:
                used = {index, *(each.index_name for each in self._replaced if each.name == name)}
                await self._resources.drop_unused_indexes(name, used)

    async def _close_later(self, old: Adapter) -> None:
        """Close an adapter when the last turn that began with it has ended.

        A turn that was made a task before this one has begun by now, and holds its adapter.
        """
        turn_timeout_s = self._resources.settings.server.turn_timeout_s
        try:
            async with asyncio.timeout(turn_timeout_s + old.tool_timeout_s):
                await old.leases.none_held()
        except TimeoutError:
            _log.warning("adapter %s is closed, though a turn still uses it", old.name)
        finally:
            await old.close()


def _contents(paths: Iterable[Path]) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in paths}


async def _warm(adapter: Adapter) -> None:
    if adapter.models is not None:
        await adapter.models.warm()


async def cancel_tasks(tasks: Iterable["asyncio.Future[Any]"]) -> None:
    """Cancel tasks and wait until they have ended; results and failures are ignored."""
    cancelled = list(tasks)
    for task in cancelled:
        task.cancel()
    await asyncio.gather(*cancelled, return_exceptions=True)


def _reload_refused(what: str, broken: errors.ConfigurationInvalid) -> errors.ReloadRefused:
    details = [
        {"what": problem.what, "where": str(problem.where), "kind": problem.kind}
        for problem in broken.problems
        if problem.is_error
    ]
    return errors.ReloadRefused(f"{what}: {errors.first_of(broken.problems)}", details)
