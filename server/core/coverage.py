"""Who took each word of a question: the account of what was read, and of what was not."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple

from server.core.redaction import REDACTED

WordRole = Literal["value", "frame", "filler", "operator", "unread"]
"""`value` stands in an argument, `frame` belongs to what the template is about, `filler` bears
nothing here, `operator` changes what is asked in a way that the template knows; the rest is
`unread`."""


VALUE_KINDS: Final = frozenset({
    "number", "currency", "date", "datetime", "time", "duration", "offset", "anchor", "email",
    "url", "timezone", "country", "date_format", "quoted", "array", "object", "unreadable",
})  # fmt: skip
"""Kinds of unread words that are values."""


class CoveredWord(NamedTuple):
    """A word of a question and who took it.

    `start` and `end` are characters of the message. `of` is the argument of a value, or the
    template of a frame. `kind` says more closely what it is: the sense of an operator or a filler,
    `remark` for a word of a clause that only tells something, and for what is unread a `name`, a
    value (`number`, `date` …), a word of another template (`foreign`), a verb that asks for
    something else (`action`, or `elsewhere` where another template does that), or any other
    (`word`).
    """

    start: int
    end: int
    role: WordRole
    of: str | None = None
    kind: str = ""


_BLANK: Final = "\N{BULLET}"
_CLAUSE_ENDS: Final = frozenset(",.;:!?–—\n")


@dataclass(frozen=True, slots=True)
class Coverage:
    """Every word of a question, in order, as one template takes it.

    `masked` are the starts of the words that must not be shown; `text` is without them. With
    `ruled`, a rule pack, a guard or the conversation chose the template: it may have read words
    that the template does not know, so they are not said to be left out.
    """

    text: str = ""
    words: tuple[CoveredWord, ...] = ()
    masked: frozenset[int] = frozenset()
    ruled: bool = False

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
        return tuple(self.shown(start, end) for start, end in runs)

    def left_out(self) -> tuple[str, ...]:
        """What a call makes no use of: remarks and unread words, whole clauses where it can be."""
        found = list[str]()
        for clause in self._clauses():
            if self.ruled or not any(map(is_left_out, clause)):
                continue
            if all(word.role in ("filler", "unread") for word in clause):
                found.append(self.shown(clause[0].start, clause[-1].end))
                continue
            part = replace(self, words=tuple(clause))
            found += part.phrases("unread")
        return tuple(dict.fromkeys(found))

    def clause_from(self, words: str) -> str:
        """The text from `words` up to the end of their clause; `words` where they stand nowhere."""
        start = self.text.find(words)
        if start < 0:
            return words
        last = start + len(words)
        for clause in self._clauses():
            if clause[0].start <= start < clause[-1].end:
                last = clause[-1].end
        return self.shown(start, last)

    def mask(self, hides: Callable[[CoveredWord], bool]) -> "Coverage":
        """The same without the texts of some words; their places stay."""
        text, hidden = list(self.text), [word for word in self.words if hides(word)]
        for word in hidden:
            text[word.start : word.end] = _BLANK * (word.end - word.start)
        masked = self.masked.union(word.start for word in hidden)
        return replace(self, text="".join(text), masked=masked)

    def before_rewriting(self, text: str, span: tuple[int, int], size: int) -> "Coverage":
        """The same account of `text`, whose words at `span` were replaced by `size` characters."""
        end, shift = span[0] + size, size - (span[1] - span[0])
        words = list[CoveredWord]()
        for word in self.words:
            if word.end <= span[0]:
                words.append(word)
            elif word.start >= end:
                words.append(word._replace(start=word.start - shift, end=word.end - shift))
            elif not words or words[-1].end != span[1]:
                words.append(word._replace(start=span[0], end=span[1]))
        return replace(self, text=text, words=tuple(words))

    def shown(self, start: int, end: int) -> str:
        """The text between two places, or that it is redacted."""
        return REDACTED if any(start <= at < end for at in self.masked) else self.text[start:end]

    def unused_values(self) -> tuple[str, ...]:
        """The values that nobody took, as they were written."""
        return self.phrases("unread", kinds=VALUE_KINDS)

    def without_use(self, start: int, end: int, kind: str) -> "Coverage":
        """Return the same account, with the words between two places as values of no use."""
        words = tuple(
            word._replace(role="unread", of=None, kind=kind)
            if start <= word.start and word.end <= end
            else word
            for word in self.words
        )
        return replace(self, words=words)

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
                "text": self.shown(word.start, word.end),
                "span": [word.start, word.end],
                "as": word.role,
                **({} if word.of is None else {"of": word.of}),
            }
            for word in self.words
        ]

    def _clauses(self) -> Iterator[list[CoveredWord]]:
        """The words between commas and stops."""
        clause = list[CoveredWord]()
        for word in self.words:
            between = self.text[clause[-1].end : word.start] if clause else ""
            if not _CLAUSE_ENDS.isdisjoint(between):
                yield clause
                clause = []
            clause.append(word)
        if clause:
            yield clause


def is_left_out(word: CoveredWord) -> bool:
    """Whether nothing of a call comes from the word."""
    return word.role == "unread" or word.kind == "remark"


NO_COVERAGE = Coverage()
