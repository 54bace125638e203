"""An audit entry, the chain that entries form, and its verification."""

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from server.core.json import to_json
from server.core.storable import storable_data, storable_text

GENESIS: Final = "0" * 64
"""What the first entry follows."""

MOST_CHARS: Final = 20_000
"""Of longer arguments the beginning is kept, and how long they were."""


@dataclass(frozen=True, slots=True)
class Event:
    """What happened. `arguments` are redacted before they come here."""

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

    def digest(self, number: int, event: Mapping[str, Any], previous: str) -> str:
        plain = _ENCODER.encode([number, previous, event])
        return hmac.digest(self._secret, plain.encode(), "sha256").hex()

    def end(self, number: int, digest: str) -> str:
        """Return the seal of a trail's end, so that cutting off its last entries is noticed."""
        return hmac.digest(self._secret, f"end:{number}:{digest}".encode(), "sha256").hex()


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
    """Blocking; the trail calls it from its one thread."""

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Write events, all or none. Raises `StoreUnavailable`: they could not be written."""

    def entries(self) -> Iterator[AuditEntry]:
        """Every entry, oldest first."""

    def holds_first(self) -> bool:
        """Return whether entry 1 has to be there: no old file was deleted."""

    def end(self) -> tuple[int, str, str] | None:
        """Number and digest of the last entry, and the seal of both; None when empty."""

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
    first entry that is kept.
    """
    problems: list[str] = []
    previous: AuditEntry | None = None
    count = 0
    for entry in sink.entries():
        count += 1
        if entry.digest != seal.digest(entry.number, entry.event, entry.previous):
            problems.append(f"entry {entry.number} was altered")
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
    problems += _problems_at_the_end(sink, seal, previous)
    return AuditVerdict(count, tuple(problems))


def _problems_at_the_end(sink: Sink, seal: AuditSeal, last: AuditEntry | None) -> Iterator[str]:
    end = sink.end()
    if end is None:
        if last is not None:
            yield "the seal of the trail's end is missing"
        return
    number, digest, sealed = end
    if sealed != seal.end(number, digest):
        yield "the seal of the trail's end was altered"
    if last is None:
        yield f"all {number} entries are missing"
    elif (last.number, last.digest) != (number, digest):
        yield f"the trail ends with entry {last.number}, and was sealed at entry {number}"
