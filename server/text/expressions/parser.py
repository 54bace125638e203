"""Reads expressions: operands, and the forms of the grammar before, between and after them.

Each place is read once at each level, so that time grows with the length of a text and with
nothing else; what is nested too deeply is not read.
"""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from server.text.expressions.grammar import FormTree, Grammar, Slot
from server.text.expressions.numerals import NumberFormat, Numeral, NumeralReader
from server.text.expressions.quantity import Quantity, is_convertible
from server.text.expressions.tree import (
    IT,
    Level,
    Literal,
    Node,
    is_about_it,
    make,
    put_for_it,
)
from server.text.tokens import Tokens, is_digits

_DEEPEST: Final = 25
_MOST_STEPS: Final = 20_000
_MOST_THINGS: Final = 3
_TO_UNIT: Final = frozenset({"convert", "rate_in", "duration_at"})
"""Operations whose last operand is the unit that is asked for."""
_OPEN, _CLOSED = "(", ")"
_SIGNS: Final = frozenset({"-", "−", "–", "+"})
_APOSTROPHES: Final = frozenset({"'", "’"})
_STOPS: Final = frozenset({",", ";", "."})
_ENDS: Final = frozenset({"?", ";", "!"})
_ORDINAL_ENDS: Final = frozenset({"st", "nd", "rd", "th"})


class Parsed(NamedTuple):
    """An expression up to, and without, the word `last`."""

    node: Node
    last: int


_Operands = dict[str, Sequence[Node]]


class Parser:
    """Reads the expressions of one text."""

    def __init__(
        self,
        tokens: Tokens,
        grammar: Grammar,
        number_format: NumberFormat = "auto",
        barriers: Collection[int] = (),
    ) -> None:
        """Read `tokens`; the words at `barriers` belong to a date or another value."""
        self.tokens = tokens
        self.grammar = grammar
        self.lexicon = grammar.lexicon
        self.numerals = NumeralReader(tokens, grammar.lexicon, number_format)
        self.barriers = barriers
        self.furthest = 0
        """The first word that nothing has read."""
        self._memo: dict[tuple[int, int, bool], Parsed | None] = {}
        self._depth = self._steps = 0

    def read(self, at: int, level: Level = Level.WHOLE, *, listed: bool = False) -> Parsed | None:
        """Return the longest expression that begins at a word."""
        key = at, level, listed
        if key in self._memo:
            return self._memo[key]
        self._steps += 1
        if self._depth >= _DEEPEST or self._steps > _MOST_STEPS or at >= len(self.tokens):
            return None
        self._memo[key] = None
        self._depth += 1
        found = self._operand(at, listed=listed)
        if found is not None:
            found = self._go_on(found, level, listed=listed)
            self.furthest = max(self.furthest, found.last)
        self._depth -= 1
        self._memo[key] = found
        return found

    def _operand(self, at: int, *, listed: bool) -> Parsed | None:
        if at in self.barriers:
            return None
        tokens = self.tokens
        word = tokens.word(at)
        if word == _OPEN:
            inner = self.read(at + 1)
            closed = inner is not None and tokens.word(inner.last) == _CLOSED
            return Parsed(inner.node, inner.last + 1) if inner and closed else None
        if (end := self.lexicon.it.longest(tokens.words, at)) and self._numeral(end) is None:
            return Parsed(IT, end)
        found = [*self._forms(self.grammar.prefix, at, {}, listed=listed, level=Level.WHOLE)]
        if numeral := self._numeral(at, listed=listed):
            found.append(Parsed(numeral.literal, numeral.last))
        if not found and (end := self.lexicon.fillers.longest(tokens.words, at)):
            after = self._operand(end, listed=listed) if self._steps < _MOST_STEPS else None
            self._steps += 1
            if after is not None:
                found.append(after)
        return max(found, key=lambda one: one.last, default=None)

    def _numeral(self, at: int, *, listed: bool = False) -> Numeral | None:
        numeral = self.numerals.read(at, listed=listed)
        if numeral is not None and any(i in self.barriers for i in range(at, numeral.last)):
            return None
        return numeral

    def _go_on(self, left: Parsed, level: Level, *, listed: bool) -> Parsed:
        """Read what follows an operand, as long as it holds at least as tight as `level`."""
        while self._steps < _MOST_STEPS:
            self._steps += 1
            found = self._next(left, left.last, level, listed=listed)
            if found is None and level is Level.WHOLE:
                found = self._then(left, listed=listed)
            if found is None:
                return left
            left = found
        return left

    def _then(self, left: Parsed, *, listed: bool) -> Parsed | None:
        """Read what is done with all that stands before: “…, then add 4”, “… and double it”."""
        at = left.last
        stop = self.tokens.word(at) if self.tokens.word(at) in _STOPS else ""
        at += bool(stop)
        after = self.lexicon.then.longest(self.tokens.words, at)
        if not after and stop in ("", "."):
            return None
        at = after or at
        found = self._next(left, at, Level.WHOLE, listed=listed)
        steps = list(
            self._forms(self.grammar.steps, at, {"a": (IT,)}, listed=False, level=Level.SUM)
        )
        about = self.read(at, Level.SUM) if self._numeral(at) is None else None
        if about is not None and about.node is not IT and is_about_it(about.node):
            steps.append(about)
        longest = max(steps, key=lambda one: one.last, default=None)
        if longest is None or (found is not None and found.last >= longest.last):
            return found
        return Parsed(put_for_it(longest.node, left.node), longest.last)

    def _next(self, left: Parsed, at: int, level: Level, *, listed: bool) -> Parsed | None:
        best: Parsed | None = None
        tight = False
        if at in self.barriers:
            return None
        known = self.grammar.following
        things = known.get("", ()) if self.numerals.is_thing(at) else ()
        for following in (*known.get(self.tokens.word(at), ()), *things):
            if following.level < level or not _is_of_kind(left.node, following.kind):
                continue
            operands: _Operands = {"": (left.node,)}
            for one in self._forms(following.tree, at, operands, listed=listed, level=level):
                if best is None or one.last > best.last:
                    best, tight = one, following.level > Level.SUM
        if best is None or left.node is IT or tight:
            return best  # in “10% of it”, it is not the 10%
        return Parsed(put_for_it(best.node, left.node), best.last)

    def _forms(
        self, tree: FormTree, at: int, operands: _Operands, *, listed: bool, level: Level
    ) -> Iterator[Parsed]:
        """Return what the forms of a tree make of the words from one on."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return
        if tree.ending is not None:
            operation, detail, left = tree.ending
            named = {name or left: nodes for name, nodes in operands.items()}
            nodes: Sequence[Node] = tuple(
                node for name in sorted(named) for node in named[name] if name
            )
            if operation in _TO_UNIT:
                *rest, unit = nodes
                nodes, detail = tuple(rest), _detail(unit)
            yield Parsed(make(operation, tuple(nodes), detail), at)
        if at >= len(self.tokens) or at in self.barriers:
            return
        after = tree.words.get(self.tokens.words[at])
        if after is not None:
            self.furthest = max(self.furthest, at + 1)
            yield from self._forms(after, at + 1, operands, listed=listed, level=level)
        for slot, after in tree.slots.items():
            for filled, last in self._fill(slot, at, listed=listed):
                more = operands if slot.name == "things" else {**operands, slot.name: filled}
                yield from self._forms(after, last, more, listed=listed, level=level)

    def _fill(self, slot: Slot, at: int, *, listed: bool) -> Iterator[tuple[Sequence[Node], int]]:
        kind = slot.kind
        if kind == "things":
            for last in range(at + 1, at + 1 + _MOST_THINGS):
                if not self.numerals.is_thing(last - 1):
                    return
                yield (), last
        elif kind == "list":
            if members := self._list(at):
                yield members
        elif kind in ("percent", "reduction"):
            end = self.lexicon.fillers.longest(self.tokens.words, at) or at
            if (read := self._numeral(end)) and _is_of_kind(read.literal, kind):
                yield (read.literal,), read.last
        elif kind == "amount":
            if (amount := self.numerals.amount(at)) is not None:
                yield (amount.literal,), amount.last
        elif kind == "count":
            if (read := self._numeral(at)) and not read.literal.quantity.unit:
                yield (Literal(Quantity(read.literal.quantity.value)),), read.after_number
        elif kind == "unit":
            unit, last = self.numerals.measure(at)
            if unit:
                yield (Literal(Quantity(Fraction(1), unit)),), last
        elif kind == "ordinal":
            yield from self._ordinal(at)
        elif kind == "counted":
            yield from self._counted(at)
        elif kind == "rest":
            if (last := self._rest(at)) > at:
                yield (), last
        elif kind == "place":
            if self.tokens.word(at) in self.lexicon.places:
                value = self.lexicon.places[self.tokens.words[at]]
                yield (Literal(Quantity(value)),), at + 1
        else:
            yield from self._read_as(kind, at, slot.level, listed=listed)

    def _read_as(
        self, kind: str, at: int, level: Level, *, listed: bool
    ) -> Iterator[tuple[Sequence[Node], int]]:
        """Read an operand as far as it goes; and only its number, where the form goes on by it."""
        last = 0
        for tried in dict.fromkeys((level, Level.LITERAL)):
            found = self.read(at, tried, listed=listed)
            if found is not None and found.last != last and _is_of_kind(found.node, kind):
                yield (found.node,), (last := found.last)

    def _ordinal(self, at: int) -> Iterator[tuple[Sequence[Node], int]]:
        tokens = self.tokens
        if is_digits(tokens.word(at)) and tokens.word(at + 1) in _ORDINAL_ENDS:
            if tokens.glued(at + 1) and len(tokens.words[at]) < 6:
                yield (Literal(Quantity(Fraction(int(tokens.words[at])))),), at + 2
        elif tokens.word(at) in self.lexicon.ordinals:
            value = self.lexicon.ordinals[tokens.words[at]]
            yield (Literal(Quantity(Fraction(value))),), at + 1

    def _counted(self, at: int) -> Iterator[tuple[Sequence[Node], int]]:
        """Read the 15 of “how many 15s”."""
        read, tokens = self._numeral(at), self.tokens
        if read is None:
            return
        last = read.after_number
        if not read.literal.quantity.value:
            return  # how many zeros are in a million
        if tokens.word(last) in _APOSTROPHES:
            last += 1
        if tokens.word(last) in self.lexicon.plural and tokens.glued(last):
            yield (Literal(Quantity(read.literal.quantity.value)),), last + 1
        else:
            yield (read.literal,), read.last

    def _rest(self, at: int) -> int:
        """Return the end of a formula that is not read; it has a digit or a name like x."""
        words = self.tokens.words
        last = next((i for i in range(at, len(words)) if words[i] in _ENDS), len(words))
        is_formula = any(is_digits(word) or len(word) == 1 for word in words[at:last])
        return last if is_formula else at

    def _list(self, at: int) -> tuple[Sequence[Node], int] | None:
        """Read the members of a list up to the last one that is a number or a product."""
        at += self.tokens.word(at) == ":"
        members: list[Node] = []
        tokens, last, joined = self.tokens, at, at
        joints = self.lexicon.joints
        while len(members) < _MOST_STEPS:
            member = self.read(joined, Level.PRODUCT, listed=True)
            if member is None:
                break
            members.append(member.node)
            last = joined = member.last
            while tokens.word(joined) in joints:
                joints = self.lexicon.joints_after(tokens.words[joined])
                joined += 1
            if joined == last and not _is_number(tokens.word(joined)):
                break
        return (members, last) if members else None


def _is_number(word: str) -> bool:
    return is_digits(word) or word in _SIGNS


def _is_of_kind(node: Node, kind: str) -> bool:
    if kind == "any":
        return True
    if not isinstance(node, Literal):
        return False
    quantity = node.quantity
    if kind == "fraction":
        return node.is_fraction
    if kind == "percent":
        return quantity.percent and not node.reduces
    if kind == "reduction":
        return quantity.percent and node.reduces
    if kind == "rate":
        return any(power < 0 for _, power in quantity.unit)
    if kind == "amount":
        return bool(quantity.unit) and all(power > 0 for _, power in quantity.unit)
    if kind == "measured":
        return is_convertible(quantity.unit)
    return kind == "count" and not quantity.unit and not quantity.percent


def _detail(node: Node) -> str:
    if not isinstance(node, Literal):
        raise TypeError("a unit is a literal")
    return " ".join(f"{name}^{power}" for name, power in node.quantity.unit)
