"""The guards of one server, and the changes that operators make to them."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from server.core.ports import Embedder
from server.errors import AdapterUnknown, ConfigurationInvalid, StoreUnavailable
from server.guards.changes import Change, check_change, with_changes
from server.guards.engine import Readings
from server.guards.guard import Guard
from server.guards.model import GuardSet
from server.guards.options import GuardOptions
from server.guards.pack import load_guards
from server.guards.scorer import ExampleVectors
from server.guards.store import GuardStore
from server.metrics.metrics import Metrics
from server.storage.announcements import Announcement, Announcer
from server.storage.artefacts import ArtefactStore

_log = logging.getLogger(__name__)


class GuardManager:
    """Opens guards, and takes up changes to them, its own and those of other processes."""

    def __init__(
        self,
        database_url: str,
        state_dir: Path,
        metrics: Metrics,
        *,
        migrate: bool = True,
        announcer: Announcer | None = None,
        shared: ArtefactStore | None = None,
    ) -> None:
        """What is changed is announced by the `announcer`; vectors are `shared` with others."""
        self._database_url = database_url
        self._migrate = migrate
        self._state_dir = state_dir
        self._metrics = metrics
        self._guards: dict[str, Guard] = {}
        self._store: GuardStore | None = None
        self._announcer = announcer
        self._shared = shared
        self._opening = asyncio.Lock()
        self._rebuilding = asyncio.Lock()

    async def open(
        self,
        options: GuardOptions,
        environ: Mapping[str, str],
        *,
        embedder: Embedder,
        readings: Readings,
        harmless: Sequence[str],
    ) -> Guard | None:
        """Open a guard, None without packs; raise `ConfigurationInvalid` or `Guard.rebuild`'s."""
        if not options.packs:
            self.forget(options.adapter)
            return None
        packs, compared = await asyncio.to_thread(_load_packs, options, environ)
        store = await self._open_store()
        guard = Guard(
            options,
            packs,
            compared,
            embedder=embedder,
            vectors=ExampleVectors(self._state_dir, embedder, self._shared),
            readings=readings,
            harmless=harmless,
            metrics=self._metrics,
            store=store,
        )
        async with self._rebuilding:
            await guard.rebuild(await store.changes(options.adapter))
            self._guards[options.adapter] = guard
        return guard

    def forget(self, adapter: str) -> None:
        self._guards.pop(adapter, None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._guards)

    def get(self, name: str) -> Guard:
        """Return the guard of an adapter, or raise `AdapterUnknown`."""
        try:
            return self._guards[name]
        except KeyError:
            known = ", ".join(self._guards) or "none"
            raise AdapterUnknown(f"no guard stands before {name!r}; guarded are: {known}") from None

    async def change(self, change: Change) -> Change:
        """Make a change, at once; nothing is changed when it raises an `OrbitError`."""
        guard = self.get(change.guard)
        store = await self._open_store()
        async with self._rebuilding:
            before = await store.changes(change.guard)
            check_change(with_changes(guard.packs, before), change)
            # In force first: an example that cannot be embedded must not be kept.
            await guard.rebuild((*before, change))
            try:
                return await store.add_change(change)
            except StoreUnavailable:
                await guard.rebuild(before)
                raise

    async def take_up(self, announced: Announcement) -> None:
        """Apply what another process changed; raise as `Guard.rebuild`, or `StoreUnavailable`."""
        guard = self._guards.get(announced.subject)
        if guard is None:
            return
        store = await self._open_store()
        async with self._rebuilding:
            await guard.rebuild(await store.changes(announced.subject))
        _log.info("guard %s is changed, by %s", announced.subject, announced.origin)

    async def counts(self, name: str) -> list[dict[str, Any]]:
        return await (await self._store_of(name)).counts(name)

    async def decisions(self, name: str, *, limit: int, differing: bool) -> list[dict[str, Any]]:
        store = await self._store_of(name)
        found = await store.decisions(name, limit=limit, differing=differing)
        return [decided.to_dict() for decided in found]

    async def changes(self, name: str) -> list[dict[str, Any]]:
        store = await self._store_of(name)
        return [change.to_dict() for change in await store.changes(name)]

    async def close(self) -> None:
        if self._store is not None:
            await self._store.close()

    async def _store_of(self, name: str) -> GuardStore:
        self.get(name)
        return await self._open_store()

    async def _open_store(self) -> GuardStore:
        async with self._opening:
            if self._store is None:
                self._store = await GuardStore.open(
                    self._database_url,
                    self._metrics,
                    migrate=self._migrate,
                    announcer=self._announcer,
                )
            return self._store


def _load_packs(
    options: GuardOptions, environ: Mapping[str, str]
) -> tuple[GuardSet, GuardSet | None]:
    first = load_guards(options.packs, environ)
    second = load_guards(options.compare, environ) if options.compare else None
    problems = [*first.problems, *(second.problems if second else ())]
    if first.guards is None or (second is not None and second.guards is None):
        raise ConfigurationInvalid(problems)
    return first.guards, second.guards if second else None
