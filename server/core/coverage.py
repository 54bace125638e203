"""Who took each word of a question: the account of what was read, and of what was not."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

WordRole = Literal["value", "frame", "filler", "operator", "unread"]
"""`value` stands in an argument, `frame` belongs to what the template is about, `filler` bears
nothing here, `operator` changes what is asked in a way that the template knows; the rest is
`unread`."""


VALUE_KINDS: Final = frozenset({
    "number", "currency", "date", "datetime", "time", "duration", "offset", "anchor", "email",
    "url", "date_format", "quoted", "array", "object", "unreadable",
})  # fmt: skip
"""Kinds of unread words that are values."""


class CoveredWord(NamedTuple):
    """A word of a question and who took it.

    `start` and `end` are characters of the message. `of` is the argument of a value, or the
    template of a frame. `kind` says more closely what it is: the sense of an operator or a filler,
    `remark` for a word of a clause that only tells something, and for what is unread a `name`, a
    value (`number`, `date` …), a word of another template (`foreign`), or any other (`word`).
    """

    start: int
    end: int
    role: WordRole
    of: str | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Coverage:
    """Every word of a question, in order, as one template takes it."""

    text: str = ""
    words: tuple[CoveredWord, ...] = ()

    def unread(self) -> Iterator[CoveredWord]:
        """The words that nobody took."""
        return (word for word in self.words if word.role == "unread")

    def phrases(self, role: WordRole, *, kinds: frozenset[str] | None = None) -> tuple[str, ...]:
        """Runs of neighbouring words of one role, as they were written."""
        runs: list[tuple[int, int]] = []
        last: CoveredWord | None = None
        for word in self.words:
            if word.role == role and (kinds is None or word.kind in kinds):
                if runs and last is not None and last.end == runs[-1][1]:
                    runs[-1] = runs[-1][0], word.end
                else:
                    runs.append((word.start, word.end))
            last = word
        return tuple(self.text[start:end] for start, end in runs)

    def unused_values(self) -> tuple[str, ...]:
        """The values that nobody took, as they were written."""
        return self.phrases("unread", kinds=VALUE_KINDS)

    def allow_values(self) -> "Coverage":
        """Return the same account, with the values that nobody took as words that bear nothing."""
        words = tuple(
            word._replace(role="filler", kind="allowed")
            if word.role == "unread" and word.kind in VALUE_KINDS
            else word
            for word in self.words
        )
        return replace(self, words=words)

    def to_list(self) -> list[dict[str, Any]]:
        """Return the words as an answer's metadata lists them."""
        return [
            {
                "text": self.text[word.start : word.end],
                "span": [word.start, word.end],
                "as": word.role,
                **({} if word.of is None else {"of": word.of}),
            }
            for word in self.words
        ]


NO_COVERAGE = Coverage()
