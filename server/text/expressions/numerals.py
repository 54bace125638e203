"""Reads the numbers of an expression: digits, words, fractions, percentages, money, measures."""

import re
import unicodedata
from fractions import Fraction
from typing import Final, NamedTuple
from typing import Literal as OneOf

from server.text.decimals import as_decimal, read_plain
from server.text.expressions.lexicon import Lexicon
from server.text.expressions.quantity import THING, Quantity, Unit, unit_of
from server.text.expressions.tree import Literal
from server.text.money import CODES_LOWER, CURRENCY_STARTERS, SIGNS, currency_beside, read_currency
from server.text.number_words import NumberPart, compose_number
from server.text.numbers import read_digits
from server.text.stems import stem
from server.text.tokens import Tokens, is_digits, is_word

NumberFormat = OneOf["auto", "point", "comma"]
"""Which sign stands before decimals; `auto` goes by what can be meant."""

_COMMA: Final = re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)?(?![0-9])")
_POWERS: Final = {"²": 2, "³": 3}
_MOST_DECIMALS: Final = 15
_MOST_WORDS: Final = 12


class Numeral(NamedTuple):
    """A number up to the word `last`; `after_number` is where its unit would begin."""

    literal: Literal
    last: int
    after_number: int


class NumeralReader:
    """Reads numbers at the words of one text."""

    def __init__(self, tokens: Tokens, lexicon: Lexicon, number_format: NumberFormat) -> None:
        self.tokens = tokens
        self.lexicon = lexicon
        self.format = number_format
        self._memo: dict[tuple[int, bool], Numeral | None] = {}

    def read(self, at: int, *, listed: bool = False) -> Numeral | None:
        """Return the number at a word; in a list, a comma without a blank parts two of them."""
        key = at, listed
        if key not in self._memo:
            self._memo[key] = self._read(at, listed=listed)
        return self._memo[key]

    def _read(self, at: int, *, listed: bool) -> Numeral | None:
        tokens = self.tokens
        first = at
        if tokens.word(at) in CURRENCY_STARTERS and not is_digits(tokens.word(at)):
            at = self._currency_before(at)
            if at == first:
                return None
        bare = self._fraction(at) or self._digits(at, listed=listed) or self._words(at)
        if bare is None:
            return self._one_unit(at)
        value, after, is_fraction = bare
        unit, last = self._unit(first, at, after)
        if (percent := self.lexicon.percent.longest(tokens.words, last)) and not unit:
            return self._percentage(value, percent, after)
        quantity = Quantity(value, unit)
        return Numeral(Literal(quantity, is_fraction and not unit), last, after)

    def _one_unit(self, at: int) -> Numeral | None:
        """Read “an hour”."""
        if self.tokens.word(at) not in self.lexicon.ones:
            return None
        unit, last = self.measure(at + 1)
        return Numeral(Literal(Quantity(Fraction(1), unit)), last, at + 1) if unit else None

    def _percentage(self, value: Fraction, last: int, after: int) -> Numeral:
        words, reduces = self.tokens.words, False
        if end := self.lexicon.charges.longest(words, last):
            last = end
        elif end := self.lexicon.reductions.longest(words, last):
            last, reduces = end, True
        quantity = Quantity(value / 100, percent=True)
        return Numeral(Literal(quantity, reduces=reduces), last, after)

    # Each of these returns the value, the word after it, and whether it is a fraction.

    def _digits(self, at: int, *, listed: bool) -> tuple[Fraction, int, bool] | None:
        tokens = self.tokens
        word = tokens.word(at)
        start = at + 1 if word == "." and tokens.glued(at + 1) else at
        if not is_digits(tokens.word(start)):
            return None
        if self.format == "comma" and (comma := self._with_comma(start)):
            return comma
        read = read_digits(tokens, start)
        if read.value is None or start > at > read.first:
            return None
        value, last = abs(Fraction(as_decimal(read.value))), read.last
        # Decimals after a comma: 765,44; three digits would be thousands.
        if (
            tokens.word(last) == "," and not listed and self.format == "auto"
            and tokens.glued(last) and tokens.glued(last + 1)
            and is_digits(tokens.word(last + 1)) and last == start + 1
        ):  # fmt: skip
            comma = self._with_comma(start)
            if comma is not None and comma[1] == last + 2:
                return comma
        if value.denominator == 1 and is_digits(tokens.word(last)) and last == start + 1:
            mixed = self._slashed(last)
            if mixed is not None and mixed[0] < 1:  # 2 1/2
                return value + mixed[0], mixed[1], False
        if value.denominator == 1 and (rest := self._and_part(last)):
            return value + rest[0], rest[1], False
        return value, last, False

    def _with_comma(self, at: int) -> tuple[Fraction, int, bool] | None:
        tokens = self.tokens
        found = _COMMA.match(tokens.folded, tokens.starts[at])
        if found is None:
            return None
        value = read_plain(found[0].replace(".", "").replace(",", "."))
        last = tokens.index_at(found.end())
        if tokens.glued(last) and (is_word(tokens.word(last)) or tokens.words[last] in ",."):
            following = tokens.word(last + 1)
            if tokens.words[last] in ",." and tokens.glued(last + 1) and is_digits(following):
                return None
        return None if value is None else (Fraction(as_decimal(value)), last, False)

    def _slashed(self, at: int) -> tuple[Fraction, int] | None:
        """Return the fraction in digits at a word: 3/4, without blanks."""
        tokens = self.tokens
        above, slash, below = (tokens.word(at + i) for i in range(3))
        if not (is_digits(above) and slash == "/" and is_digits(below)):
            return None
        glued = tokens.glued(at + 1) and tokens.glued(at + 2)
        if not glued or len(above) > 6 or len(below) > 6 or not int(below):
            return None
        after = tokens.word(at + 3)
        if tokens.glued(at + 3) and (after in "/.,-:" or is_word(after)):
            return None
        return Fraction(int(above), int(below)), at + 3

    def _fraction(self, at: int) -> tuple[Fraction, int, bool] | None:
        """Read a half, two thirds, ¾, and 3/4 before an “of”."""
        tokens, lexicon = self.tokens, self.lexicon
        word = tokens.word(at)
        if len(word) == 1 and not word.isdecimal() and not word.isascii():
            value = unicodedata.numeric(word, None)
            if value is not None and unicodedata.category(word) == "No" and word not in _POWERS:
                return Fraction(value).limit_denominator(1000), at + 1, True
        if is_digits(word):
            slashed = self._slashed(at)
            if slashed is not None and tokens.word(slashed[1]) in lexicon.of:
                return slashed[0], slashed[1], True
            if len(word) > 6 or tokens.glued(at + 1):
                return None
            return self._parts(Fraction(int(word)), at + 1)
        if word in lexicon.halves:
            return lexicon.halves[word], at + 1, True
        if word in lexicon.ones:
            return self._parts(Fraction(1), at + 1)
        read = self._composed(at)
        return self._parts(read[0], read[1]) if read else None

    def _parts(self, count: Fraction, at: int) -> tuple[Fraction, int, bool] | None:
        word = self.tokens.word(at)
        if word == "-" and self.tokens.glued(at):
            at += 1
            word = self.tokens.word(at)
        part = self.lexicon.parts.get(word)
        return None if part is None else (count * part, at + 1, True)

    def _words(self, at: int) -> tuple[Fraction, int, bool] | None:
        read = self._composed(at)
        if read is None:
            return None
        value, after = read
        tokens = self.tokens
        if tokens.word(after) in self.lexicon.point:
            decimals = self._decimals(after + 1)
            if decimals:
                return (
                    value + Fraction(int(decimals), 10 ** len(decimals)),
                    (after + 1 + len(decimals)),
                    False,
                )
        if rest := self._and_part(after):
            return value + rest[0], rest[1], False
        return value, after, False

    def _and_part(self, at: int) -> tuple[Fraction, int] | None:
        """Read what stands after a whole number: and a half."""
        tokens, lexicon = self.tokens, self.lexicon
        if tokens.word(at) not in lexicon.joining or is_digits(tokens.word(at + 1)):
            return None
        more = self._fraction(at + 1)
        if more is None or more[0] >= 1 or tokens.word(more[1]) in lexicon.of:
            return None
        return more[0], more[1]

    def _composed(self, at: int) -> tuple[Fraction, int] | None:
        """Return the whole number in words at a word, and the word after it."""
        tokens, lexicon = self.tokens, self.lexicon
        word = tokens.word(at)
        if word in lexicon.numbers:
            parts = [NumberPart(lexicon.numbers[word])]
        elif word in lexicon.ones and tokens.word(at + 1) in lexicon.multipliers:
            parts = [NumberPart(1)]
        else:
            return None
        ends = [at + 1]
        while len(parts) < _MOST_WORDS:
            at = ends[-1]
            joined = tokens.word(at) in lexicon.joining
            hyphen = tokens.word(at) == "-" and tokens.glued(at) and tokens.glued(at + 1)
            at += joined or hyphen
            word = tokens.word(at)
            if word in lexicon.numbers:
                parts.append(NumberPart(lexicon.numbers[word], joined=joined))
            elif word in lexicon.multipliers and not (joined or hyphen):
                parts.append(NumberPart(lexicon.multipliers[word], multiplies=True))
            else:
                break
            ends.append(at + 1)
        count, value = compose_number(parts, tens_join=False)
        return Fraction(value), ends[count - 1]

    def _decimals(self, at: int) -> str:
        digits = ""
        while len(digits) < _MOST_DECIMALS:
            value = self.lexicon.numbers.get(self.tokens.word(at + len(digits)), 10)
            if value > 9:
                break
            digits += str(value)
        return digits

    def _currency_before(self, at: int) -> int:
        """Return the word after a currency before a number: the 15 of $15 and of EUR 15."""
        tokens = self.tokens
        after = at
        if tokens.word(at) in SIGNS:
            after = at + 1
        elif tokens.word(at + 1) in SIGNS and tokens.glued(at + 1):
            after = at + 2  # US$
        elif tokens.word(at) in CODES_LOWER and (read := read_currency(tokens, at)):
            after = read[1]
        if not currency_beside(tokens, after, after + 1):
            return at
        return after if is_digits(tokens.word(after)) or tokens.word(after) == "." else at

    def _unit(self, first: int, at: int, after: int) -> tuple[Unit, int]:
        """Return the unit of the number from `at` to `after`, and the word after it."""
        tokens = self.tokens
        unit: Unit = ()
        last = after
        word = tokens.word(after)
        if first < at:
            unit = unit_of((currency_beside(tokens, at, after), 1))
        elif word in CURRENCY_STARTERS and not self._before_another(after):
            read = read_currency(tokens, after)
            if read is not None:
                unit, last = unit_of((read[0], 1)), read[1]
        if not unit:
            unit, last = self.measure(after)
        below, end = self._per(last)
        return (unit_of(*unit, *below), end) if below else (unit, last)

    def _before_another(self, at: int) -> bool:
        """Whether the sign of a currency belongs to the number that follows it."""
        tokens = self.tokens
        return tokens.word(at) in SIGNS and is_digits(tokens.word(at + 1)) and tokens.glued(at + 1)

    def measure(self, at: int) -> tuple[Unit, int]:
        """Return the unit of measure at a word, and the word after it; empty for none."""
        tokens, lexicon = self.tokens, self.lexicon
        power = lexicon.powers.get(tokens.word(at), 1)
        start = at + (power > 1)
        unit, last = "", start
        for size in (2, 1):
            if start + size > len(tokens):
                continue
            unit = lexicon.units.get(" ".join(tokens.words[start : start + size]), "")
            if unit:
                last = start + size
                break
        short = last == start + 1 and len(tokens.word(start)) == 1
        if unit and short and not tokens.glued(start):
            unit = unit if unit in lexicon.spaced else ""
        if not unit:
            return (), at
        if tokens.word(last) in _POWERS and tokens.glued(last):
            power, last = _POWERS[tokens.word(last)], last + 1
        parts = [(part, each * power) for part, each in lexicon.compounds.get(unit, ((unit, 1),))]
        return unit_of(*parts), last

    def _per(self, at: int) -> tuple[Unit, int]:
        """Return what follows as “per day”, “an hour”, “/kg”, upside down."""
        tokens, lexicon = self.tokens, self.lexicon
        word = tokens.word(at)
        if word == "/" and tokens.glued(at + 1):
            unit, last = self.measure(at + 1)
        elif word in lexicon.per or word in lexicon.ones:
            unit, last = self.measure(at + 1)
            noun = tokens.word(at + 1)
            if not unit and word in lexicon.per and self.is_thing(at + 1):
                unit, last = ((THING + stem(noun, lexicon.code), 1),), at + 2
        else:
            return (), at
        return tuple((name, -power) for name, power in unit), last

    def is_thing(self, at: int) -> bool:
        """Whether a word may be the name of what is counted."""
        word = self.tokens.word(at)
        if not is_word(word) or len(word) == 1 or word in self.lexicon.no_things:
            return False
        return not (self.tokens.glued(at) and self.tokens.words[at - 1] in "'’")

    def amount(self, at: int) -> Numeral | None:
        """Return a number with its unit, or with what it counts: 8 hours, 30 boxes."""
        read = self.read(at)
        if read is None or read.literal.quantity.percent:
            return None
        if not read.literal.quantity.unit and self.is_thing(read.last):
            thing = THING + stem(self.tokens.words[read.last], self.lexicon.code)
            quantity = Quantity(read.literal.quantity.value, ((thing, 1),))
            return Numeral(Literal(quantity), read.last + 1, read.after_number)
        return read if read.literal.quantity.unit else None
