"""Which adapters are open, and why the others are not."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from server.chat.adapter import Adapter
from server.core.turn import Caller
from server.errors import AdapterUnavailable, AdapterUnknown, KeyForeign

AdapterState = Literal["opening", "ready", "unavailable", "closed"]


@dataclass(frozen=True, slots=True)
class AdapterStatus:
    """One adapter as readiness shows it; `why` is empty when it is ready."""

    name: str
    state: AdapterState
    why: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


class Adapters:
    """The adapters of a server by name; one that fails does not affect the others."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._open: dict[str, Adapter] = {}
        self._why: dict[str, str] = {}
        self._opened_at: dict[str, datetime] = {}
        self._not_reloaded: dict[str, str] = {}
        self.names = names
        self._observers: list[Callable[[str], None]] = []
        self._tried = asyncio.Event()
        self._note_tried()

    def get(self, name: str) -> Adapter:
        """Return an open adapter. May raise AdapterUnknown or AdapterUnavailable."""
        if name in self._open:
            return self._open[name]
        if name not in self.names:
            raise AdapterUnknown(f"there is no adapter {name!r} in this configuration")
        if name not in self._why:
            raise AdapterUnavailable(
                f"adapter {name!r} is unavailable: it is still being opened; try again in a moment"
            )
        raise AdapterUnavailable(f"adapter {name!r} is unavailable", self._why[name])

    def all_open(self) -> tuple[Adapter, ...]:
        """Return the adapters that are open."""
        return tuple(self._open.values())

    def opened_by(self, caller: Caller) -> Adapter:
        """Return the adapter of a caller's key. May raise KeyForeign or AdapterUnavailable."""
        if (adapter := self._open.get(caller.adapter)) is not None:
            return adapter
        if caller.adapter not in self.names:
            raise KeyForeign(
                f"this key opens adapter {caller.adapter!r}, which this server does not have"
            )
        return self.get(caller.adapter)

    def sources(self, name: str) -> frozenset[str]:
        """Return the names of the adapters behind one; none for one that is not open."""
        adapter = self._open.get(name)
        return frozenset(each.adapter for each in adapter.sources) if adapter else frozenset()

    def reads_expressions(self, name: str) -> bool:
        """Whether sums in words can be asked of an adapter; no for one that is not open."""
        adapter = self._open.get(name)
        return adapter is not None and any(
            parameter.descriptor.kind == "expression"
            for template in adapter.library.templates.values()
            for parameter in template.parameters
        )

    @contextmanager
    def observed(self, observer: Callable[[str], None]) -> Iterator[None]:
        """Tell `observer` the name of each adapter that is opened, opened anew or closed."""
        self._observers.append(observer)
        try:
            yield
        finally:
            self._observers.remove(observer)

    def rate_limits(self, name: str) -> tuple[str, ...]:
        """Return how often an adapter may be asked; nothing for one that is not open."""
        adapter = self._open.get(name)
        return adapter.rate_limits if adapter is not None else ()

    def index_name(self, name: str) -> str:
        """Return the name of an adapter's index; nothing for one that is not open."""
        adapter = self._open.get(name)
        return adapter.index_name if adapter is not None else ""

    def expect(self, name: str) -> None:
        if name not in self.names:
            self.names = (*self.names, name)

    def opened(self, adapter: Adapter) -> Adapter | None:
        self.expect(adapter.name)
        self._why.pop(adapter.name, None)
        self._not_reloaded.pop(adapter.name, None)
        before = self._open.get(adapter.name)
        self._open[adapter.name] = adapter
        self._opened_at[adapter.name] = datetime.now(UTC)
        self._note_tried()
        self._tell(adapter.name)
        return before

    def remove(self, name: str) -> Adapter | None:
        self.names = tuple(known for known in self.names if known != name)
        self._why.pop(name, None)
        self._not_reloaded.pop(name, None)
        self._opened_at.pop(name, None)
        before = self._open.pop(name, None)
        self._tell(name)
        return before

    def failed(self, name: str, why: str) -> None:
        self.expect(name)
        self._why[name] = why
        self._note_tried()

    def not_reloaded(self, name: str, why: str) -> None:
        """Note why an open adapter goes on as it was, until it is opened anew; nothing if not."""
        if why:
            self._not_reloaded[name] = why
        else:
            self._not_reloaded.pop(name, None)

    def why_not_reloaded(self, name: str) -> str:
        return self._not_reloaded.get(name, "")

    def opened_at(self, name: str) -> datetime | None:
        """Return since when an adapter has been open as it is; None for one that is not."""
        return self._opened_at.get(name)

    async def every_one_tried(self) -> None:
        await self._tried.wait()

    def _tell(self, name: str) -> None:
        for observer in self._observers:
            observer(name)

    def _note_tried(self) -> None:
        if all(name in self._open or name in self._why for name in self.names):
            self._tried.set()

    async def check(self) -> None:
        """Learn whether what the open adapters need answers, so that `statuses` says so."""
        encoders = {id(a.encoder): a.encoder for a in self._open.values() if a.encoder is not None}
        await asyncio.gather(*(encoder.check() for encoder in encoders.values()))

    def statuses(self) -> list[AdapterStatus]:
        return [self.status(name) for name in self.names]

    def status(self, name: str) -> AdapterStatus:
        if (adapter := self._open.get(name)) is not None:
            details = adapter.details
            if (why := self._not_reloaded.get(name)) is not None:
                since = self._opened_at[name].isoformat(timespec="seconds")
                details = details | {"not_reloaded": {"why": why, "opened_at": since}}
            if adapter.encoder is not None and adapter.encoder.failure:
                return AdapterStatus(name, "unavailable", adapter.encoder.failure, details)
            if adapter.sources:
                return self._status_before(adapter, details)
            return AdapterStatus(name, "ready", details=details)
        if name in self._why:
            return AdapterStatus(name, "unavailable", self._why[name])
        return AdapterStatus(name, "opening")

    def _status_before(self, adapter: Adapter, details: Mapping[str, Any]) -> AdapterStatus:
        """How an adapter stands that has others behind it: it serves while one of these does."""
        behind = [source.adapter for source in adapter.sources if source.adapter in self.names]
        states = {self.status(name).state for name in behind}
        if "ready" in states:
            return AdapterStatus(adapter.name, "ready", details=details)
        if "opening" in states:
            return AdapterStatus(adapter.name, "opening", details=details)
        why = "none of the adapters behind it serves"
        return AdapterStatus(adapter.name, "unavailable", why, details)

    async def close(self) -> None:
        while self._open:
            _, adapter = self._open.popitem()
            await adapter.close()
