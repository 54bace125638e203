"""An audit entry, the chain that entries form, and its verification."""

import hmac
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final, Literal, NamedTuple, Protocol

from server.core.json import to_json
from server.core.storable import storable_data, storable_text
from server.core.turn import Caller

_log = logging.getLogger(__name__)

GENESIS: Final = "0" * 64
"""What the first entry follows."""

MOST_CHARS: Final = 20_000
"""Of longer arguments the beginning is kept, and how long they were."""


Kind = Literal["call", "change"]


@dataclass(frozen=True, slots=True)
class Event:
    """What happened. `arguments` are redacted before they come here.

    A `call` is one of a tool; a `change` is one to keys, guards, adapters, the log or the audit
    itself, and has no template: `tool` is what was changed, and `operation` how.
    """

    at: datetime
    request_id: str
    adapter: str
    key_id: str
    user_id: str | None
    role: str
    intent: str | None
    template_id: str
    tool: str
    operation: str
    outcome: str
    reason: str = ""
    duration_ms: float = 0.0
    proposed_by: str = "system"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    proposal_id: str | None = None
    """As what it was held until somebody said yes, or is held now."""
    kind: Kind = "call"
    call_id: str | None = None
    """What `started` has in common with the entry of how it ended."""


def change_event(
    by: Caller,
    what: str,
    how: str,
    outcome: str,
    *,
    adapter: str = "",
    reason: str = "",
    arguments: Mapping[str, Any] | None = None,
    call_id: str | None = None,
    request_id: str = "",
) -> Event:
    """Return the event of a change to `what`, such as keys or guards, made just now."""
    return Event(
        datetime.now(UTC),
        request_id,
        adapter,
        by.key_id,
        by.user_id,
        by.role,
        intent=None,
        template_id="",
        tool=what,
        operation=how,
        outcome=outcome,
        reason=reason,
        proposed_by="",
        arguments=arguments or {},
        kind="change",
        call_id=call_id,
    )


SERVER: Final = Caller("", "", role="server")
"""Who makes the changes that nobody asked for."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An event as it is kept: numbered, and bound to the entry before it."""

    number: int
    event: Mapping[str, Any]
    previous: str
    digest: str

    def to_dict(self) -> dict[str, Any]:
        chain = {"number": self.number, "previous": self.previous, "digest": self.digest}
        return {**self.event, **chain}


class End(NamedTuple):
    """The last entry as it was sealed: beside the trail, and as its head with the keys."""

    number: int
    digest: str
    seal: str


class Head(NamedTuple):
    """What is kept of a trail with the keys. Up to entry `settled`, all that began has ended."""

    end: End
    settled: int


class Settling(NamedTuple):
    """A move of `Head.settled`; where another server has moved it already, nothing is done."""

    before: int
    after: int


_ENCODER: Final = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"))


class AuditSeal:
    """Makes and checks the chain with the secret of the installation.

    Without that secret nobody can write an entry, or a whole trail, that passes.
    """

    def __init__(self, secret: bytes) -> None:
        self._secret = hmac.digest(secret, b"audit", "sha256")

    def entries(
        self, events: Sequence[Mapping[str, Any]], number: int, digest: str
    ) -> list[AuditEntry]:
        """Return the entries of events, which follow entry `number` with its `digest`."""
        found = []
        for place, event in enumerate(events, number + 1):
            previous, digest = digest, self.digest(place, event, digest)
            found.append(AuditEntry(place, event, previous, digest))
        return found

    def following(
        self, events: Sequence[Mapping[str, Any]], last: tuple[int, str], *known: End | None
    ) -> list[AuditEntry]:
        """Return the entries of events, which follow the last that there ever was.

        That is the `last` one of the trail, or one that is `known` by its seal. Where it is gone
        from the trail, an entry that says so comes first: its number is never given again.
        """
        ends = [end for end in known if end is not None and self.holds(end)]
        sealed = max(ends, default=None)
        if sealed is None or sealed.number < last[0]:
            return self.entries(events, *last)
        if sealed.number > last[0]:
            gone = f"entries {last[0] + 1} to {sealed.number} are gone"
            _log.error("the audit: %s; it goes on from what was sealed", gone)
            told = change_event(SERVER, "audit", "continue", "entries_missing", reason=gone)
            events = [to_row(told), *events]
        return self.entries(events, sealed.number, sealed.digest)

    def digest(self, number: int, event: Mapping[str, Any], previous: str) -> str:
        plain = _ENCODER.encode([number, previous, event])
        return hmac.digest(self._secret, plain.encode(), "sha256").hex()

    def end(self, number: int, digest: str) -> End:
        """Return a trail's end with its seal, so that cutting off its last entries is noticed."""
        plain = f"end:{number}:{digest}".encode()
        return End(number, digest, hmac.digest(self._secret, plain, "sha256").hex())

    def holds(self, end: End) -> bool:
        return hmac.compare_digest(
            end.seal.encode(), self.end(end.number, end.digest).seal.encode()
        )


def to_row(event: Event) -> dict[str, Any]:
    """Return the event as JSON-ready data, which reads back exactly the same."""
    row = {f.name: storable_data(getattr(event, f.name)) for f in fields(Event)}
    row["at"] = event.at.astimezone(UTC).isoformat(timespec="milliseconds")
    row["duration_ms"] = round(event.duration_ms, 3)
    arguments = storable_text(to_json(event.arguments))
    cut = {"cut": arguments[:MOST_CHARS], "chars": len(arguments)}
    row["arguments"] = cut if len(arguments) > MOST_CHARS else json.loads(arguments)
    return row


class Sink(Protocol):
    """Blocking; the trail calls it from its own threads."""

    one_server: bool
    """Whether one server at a time writes into it."""

    def append(
        self, events: Sequence[Mapping[str, Any]], *, settling: Settling | None = None
    ) -> None:
        """Write events, all or none, and before them what is to be said of entries that are gone.

        Raises `StoreUnavailable`: they could not be written.
        """

    def entries(self, *, after: int = 0) -> Iterator[AuditEntry]:
        """Every entry of a higher number than `after`, oldest first."""

    def newest(self, *, before: int | None = None) -> Iterator[AuditEntry]:
        """Every entry of a lower number than `before`, newest first; none that cannot be read."""

    def holds_first(self) -> bool:
        """Return whether entry 1 has to be there: no old file was deleted."""

    def end(self) -> End | None:
        """The last entry as it was sealed beside the trail; None before there was one."""

    def head(self) -> Head | None:
        """The same as it is kept with the keys."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class AuditVerdict:
    """Whether the trail is whole. `problems` name entries by their numbers."""

    entries: int
    problems: tuple[str, ...]

    @property
    def whole(self) -> bool:
        return not self.problems


def verify_chain(sink: Sink, seal: AuditSeal) -> AuditVerdict:
    """Check every entry, the links between them, and that none is missing at either end.

    The oldest files of a rotated trail may be gone: the chain is then checked from the
    first entry that is kept. Entries may be written meanwhile.
    """
    head, end = sink.head(), sink.end()
    ends = [found for found in (head and head.end, end) if found and seal.holds(found)]
    sealed = {found.number: found.digest for found in ends}
    problems: list[str] = []
    previous: AuditEntry | None = None
    count = 0
    for entry in sink.entries():
        count += 1
        if entry.digest != seal.digest(entry.number, entry.event, entry.previous):
            problems.append(f"entry {entry.number} was altered")
        elif sealed.get(entry.number, entry.digest) != entry.digest:
            problems.append(f"entry {entry.number} is not the one that was sealed")
        if previous is None:
            if entry.number != 1 and sink.holds_first():
                problems.append(f"the entries before {entry.number} are missing")
            elif entry.number == 1 and entry.previous != GENESIS:
                problems.append("entry 1 does not begin the chain")
        elif entry.number != previous.number + 1:
            problems.append(
                f"between entries {previous.number} and {entry.number} some are missing"
            )
        elif entry.previous != previous.digest:
            problems.append(f"entry {entry.number} does not follow entry {previous.number}")
        previous = entry
    if previous is not None:  # of a trail that began meanwhile
        head, end = head or sink.head(), end or sink.end()
    problems += _problems_at_the_end(seal, previous, end, head)
    return AuditVerdict(count, tuple(problems))


def _problems_at_the_end(
    seal: AuditSeal, last: AuditEntry | None, end: End | None, head: Head | None
) -> Iterator[str]:
    if end is None:
        if last is not None or head is not None:
            yield "the seal of the trail's end is missing"
    else:
        yield from _problems_of(seal, last, end, "seal of the trail's end", "was sealed")
    if head is not None:
        kept = "head kept with the keys"
        yield from _problems_of(seal, last, head.end, kept, f"has its {kept}")
    elif last is not None and "kind" in last.event:  # older trails get theirs with the next entry
        yield "the head that is kept with the keys is missing"


def _problems_of(
    seal: AuditSeal, last: AuditEntry | None, end: End, name: str, when: str
) -> Iterator[str]:
    if not seal.holds(end):
        yield f"the {name} was altered"
    elif last is None:
        yield f"all {end.number} entries are missing: the trail {when} at entry {end.number}"
    elif last.number < end.number:
        yield f"the trail ends with entry {last.number}, and {when} at entry {end.number}"
