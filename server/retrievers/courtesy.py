"""Greetings, thanks, questions about the assistant itself: decided before anything is matched."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from server.core.coverage import Coverage, CoveredWord
from server.core.decision import ClarifyingQuestion, Courtesy, Decision, NoMatch, Trace
from server.core.ports import Decider
from server.core.turn import Turn
from server.library.model import Library
from server.retrievers.data_values import DataValuesDecider
from server.retrievers.followups.context import FollowUpDecision
from server.retrievers.followups.decider import FollowUpDecider
from server.text.courtesy import COURTESY_KINDS, CourtesyReader, CourtesyReading
from server.text.language import CourtesyKind
from server.text.tokens import Tokens

Following = Decider | FollowUpDecider | DataValuesDecider
_NOT_UNDERSTOOD: Final = (NoMatch, ClarifyingQuestion)


class CourtesyDecider:
    """The head of an adapter's chain: a message that is nothing but a courtesy goes no further.

    While a question is open, it may be the answer: “What shall the message say?” – “Thank you”.
    Then it is a courtesy only where nobody else makes anything of it.
    """

    def __init__(self, following: Following, reader: CourtesyReader) -> None:
        self._following = following
        self._reader = reader

    async def decide(self, turn: Turn, trace: Trace) -> Decision | FollowUpDecision:
        """Decide that `turn` is a courtesy, or ask the next one.

        Raises:
            ProviderError: the question could not be embedded.
        """
        read = self._reader.read(turn.text, turn.languages)
        if read is None:
            return await self._following.decide(turn, trace)
        if turn.context.asked is None and turn.context.options is None:
            return _courtesy(read, turn.text, trace)
        found = await self._following.decide(turn, trace)
        if isinstance(found, FollowUpDecision):
            if isinstance(found.decision, _NOT_UNDERSTOOD) and not found.rewritings:
                return replace(found, decision=_courtesy(read, turn.text, trace))
        elif isinstance(found, _NOT_UNDERSTOOD):
            return _courtesy(read, turn.text, trace)
        return found

    async def close(self) -> None:
        await self._following.close()


def with_courtesy(following: Following, library: Library) -> Following | CourtesyDecider:
    """The chain with courtesies before it, as the domain has them; as it is, where it has none."""
    kinds = courtesy_kinds(library)
    if not kinds:
        return following
    domain = library.domain
    languages = (domain.response.default_language, *domain.response.supported_languages)
    return CourtesyDecider(following, CourtesyReader(kinds, languages, _values(library)))


def courtesy_kinds(library: Library) -> tuple[CourtesyKind, ...]:
    """The kinds that the domain wants answered, less those that a template of its own answers."""
    reader = CourtesyReader()
    examples = (text for each in library.templates.values() for text in each.nl_examples)
    taken = {read.kind for text in examples if (read := reader.read(text)) is not None}
    return tuple(k for k in COURTESY_KINDS if k in library.domain.courtesy and k not in taken)


def _values(library: Library) -> Iterator[str]:
    """Every word for a value of the library's closed lists."""
    for entity in library.domain.entities.values():
        yield from entity.values
    for template in library.templates.values():
        for parameter in template.parameters:
            yield from parameter.choices
            yield from map(str, parameter.enum)


def _courtesy(read: CourtesyReading, text: str, trace: Trace) -> Courtesy:
    trace.note("courtesy", {"kind": read.kind, "language": read.language})
    return Courtesy(read.kind, read.language, _coverage(text))


def _coverage(text: str) -> Coverage:
    """An account in which every word bears nothing."""
    tokens, words = Tokens(text), list[CoveredWord]()
    for word, start, end in zip(tokens.words, tokens.starts, tokens.ends, strict=True):
        if not word.isalnum():
            continue
        # The parts of “what's”.
        if words and text[words[-1].end : start] in ("'", "’"):
            words[-1] = words[-1]._replace(end=end)
        else:
            words.append(CoveredWord(start, end, "filler", kind="courtesy"))
    return Coverage(text, tuple(words))
