"""What “the second one”, “the latter”, “the other one” and “both” stand for among targets."""

from collections.abc import Collection, Sequence
from itertools import chain
from typing import Final, Literal, NamedTuple

from server.conversation.followups.lexicon import Lexicon
from server.text.tokens import MOST_CHARS, Word, message_words

Kind = Literal["place", "last", "other", "every"]
Span = tuple[int, int]

_ANY_NUMBER: Final = 2


class TargetReference(NamedTuple):
    """`position` counts from 1 for `place`, and means nothing for the others."""

    kind: Kind
    position: int
    span: Span


def read_target_reference(
    text: str, lexicon: Lexicon, things: Collection[str]
) -> TargetReference | None:
    """Return what a message points to by its place; None where it does so not at all, or twice.

    `things` are nouns of targets, which may stand behind the place.
    """
    words = message_words(text) if len(text) <= MOST_CHARS else []
    found = [
        TargetReference(*kind, _span(words, at, lexicon, things))
        for at, word in enumerate(words)
        if (kind := _kind(word.text, lexicon)) and _stands_alone(words, at, lexicon, things)
    ]
    return found[0] if len(found) == 1 else None


def resolve_target(reference: TargetReference, named: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the targets that a reference may mean, given those of each message, oldest first.

    There is none where nothing was named that it could mean, and there are several where it
    does not say which.
    """
    lists = [distinct(each) for each in named if each]
    every = distinct(chain.from_iterable(lists))
    several = next((each for each in reversed(lists) if len(each) >= _ANY_NUMBER), every)
    if reference.kind == "every":
        return several
    if reference.kind == "last":
        return several[-1:]
    if reference.kind == "place":
        at = reference.position
        longest = next((each for each in reversed(lists) if len(each) >= max(at, 2)), every)
        return longest[at - 1 : at]
    latest = lists[-1] if lists else ()
    if len(latest) != 1:
        return latest
    meant = same_target(latest[0])
    among = next(
        (
            each
            for each in reversed(lists[:-1])
            if len(each) > 1 and meant in map(same_target, each)
        ),
        every,
    )
    return tuple(each for each in among if same_target(each) != meant)


def distinct(targets: Collection[str] | chain[str]) -> tuple[str, ...]:
    """Return each target once, as it was written first: #4 and #004 are one."""
    return tuple({same_target(each): each for each in reversed(tuple(targets))}.values())[::-1]


def same_target(target: str) -> str:
    """Return a target in the one form that it is compared in."""
    bare = target.lstrip("# ")
    return bare.lstrip("0") or bare if bare.isdecimal() else target.casefold()


def _kind(word: str, lexicon: Lexicon) -> tuple[Kind, int] | None:
    if word in lexicon.positions:
        return "place", lexicon.positions[word]
    if (word,) in lexicon.last:
        return "last", 0
    if word in lexicon.other:
        return "other", 0
    return ("every", 0) if word in lexicon.every else None


def _stands_alone(
    words: Sequence[Word], at: int, lexicon: Lexicon, things: Collection[str]
) -> bool:
    """Whether a word of place is no adjective of something else: the first one, not first class.

    A word that carries its own article, as Hebrew ones do, needs none before it.
    """
    after = words[at + 1].text if at + 1 < len(words) else ""
    led = at > 0 and words[at - 1].text in lexicon.before
    if _is_thing(after, lexicon, things):
        return led or at == 0 or not words[at].text.isascii()
    ends = not after or after in lexicon.idle or after in lexicon.after
    is_every = words[at].text in lexicon.every
    return ends and (led or is_every or len(words) == 1 or not words[at].text.isascii())


def _is_thing(word: str, lexicon: Lexicon, things: Collection[str]) -> bool:
    return word in lexicon.things or word in things


def _span(words: Sequence[Word], at: int, lexicon: Lexicon, things: Collection[str]) -> Span:
    first = at - 1 if at and words[at - 1].text in lexicon.before else at
    last = at
    if at + 1 < len(words) and _is_thing(words[at + 1].text, lexicon, things):
        last += 1
    return words[first].start, words[last].end
