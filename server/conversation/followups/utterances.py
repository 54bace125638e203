"""What a message is, going by its form: a correction, a continuation, a mere fragment …"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from server.conversation.followups.lexicon import FollowUpPhrases, Lexicon
from server.text.tokens import DASHES, MOST_CHARS, Word, message_words

Form = Literal["cancel", "correction", "continuation", "fragment", "plain"]

_FRAGMENT_WORDS: Final = 7
_NEGATED_WORDS: Final = 12
_BEFORE: Final = "+-−$€£¥#@([{\"“'"
_AFTER: Final = "%)]}€$£¥\"”'"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Utterance:
    """A message, and where its words stand, without opening words and courtesies."""

    text: str
    form: Form
    start: int
    end: int
    words: tuple[Word, ...]

    @property
    def said(self) -> str:
        return self.text[self.start : self.end]

    def left(self, spans: Iterable[Span], wording: Lexicon) -> list[Word]:
        """Words that mean something and lie in none of `spans`."""
        inside = {at for start, end in spans for at in range(start, end)}

        def covered(word: Word) -> bool:
            if word.text in DASHES:
                return False  # 100 - 37 is no list
            outside = [at for at in range(word.start, word.end) if at not in inside]
            return len(outside) < word.end - word.start and _attaches(self.text, word, outside)

        left: list[Word] = []
        for place, word in enumerate(self.words):
            counts = word.text in wording.counters and place + 1 < len(self.words)
            if counts and covered(self.words[place + 1]):
                continue  # the last 3
            if word.text not in wording.idle and not covered(word):
                left.append(word)
        return left


def read_utterance(text: str, wording: Lexicon) -> Utterance:
    """What the form of a message says; a long one is always `plain`."""
    words = message_words(text) if len(text) <= MOST_CHARS else []
    first, last = _without_courtesies(words, wording)
    inside = tuple(word.text for word in words[first:last])
    if inside and inside in wording.cancel:
        return _saying(text, "cancel", words[first:last])
    corrected = _corrected(text, words[first:last], wording)
    if corrected is not None:
        return corrected
    openings: tuple[tuple[FollowUpPhrases, Form], ...] = (
        (wording.corrections, "correction"),
        (wording.continuations, "continuation"),
    )
    for phrases, form in openings:
        opened = phrases.at(inside, 0)
        if 0 < opened < len(inside):
            if form == "continuation":
                # "and, sorry, what about": what opens may come twice.
                again = phrases.at(inside[opened:], 0)
                opened += again if opened + again < len(inside) else 0
            return _saying(text, form, words[first + opened : last])
    if last - first <= _FRAGMENT_WORDS and first < last:
        attached = _attached(words[first], wording.attached)
        if attached is not None:
            return _saying(text, "continuation", [attached, *words[first + 1 : last]])
        if wording.leads.at(inside, 0):
            return _saying(text, "fragment", words[first:last])
    return _saying(text, "plain", words[first:last])


def _corrected(text: str, words: Sequence[Word], wording: Lexicon) -> Utterance | None:
    """What takes the place of something: London, not Paris; not Paris but London."""
    if not 1 < len(words) <= _NEGATED_WORDS:
        return None
    inside = tuple(word.text for word in words)
    end = wording.corrections_after.before(inside, len(inside))
    if 0 < end < len(inside):
        return _saying(text, "correction", _without_opening(words[:end], wording))
    opened = wording.corrections.at(inside, 0)
    for at in range(opened + 1, len(inside)) if opened else ():
        if wording.but.at(inside, at) > at:  # no 15% but 30%
            meant = words[wording.but.at(inside, at) :]
            return _saying(text, "correction", meant) if meant else None
    for at in range(opened if opened < len(inside) else 0, len(inside)):
        after = wording.negations.at(inside, at)
        if after == at:
            continue
        if at > opened:
            return _saying(text, "correction", _without_opening(words[:at], wording))
        rest = _after_but(text, words, after, wording)
        return _saying(text, "correction", rest) if rest else None
    return None


def _without_opening(words: Sequence[Word], wording: Lexicon) -> Sequence[Word]:
    opened = wording.corrections.at(tuple(word.text for word in words), 0)
    return words[opened:] or words


def _after_but(
    text: str, words: Sequence[Word], first: int, wording: Lexicon
) -> Sequence[Word] | None:
    """What follows the comma or "but" after something negated."""
    inside = tuple(word.text for word in words)
    for at in range(first + 1, len(words)):
        after = wording.but.at(inside, at)
        if after > at:
            return words[after:]
        if "," in text[words[at - 1].end : words[at].start]:
            return words[at:]
    return None


def _attaches(text: str, word: Word, outside: Sequence[int]) -> bool:
    """Whether what a value leaves of a word is but attached to it: ב in front, 's behind."""
    rest = "".join(text[at] for at in outside if text[at].isalnum())
    if not rest or rest in ("s", "st", "nd", "rd", "th"):
        return True
    return not rest.isascii() and list(outside) == list(range(word.start, word.start + len(rest)))


def _attached(word: Word, attached: tuple[str, ...]) -> Word | None:
    for letters in attached:
        rest = word.text.removeprefix(letters).lstrip("-־–")
        if len(rest) > 1 and word.text.startswith(letters):
            return Word(rest, word.end - len(rest), word.end)
    return None


def _without_courtesies(words: Sequence[Word], wording: Lexicon) -> tuple[int, int]:
    inside = tuple(word.text for word in words)
    first, last = 0, len(words)
    while (after := wording.courtesies.at(inside, first)) > first:
        first = after
    while last > first and (before := wording.courtesies.before(inside[:last], last)) < last:
        last = before
    return (first, last) if first < last else (0, len(words))


def _saying(text: str, form: Form, words: Sequence[Word]) -> Utterance:
    if not words:
        return Utterance(text, "plain", 0, 0, ())
    start, end = words[0].start, words[-1].end
    if form == "continuation" and text[start - 1 : start] == "-" and not text[:start].isascii():
        return Utterance(text, form, start, end, tuple(words))  # the hyphen of "ו-36" is no minus
    # Signs around the words may belong to the value: -5, (1, 2), "all is well".
    while start and text[start - 1] in _BEFORE:
        start -= 1
    while end < len(text) and text[end] in _AFTER:
        end += 1
    return Utterance(text, form, start, end, tuple(words))
