"""Which words of a question narrow what it asks for, and were read by nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from server.intents.question_state import QuestionState, Span

_MOST_WORDS: Final = 400
"""Words of a question that are looked at; what is longer is no question."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`words` are known and narrow nothing, also behind `prefixes`."""

    words: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()

    def knows(self, word: str) -> bool:
        if word in self.words:
            return True
        return any(word[: len(p)] == p and word[len(p) :] in self.words for p in self.prefixes)

    def unread_places(self, question: QuestionState, also: Iterable[Span] = ()) -> list[int]:
        """Return which words narrow the question, and nothing claimed; `also` was read as well."""
        text, taken = question.text, [*question.read_spans(), *also]
        spans = [text.span(at, at + 1) for at in range(len(text.words[:_MOST_WORDS]))]
        is_read = [any(a < end and start < b for a, b in taken) for start, end in spans]
        # What was read once needs not be told of where it is said again.
        said = {word for word, done in zip(text.words, is_read, strict=False) if done}
        return [
            at
            for at, (word, done) in enumerate(zip(text.words, is_read, strict=False))
            if not (done or word in said or self.knows(word))
        ]

    def unread(self, question: QuestionState) -> tuple[str, ...]:
        """Return the words that were read as nothing, neighbours as one text."""
        runs: list[tuple[int, int]] = []
        for at in self.unread_places(question, question.spans.values()):
            if runs and runs[-1][1] == at:
                runs[-1] = runs[-1][0], at + 1
            else:
                runs.append((at, at + 1))
        return tuple(question.words_at(*question.text.span(*run)) for run in runs)

    def object_after(self, question: QuestionState, at: int, objects: Sequence[str]) -> Span | None:
        """Return the noun behind word `at`, when it is none of `objects` nor read as anything."""
        words = question.text.words
        if at >= len(words) or self.knows(words[at]):
            return None
        bare = {words[at], *(words[at][len(p) :] for p in self.prefixes if words[at].startswith(p))}
        span = question.text.span(at, at + 1)
        if not bare.isdisjoint(objects) or not question.is_free(*span):
            return None
        return span
