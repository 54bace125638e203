"""Where the audit is kept. Both sinks number, chain and seal what they are given."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from server.access.audit.entry import GENESIS, Entry, Seal


class Sink(Protocol):
    """Blocking; the trail calls it from its one thread."""

    def append(self, events: Sequence[Mapping[str, Any]]) -> None:
        """Write events, all or none.

        Raises:
            StoreUnavailable: they could not be written.
        """

    def entries(self) -> Iterator[Entry]:
        """Every entry, oldest first."""

    def holds_first(self) -> bool:
        """Whether entry 1 has to be there: nothing was put aside and deleted by age."""

    def end(self) -> tuple[int, str, str] | None:
        """Number and digest of the last entry, and the seal of both; None when empty."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the trail is whole. `problems` name entries by their numbers."""

    entries: int
    problems: tuple[str, ...]

    @property
    def whole(self) -> bool:
        return not self.problems


def verify(sink: Sink, seal: Seal) -> Verdict:
    """Check every entry, the links between them, and that none is missing at either end.

    The oldest files of a rotated trail may be gone: the chain is then checked from the
    first entry that is kept.
    """
    problems: list[str] = []
    previous: Entry | None = None
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
    return Verdict(count, tuple(problems))


def _problems_at_the_end(sink: Sink, seal: Seal, last: Entry | None) -> Iterator[str]:
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
