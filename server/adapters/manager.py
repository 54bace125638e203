"""Keeping the adapters of a server: opened, tried again while a provider is down, reloaded."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from server.adapters.build import build_adapter
from server.adapters.registry import Adapters, AdapterStatus
from server.adapters.resources import SharedResources
from server.chat.adapter import Adapter
from server.errors import (
    AdapterUnknown,
    ConfigurationInvalid,
    OrbitError,
    ProviderError,
    ReloadRefused,
    StoreUnavailable,
    first_of,
)
from server.settings.models import AdapterSettings

_log = logging.getLogger(__name__)

_FIRST_RETRY_S: Final = 2.0
_LONGEST_RETRY_S: Final = 60.0

_UNEXPECTED: Final = "it could not be opened; the log says why"

Reread = Callable[[], Sequence[AdapterSettings]]
"""Reads the adapters of the configuration again. Blocks; raises `ConfigurationInvalid`."""


class AdapterManager:
    """Opens the adapters of a server in the background, and opens them anew when asked.

    An adapter that is reloaded answers as before until the new one is open; if that cannot
    be opened, it goes on. Questions that are being answered are answered by the one that
    they came to.
    """

    def __init__(self, adapters: Adapters, workshop: SharedResources, reread: Reread) -> None:
        self._adapters = adapters
        self._workshop = workshop
        self._reread = reread
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._retiring: set[asyncio.Task[None]] = set()
        self._reloading = asyncio.Lock()

    def open(self, adapter: AdapterSettings) -> None:
        """Begin to open an adapter; go on until it is open or found to be broken."""
        self._adapters.expect(adapter.name)
        self._opening[adapter.name] = asyncio.create_task(self._keep_trying(adapter))

    async def reload(self, name: str) -> AdapterStatus:
        """Read an adapter's settings, library and packs again, and answer by them from now on.

        One that was added to the configuration is opened; one that was taken out of it, or
        disabled, is closed.

        Raises:
            AdapterUnknown: neither the server nor the configuration has it.
            ReloadRefused: what was written cannot be used; `details` says why, line by line.
            ProviderError, StoreUnavailable: what it needs cannot be reached.
        """
        async with self._reloading:
            return await self._reload(name, await self._read_again())

    async def reload_all(self) -> list[tuple[AdapterStatus, OrbitError | None]]:
        """Reload every adapter: how each one stands now, and why it was not reloaded, if so.

        Raises:
            ReloadRefused: the configuration itself cannot be used.
        """
        async with self._reloading:
            written = await self._read_again()
            names = dict.fromkeys((*self._adapters.names, *written))
            outcomes: list[tuple[AdapterStatus, OrbitError | None]] = []
            for name in names:
                try:
                    outcomes.append((await self._reload(name, written), None))
                except OrbitError as failed:
                    outcomes.append((self._adapters.status(name), failed))
            return outcomes

    async def stop(self) -> None:
        """Open nothing any more."""
        await _end(self._opening.values())

    async def close(self) -> None:
        """Close what was replaced, whose confirmed calls have ended; the rest is open still."""
        await _end(self._retiring)

    async def _read_again(self) -> dict[str, AdapterSettings]:
        try:
            adapters = await asyncio.to_thread(self._reread)
        except ConfigurationInvalid as broken:
            raise _refused("the configuration cannot be used", broken) from None
        return {adapter.name: adapter for adapter in adapters if adapter.enabled}

    async def _reload(self, name: str, written: dict[str, AdapterSettings]) -> AdapterStatus:
        if name not in written:
            if name not in self._adapters.names:
                raise AdapterUnknown(f"there is no enabled adapter {name!r} in the configuration")
            await self._give_up_opening(name)
            self._retire(self._adapters.remove(name))
            self._workshop.guards.forget(name)
            _log.info("adapter %s is closed: the configuration has it no more", name)
            return AdapterStatus(name, "closed")
        await self._give_up_opening(name)
        try:
            opened = await build_adapter(written[name], self._workshop)
        except ConfigurationInvalid as broken:
            self._note_failure(name, first_of(broken.problems))
            raise _refused(f"adapter {name!r} was not reloaded", broken) from None
        except (ProviderError, StoreUnavailable) as down:
            if self._note_failure(name, str(down)):
                self.open(written[name])
            raise
        except OrbitError as failed:
            self._note_failure(name, str(failed))
            raise ReloadRefused(f"adapter {name!r} was not reloaded: {failed}") from None
        except Exception:
            self._note_failure(name, _UNEXPECTED)
            raise
        self._retire(self._adapters.opened(opened))
        _log.info("adapter %s is reloaded", name)
        if opened.models is not None:
            await opened.models.warm()
        return self._adapters.status(name)

    def _note_failure(self, name: str, why: str) -> bool:
        """Whether the adapter does not serve: it is then shown with what was found."""
        _log.warning("adapter %s is not reloaded: %s", name, why)
        if self._adapters.status(name).state == "ready":
            return False
        self._adapters.failed(name, why)
        return True

    async def _give_up_opening(self, name: str) -> None:
        task = self._opening.pop(name, None)
        if task is not None:
            await _end([task])

    def _retire(self, old: Adapter | None) -> None:
        if old is not None:
            task = asyncio.create_task(self._close_later(old))
            self._retiring.add(task)
            task.add_done_callback(self._retiring.discard)

    async def _close_later(self, old: Adapter) -> None:
        """Close an adapter when no turn that began with it can still be under way."""
        try:
            await asyncio.sleep(self._workshop.settings.server.turn_timeout_s + old.tool_timeout_s)
        finally:
            await old.close()

    async def _keep_trying(self, adapter: AdapterSettings) -> None:
        """Open one adapter. What is down is asked again; a broken library is not."""
        adapters, pause_s = self._adapters, _FIRST_RETRY_S
        while True:
            try:
                opened = await build_adapter(adapter, self._workshop)
                adapters.opened(opened)
            except (ProviderError, StoreUnavailable) as down:
                adapters.failed(adapter.name, str(down))
                _log.warning("adapter %s: %s; trying again in %g s", adapter.name, down, pause_s)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, _LONGEST_RETRY_S)
                continue
            except ConfigurationInvalid as broken:
                adapters.failed(adapter.name, first_of(broken.problems))
                _log.error("adapter %s: %s", adapter.name, "; ".join(_errors_of(broken)))
            except OrbitError as failed:
                adapters.failed(adapter.name, str(failed))
                _log.error("adapter %s: %s", adapter.name, failed)
            except Exception:
                # One adapter's fault must not take the others along.
                adapters.failed(adapter.name, _UNEXPECTED)
                _log.exception("adapter %s could not be opened", adapter.name)
            else:
                _log.info("adapter %s is ready", adapter.name)
                if opened.models is not None:
                    await opened.models.warm()
            return


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


def _refused(what: str, broken: ConfigurationInvalid) -> ReloadRefused:
    errors = [problem for problem in broken.problems if problem.is_error]
    details = [
        {"what": problem.what, "where": str(problem.where), "kind": problem.kind}
        for problem in errors
    ]
    return ReloadRefused(f"{what}: {first_of(broken.problems)}", details)


def _errors_of(broken: ConfigurationInvalid) -> list[str]:
    return [str(problem) for problem in broken.problems if problem.is_error]
