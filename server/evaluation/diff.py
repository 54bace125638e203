"""Two versions of a library, and each decision that is not the same in both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from server.core.decision import Ending
from server.evaluation.decided import Decided, decided, is_expected, judged_outcome
from server.evaluation.decision_log import Replayed
from server.evaluation.questions import Question
from server.evaluation.rehearsals import Ask, Rehearsals
from server.library.model import Library

How = Literal["broken", "fixed", "changed", "same"]
"""Whether a change undoes what was expected, brings it about, or nobody said which is right; or
the same comes of it.
"""

_TITLES: Final[Mapping[How, str]] = {
    "broken": "Broken: was as expected, and is not any more",
    "fixed": "Fixed: is as expected now",
    "changed": "Changed",
}


class Version(NamedTuple):
    """What came of each question in one version of a library."""

    library: Library
    endings: Sequence[Ending]


@dataclass(frozen=True, slots=True)
class Change:
    """A question, and what is made of it in both versions."""

    ask: str
    how: How
    old: Decided
    new: Decided

    def to_dict(self) -> dict[str, Any]:
        old, new = self.old.to_dict(), self.new.to_dict()
        return {"ask": self.ask, "how": self.how, "old": old, "new": new}

    def lines(self) -> Iterator[str]:
        yield f"  {self.ask}"
        yield f"    {self.old.to_text()}"
        yield f"    → {self.new.to_text()}"


@dataclass(frozen=True, slots=True)
class Diff:
    """How many questions were asked, and the changes: broken, fixed, others.

    `unchanged` has the other questions, in the order in which they were asked.
    """

    asked: int
    changes: tuple[Change, ...]
    unchanged: tuple[Change, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        return {how: sum(change.how == how for change in self.changes) for how in _TITLES}

    def summary(self) -> str:
        """Return what changed in one line."""
        parts = [f"{count} {how}" for how, count in self.counts.items() if count]
        if not parts:
            return f"None of {self.asked} decisions changes"
        return f"{len(self.changes)} of {self.asked} decisions change ({', '.join(parts)})"

    def to_dict(self) -> dict[str, Any]:
        changes = [change.to_dict() for change in self.changes]
        return {"asked": self.asked, **self.counts, "changes": changes}

    def to_text(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for how, title in _TITLES.items():
            some = [change for change in self.changes if change.how == how]
            if some:
                yield title
                for change in some:
                    yield from change.lines()
                yield ""
        yield self.summary()


async def ask_all(ask: Ask, questions: Sequence[Replayed]) -> list[Ending]:
    """Return what each question comes to, asked one after the other and each by itself."""
    return [await ask(question.ask) for question in questions]


async def ask_version(rehearsals: Rehearsals, questions: Sequence[Replayed]) -> Version:
    """Open a version and ask it; nothing is run. Raises as `build_adapter`."""
    whole: list[Library] = []

    def seen(library: Library) -> Library:
        whole.append(library)
        return library

    async with rehearsals.opened(seen) as ask:
        return Version(whole[-1], await ask_all(ask, questions))


def compare(questions: Sequence[Replayed], old: Version, new: Version) -> Diff:
    """Return where two versions, which were asked the same questions, differ."""
    changes, unchanged = [], []
    for question, before, after in zip(questions, old.endings, new.endings, strict=True):
        one, other = decided(before, old.library), decided(after, new.library)
        if one.same(other):
            unchanged.append(Change(question.ask, "same", one, other))
        else:
            how = _how(question, (old.library, before), (new.library, after))
            changes.append(Change(question.ask, how, one, other))
    order = list(_TITLES)
    changes.sort(key=lambda each: order.index(each.how))
    return Diff(len(questions), tuple(changes), tuple(unchanged))


def _how(question: Replayed, *versions: tuple[Library, Ending]) -> How:
    if not isinstance(question, Question):
        return "changed"
    was, now = (
        is_expected(question, judged_outcome(ending, library)) for library, ending in versions
    )
    if was == now:
        return "changed"
    return "fixed" if now else "broken"
