"""Changes to keys, guards and adapters, written down before they are made and when they are."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeVar

from server.audit.entry import Event, change_event
from server.audit.writer import AuditWriter
from server.core.turn import Caller
from server.errors import OrbitError, StoreUnavailable

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Change:
    """What somebody is about to change; `arguments` hold no key and no other secret."""

    by: Caller
    what: Literal["keys", "guards", "adapters", "files", "inbox", "log"]
    how: str
    adapter: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class ChangeRecorder:
    """Writes changes down. `failing` says what happens to them while that is impossible."""

    trail: AuditWriter | None = None
    failing: Literal["allow", "deny"] = "deny"

    async def make(
        self,
        change: Change,
        work: Callable[[], Awaitable[_T]],
        describe: Callable[[_T], Mapping[str, Any]] = lambda _: {},
    ) -> _T:
        """Return what `work` returns; `describe` says what is known of a change that was made,
        its adapter among it.

        Raises what `work` raises; and `StoreUnavailable`: the change cannot be written down, so
        that it was not made.
        """
        if self.trail is None:
            return await work()
        event = _event(change, "started", call_id=self.trail.new_call_id())
        if self.failing == "deny":
            await self._write_start(self.trail, event)
        try:
            made = await work()
        except BaseException as failure:
            outcome = "error" if isinstance(failure, OrbitError) else "interrupted"
            ended = _ended(event, outcome, getattr(failure, "code", type(failure).__name__))
            await self.trail.record(ended)
            raise
        await self.trail.record(_ended(event, "success", arguments=describe(made)))
        return made

    async def _write_start(self, trail: AuditWriter, event: Event) -> None:
        try:
            await trail.write(event)
        except StoreUnavailable as failure:
            trail.note(_ended(event, "audit_unavailable"))
            why = "changes are written down when they are made, and that cannot be now"
            raise StoreUnavailable(why, shown=True) from failure

    def note(self, change: Change, outcome: str, reason: str = "") -> None:
        """Write down soon what the server changed by itself."""
        if self.trail is not None:
            self.trail.note(_event(change, outcome, reason=reason))


def _event(change: Change, outcome: str, *, reason: str = "", call_id: str | None = None) -> Event:
    return change_event(
        change.by,
        change.what,
        change.how,
        outcome,
        adapter=change.adapter,
        reason=reason,
        arguments=change.arguments,
        call_id=call_id,
        request_id=change.request_id,
    )


def _ended(
    started: Event, outcome: str, reason: str = "", arguments: Mapping[str, Any] | None = None
) -> Event:
    known = {**started.arguments, **(arguments or {})}
    adapter = known.pop("adapter", started.adapter)
    ended = replace(started, at=datetime.now(UTC), adapter=adapter, arguments=known)
    return replace(ended, outcome=outcome, reason=reason)
