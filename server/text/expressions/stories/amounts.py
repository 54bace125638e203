"""Reads the amounts of a story: a number with what it counts, and per what."""

from collections.abc import Collection
from fractions import Fraction
from typing import Final, NamedTuple

from server.text.expressions.numerals import NumeralReader
from server.text.expressions.quantity import THING, Quantity, Unit
from server.text.expressions.stories.facts import (
    ANY,
    EACH,
    PACKED,
    PEOPLE,
    PERCENT,
    Fact,
    is_money,
    is_noun,
)
from server.text.expressions.stories.words import StoryLexicon
from server.text.tokens import Tokens, is_digits, is_word

_MOST_WORDS: Final = 2
"""Words of the name of what is counted: AA batteries."""


class Noun(NamedTuple):
    """What something is called, up to the word `last`; a thing is told by the stem of its name."""

    thing: str
    name: str
    last: int


class AmountReader:
    """Reads amounts at the words of one text."""

    def __init__(
        self,
        tokens: Tokens,
        numerals: NumeralReader,
        lexicon: StoryLexicon,
        barriers: Collection[int],
    ) -> None:
        self.tokens = tokens
        self.stems = lexicon.stems(tokens.words)
        self.numerals = numerals
        self.lexicon = lexicon
        self.barriers = barriers
        percent = numerals.lexicon.percent
        self._has_percent = any(percent.longest(tokens.words, at) for at in range(len(tokens)))

    def end(self, name: str, at: int) -> int:
        """Return the word after the longest phrase of a list at a word; 0 for none."""
        return self.lexicon.end(name, self.stems, at)

    def mark(self, at: int) -> tuple[int, str]:
        """Return the word after what is said of a percentage, and what; 0 for nothing."""
        if not self._has_percent:
            return 0, ""
        words = self.tokens.words
        ends = [
            (self.end(name, at), name.removeprefix("percent_"))
            for name in self.lexicon.phrases
            if name.startswith("percent_")
        ]
        charge = self.numerals.lexicon.charges.longest(words, at)
        ends.append((charge, "charge " + " ".join(words[at:charge])))
        return max(ends, key=lambda one: one[0])

    def is_noun(self, at: int) -> bool:
        """Whether a word may be a name: it is in none of the lists."""
        tokens = self.tokens
        word = tokens.word(at)
        if not is_word(word) or len(word) == 1 or word in self.lexicon.no_nouns:
            return False
        if self.stems[at] in self.lexicon.verbs or self.mark(at)[0]:
            return False
        return not (tokens.glued(at) and tokens.words[at - 1] in "'’") and not (
            tokens.word(at + 1) in ("'", "’") and tokens.glued(at + 1)
        )

    def noun(self, at: int) -> Noun | None:
        """Return the name at a word. Its last word says what it is: AA batteries."""
        if not self.is_noun(at):
            return None
        last = at + 1
        while last < at + _MOST_WORDS and self.is_noun(last) and not self.is_number(last):
            last += 1
        head = self.lexicon.thing(self.tokens.words[last - 1])
        name = " ".join(self.tokens.words[at:last])
        return Noun(THING + head + (f" {self.stems[at]}" if last > at + 1 else ""), name, last)

    def one(self, at: int, *, of_many: bool = False) -> Noun | None:
        """Return the name after "per" or a number, which may be another word elsewhere: can, slices."""
        noun = self.noun(at)
        is_other = noun is None and self.end("nouns_too", at)
        if is_other and (not of_many or self.tokens.words[at].endswith("s")):
            word = self.tokens.words[at]
            noun = Noun(THING + self.lexicon.thing(word), word, at + 1)
        return noun

    def amount(self, at: int) -> tuple[Fact, int] | None:
        """Return the amount at a word, and the word after it."""
        tokens = self.tokens
        start = self.end("determiners", at) or self.end("another", at) or at
        one = self.end("any_one", at)
        if one and (is_digits(tokens.word(one)) or tokens.word(one) in "$€£"):
            start = one  # a 12 pack
        numeral = self.numerals.read(start)
        if numeral is None or any(i in self.barriers for i in range(start, numeral.last)):
            return None
        literal, last = numeral.literal, numeral.last
        quantity = literal.quantity
        if literal.is_fraction or quantity.value < 0:
            return None
        if quantity.percent:
            charge = "down" if literal.reduces else self._charge(numeral.after_number, last)
            shown = str(Quantity(quantity.value, percent=True))
            return Fact(quantity.value, PERCENT, shown, below_shown=charge), last
        parts = _parts(quantity.unit)
        if parts is None:
            return None
        thing, below = parts
        if tokens.word(start) in self.numerals.lexicon.halves and below and not thing:
            thing, below = below, ""  # half an hour
        name = ""
        if thing and not is_money(thing):
            after = self.numerals.measure(numeral.after_number)[1]
            name = tokens.slice(numeral.after_number, max(after, numeral.after_number + 1)).lower()
        if not thing and not below:
            thing, name, last = self._counted(last, quantity.value)
        shown = f"{Quantity(quantity.value)} {name}" if name else _unit_shown(quantity.value, thing)
        fact = Fact(quantity.value, thing or ANY, shown)
        if not thing and (us := self.end("of_us", last)):
            return fact._replace(thing=PEOPLE, shown=f"{shown} people"), us
        if below:
            named = self.tokens.words[last - 1]
            return fact._replace(below_thing=below, below_shown=named), last
        if (name or thing) and tokens.word(last) in self.numerals.lexicon.of:
            of_what = self.noun(last + 1)
            last = of_what.last if of_what is not None else last
        return self._per(fact, last)

    def _charge(self, at: int, last: int) -> str:
        """Return what a percentage is called, among the words of it: a 20% tip."""
        charges = self.numerals.lexicon.charges
        found = (i for i in range(at, last) if charges.longest(self.tokens.words, i) == last)
        return next((" ".join(self.tokens.words[i:last]) for i in found), "")

    def _counted(self, at: int, value: Fraction) -> tuple[str, str, int]:
        """Return what a bare number counts, how it is called, and the word after it."""
        if self.tokens.word(at) == "-" and self.tokens.glued(at) and self.end("packs", at + 1):
            at += 1  # a 12-pack
        pack = self.end("packs", at)
        if pack and value != 1 and not self.tokens.words[at].endswith("s"):
            return PACKED, "", pack
        noun = self.one(at, of_many=True)
        if noun is None:
            return "", "", at
        return noun.thing, noun.name, noun.last

    def _per(self, fact: Fact, at: int) -> tuple[Fact, int]:
        """Read what follows an amount as “per box”, “a day”, “in each”, “per 100 km”."""
        each, each_one = self.end("each", at), self.end("each_one", at)
        below = self._below(each_one) if each_one else None
        if below is not None:
            value, thing, name, last = below
            return fact._replace(below=value, below_thing=thing, below_shown=name,
                                 numbers=fact.numbers + (value != 1)), last  # fmt: skip
        if each:
            return fact._replace(below_thing=EACH, below_shown="each"), each
        end = self.end("in_one", at)
        one = end or self.end("any_one", at)
        if one and not self.is_number(one):
            unit, last = self.numerals.measure(one)
            if len(unit) == 1 and unit[0][1] == 1:
                named = self.tokens.slice(one, last).lower()
                return fact._replace(below_thing=unit[0][0], below_shown=named), last
            noun = self.noun(one)
            if noun is not None and (end or self._closes(noun.last)):
                return fact._replace(
                    below_thing=noun.thing, below_shown=noun.name, is_optional=bool(end)
                ), noun.last
        return fact, at

    def _below(self, at: int) -> tuple[Fraction, str, str, int] | None:
        """Return what stands after “per”: 100 km, or a name."""
        numeral = self.numerals.read(at) if self.is_number(at) else None
        if numeral is not None:
            parts = _parts(numeral.literal.quantity.unit)
            value = numeral.literal.quantity.value
            if parts is None or parts[1] or value <= 0 or numeral.literal.is_fraction:
                return None
            if parts[0]:
                return value, parts[0], _unit_shown(value, parts[0]), numeral.last
            noun = self.noun(numeral.last)
            if noun is None:
                return None
            return value, noun.thing, f"{Quantity(value)} {noun.name}", noun.last
        unit, last = self.numerals.measure(at)
        if len(unit) == 1 and unit[0][1] == 1:
            return Fraction(1), unit[0][0], self.tokens.slice(at, last).lower(), last
        noun = self.one(at)
        return None if noun is None else (Fraction(1), noun.thing, noun.name, noun.last)

    def is_number(self, at: int) -> bool:
        """Whether a number begins at a word."""
        word = self.tokens.word(at)
        return is_digits(word) or word in self.numerals.lexicon.numbers

    def _closes(self, at: int) -> bool:
        """Whether what is said ends here: at a sign, a joint, a link or a question."""
        word = self.tokens.word(at)
        closing = ("joints", "links", "how_many", "how_much", "what", "how_long")
        return not is_word(word) or any(self.end(name, at) for name in closing)


def _unit_shown(value: Fraction, thing: str) -> str:
    if not thing or is_noun(thing) or thing == PACKED:
        return str(Quantity(value))
    return str(Quantity(value, ((thing, 1),)))


def _parts(unit: Unit) -> tuple[str, str] | None:
    """Return a unit and the one that it is per; None for any other."""
    above = [name for name, power in unit if power == 1]
    below = [name for name, power in unit if power == -1]
    if len(above) + len(below) != len(unit) or len(above) > 1 or len(below) > 1:
        return None
    return "".join(above), "".join(below)
