"""The forms in which operations are said, compiled into trees of words and slots.

A form is a phrase with slots: `subtract {b} from {a}`. `(by|with)` is a choice, `[the]` may be
left out. A slot may be of a kind (`{a:percent}`), and `{things}` is a noun that says nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from typing import Final, NamedTuple

from server.text.expressions.lexicon import Lexicon, languages_of, lexicon_of
from server.text.expressions.tree import Level, level_of
from server.text.language import load_language
from server.text.spelling import SpellingIndex
from server.text.tokens import split_words

_PIECES: Final = re.compile(r"\{\w+(?::\w+)?\}|[(\[|)\]]|[^\s{}()\[\]|]+")
_RIGHT_FIRST: Final = frozenset({"power"})
"""Operations that are grouped from the right."""


SHORTEST_SLIP: Final = 5
"""Letters of a word that may be a slip of another."""


class Slot(NamedTuple):
    """A place for an operand: its name, its kind, and how tight what stands there has to be."""

    name: str
    kind: str
    level: Level


class Ending(NamedTuple):
    """The operation that a form says, and the name of the operand that stands before it."""

    operation: str
    detail: str
    left: str


@dataclass(slots=True)
class FormTree:
    """Forms with the same beginning."""

    words: dict[str, "FormTree"] = field(default_factory=dict)
    slots: dict[Slot, "FormTree"] = field(default_factory=dict)
    ending: Ending | None = None


class Following(NamedTuple):
    """Forms that go on after an operand of a kind."""

    level: Level
    kind: str
    tree: FormTree


@dataclass
class Grammar:
    """All forms: those that begin with a word, and those that go on after an operand."""

    lexicon: Lexicon
    prefix: FormTree = field(default_factory=FormTree)
    steps: FormTree = field(default_factory=FormTree)
    """Forms that go on with what was worked out so far: “… then add 4”."""
    following: dict[str, list[Following]] = field(default_factory=dict)
    """By their first word after the operand, the tightest first; "" for a noun."""
    words: set[str] = field(default_factory=set)

    @cached_property
    def spelling(self) -> SpellingIndex:
        """The words that a slip of the pen may have meant."""
        lexicon = self.lexicon
        words = {*self.words, *lexicon.numbers, *lexicon.multipliers, *lexicon.parts}
        return SpellingIndex(sorted(word for word in words if len(word) >= SHORTEST_SLIP - 1))


def grammar_of(codes: tuple[str, ...]) -> Grammar:
    """Return the grammar of languages, the first counting most; English is always one."""
    return _compiled(tuple(one.language for one in languages_of(codes)))


@cache
def _compiled(codes: tuple[str, ...]) -> Grammar:
    grammar = Grammar(lexicon_of(codes))
    trees: dict[tuple[Level, str, str], FormTree] = {}
    for language in (load_language("common"), *languages_of(codes)):
        named = [(name, "", forms) for name, forms in language.sums.forms.items()]
        named += [("declined", what, forms) for what, forms in language.sums.declined.items()]
        for operation, detail, forms in named:
            for form in forms:
                for pieces in expand(form):
                    _add(grammar, trees, operation, detail, pieces)
        for operation, forms in language.sums.steps.items():
            for pieces in chain(*map(expand, forms)):
                _put(grammar, grammar.steps, pieces, Ending(operation, "", "a"))
    for (level, kind, _), tree in trees.items():
        for word in (*tree.words, *([""] if tree.slots else [])):
            grammar.following.setdefault(word, []).append(Following(level, kind, tree))
    for entries in grammar.following.values():
        entries.sort(key=lambda entry: -entry.level)
    return grammar


def _add(
    grammar: Grammar,
    trees: dict[tuple[Level, str, str], FormTree],
    operation: str,
    detail: str,
    pieces: Sequence[str],
) -> None:
    level = level_of(operation)
    name, kind = _slot(pieces[0])
    left = ""
    tree = grammar.prefix
    if name and kind != "ordinal":
        left, pieces = name, pieces[1:]
        tree = trees.setdefault((level, kind, left), FormTree())
    _put(grammar, tree, pieces, Ending(operation, detail, left))


def _put(grammar: Grammar, tree: FormTree, pieces: Sequence[str], ending: Ending) -> None:
    level = level_of(ending.operation)
    last_level = level + (ending.operation not in _RIGHT_FIRST)
    for at, piece in enumerate(pieces):
        name, kind = _slot(piece)
        if not name:
            for word in _words_of(piece):
                tree = tree.words.setdefault(word, FormTree())
                grammar.words.add(word)
            continue
        is_last = at == len(pieces) - 1
        # What closes an operand lets it be a sum; at the end it is as tight as the operation.
        operand = Level(min(last_level, Level.LITERAL)) if is_last else Level.SUM
        tree = tree.slots.setdefault(Slot(name, kind, operand), FormTree())
    tree.ending = tree.ending or ending


@cache
def _words_of(piece: str) -> tuple[str, ...]:
    return split_words(piece)


@cache
def _slot(piece: str) -> tuple[str, str]:
    """Return the name and the kind of a slot; no name for a word."""
    if piece[:1] != "{":
        return "", ""
    name, _, kind = piece[1:-1].partition(":")
    return name, kind or ("things" if name == "things" else "any")


def expand(form: str) -> list[tuple[str, ...]]:
    """Return the phrases that a form stands for, each as its words and slots."""
    found, rest = _choices(_PIECES.findall(form))
    if rest:
        raise ValueError(f"{form!r} closes what it does not open")
    return [phrase for phrase in found if phrase]


_Phrases = list[tuple[str, ...]]


def _choices(pieces: list[str]) -> tuple[_Phrases, list[str]]:
    done: _Phrases = []
    current: _Phrases = [()]
    while pieces:
        piece, *pieces = pieces
        if piece in "([":
            inner, pieces = _choices(pieces)
            if not pieces or pieces[0] != ")]"["([".index(piece)]:
                raise ValueError(f"{piece!r} is not closed")
            pieces = pieces[1:]
            inner = [*inner, ()] if piece == "[" else inner
            current = [(*before, *after) for before in current for after in inner]
        elif piece in ")]":
            return done + current, [piece, *pieces]
        elif piece == "|":
            done, current = done + current, [()]
        else:
            current = [(*before, piece) for before in current]
    return done + current, []
