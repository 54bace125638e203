"""What a sentence about a result may say: everything the result, the call and the author say."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from server.chat.speaking.atoms import Atom, atoms_of
from server.chat.speaking.wordlists import stems, word_lists
from server.core.suggestions import format_value
from server.text.tokens import DateOrder

_MOST_ATOMS: Final = 5_000
"""Of a longer result, what comes later is no fact: no sentence speaks of it."""

_MOST_WORDS_STATED: Final = 12
"""A longer text is no value that a sentence has to repeat."""

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known, in the forms that a sentence is compared with.

    `numbers`, `dates`, `times` and `codes` come from the result, the arguments and the
    template's own answer. `words` may come from the question as well. `spoken` are the
    question and the template's answer, which show how each value is spoken of.
    """

    numbers: frozenset[Decimal]
    dates: frozenset[date]
    times: frozenset[time]
    months: frozenset[Any]
    codes: frozenset[str]
    words: frozenset[str]
    known_words: frozenset[str]
    """Words of the result and its author alone, which may turn a statement round."""
    signs: frozenset[str]
    arguments: frozenset[Any]
    """Values of the arguments."""
    asked: frozenset[Any]
    """Values of plain arguments: what was asked for, and not the data it was asked of."""
    stated: tuple[Atom, ...]
    """What has to be said, as the template's answer says it; nothing for rows."""
    truth: bool | None
    rows: tuple[Any, ...]
    """The rows or values of a list, in order; empty for a single result."""
    count: int | None
    labels: Mapping[Any, frozenset[str]]
    """The words by which the result names each value."""
    spoken: tuple[tuple[Atom, ...], ...]
    order: DateOrder = "mdy"


def facts_of(
    question: str,
    result: Any,
    arguments: Mapping[str, Any],
    written: str,
    *,
    description: str = "",
    order: DateOrder = "mdy",
) -> Facts:
    """Gather the facts of a call that gave `result`, which its template words as `written`."""
    payload = result.get("result") if isinstance(result, Mapping) else result
    labels: dict[Any, set[str]] = {}
    of_result = _gather(_without_input(result), order, labels)
    of_arguments = _gather(arguments, order)
    of_written, asked = atoms_of(written, order), atoms_of(question, order)
    known = [*of_result, *of_arguments, *of_written]
    rows, count = _rows(result, payload)
    numbers = _values(known, "number")
    if count is not None:
        numbers |= {Decimal(count)}
    words = {*_words(known), *_words(atoms_of(description, order))}
    truth = payload if isinstance(payload, bool) else None
    return Facts(
        numbers=frozenset(numbers),
        dates=frozenset(_values(known, "date")),
        times=frozenset(_values(known, "time")),
        months=frozenset(_values(known, "month")),
        codes=frozenset(_values(known, "code")),
        words=_stemmed({*words, *_words(asked), *_key_words(result), *_key_words(arguments)}),
        known_words=_stemmed(words),
        signs=frozenset(_values([*known, *asked], "sign")),
        arguments=frozenset(a.value for a in of_arguments if a.kind != "stop"),
        asked=frozenset(a.value for a in _gather(_plain(arguments), order) if a.kind != "stop"),
        stated=() if rows else _stated(payload, of_written, of_result, of_arguments, order),
        truth=truth,
        rows=rows,
        count=count,
        labels={value: frozenset(names) for value, names in labels.items()},
        spoken=(tuple(asked), tuple(of_written)),
        order=order,
    )


def leaves(value: Any) -> Iterable[tuple[str, Any]]:
    """Every value inside `value`, with the key nearest to it."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        key, one = pending.pop()
        if isinstance(one, Mapping):
            pending += [(str(name), inner) for name, inner in reversed(list(one.items()))]
        elif isinstance(one, list | tuple):
            pending += [(key, inner) for inner in reversed(one)]
        elif one is not None and not isinstance(one, bool):
            yield key, one


def atoms_in(value: Any, order: DateOrder) -> list[Atom]:
    """What a value of a result says, as a person would read it."""
    if isinstance(value, datetime):
        value = value.isoformat()
    return atoms_of(format_value(value), order)


def _gather(value: Any, order: DateOrder, labels: dict[Any, set[str]] | None = None) -> list[Atom]:
    found: list[Atom] = []
    for key, leaf in leaves(value):
        atoms = atoms_in(leaf, order)
        if labels is not None and len(atoms) <= 2:
            names = _split(key)
            for atom in atoms:
                labels.setdefault(atom.value, set()).update(names)
        found += atoms
        if len(found) > _MOST_ATOMS:
            break
    return found


def _without_input(result: Any) -> Any:
    """The result without what only repeats the call."""
    if not isinstance(result, Mapping):
        return result
    return {name: value for name, value in result.items() if name not in ("input", "operation")}


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in arguments.items() if not isinstance(v, Mapping | list | tuple)}


def _rows(result: Any, payload: Any) -> tuple[tuple[Any, ...], int | None]:
    """The members of a list that a result holds, and how many there are, if that is known."""
    holder = payload if isinstance(payload, Mapping) else None
    if holder is not None:
        lists = [v for v in holder.values() if isinstance(v, list) and len(v) > 1]
        payload = lists[0] if len(lists) == 1 and isinstance(lists[0][0], Mapping) else None
    if not isinstance(payload, list | tuple) or len(payload) < 2:
        return (), None
    if isinstance(result, Mapping) and "complete" in result:
        total = result.get("total")
        count = total if isinstance(total, int) else len(payload) if result["complete"] else None
        return tuple(payload), count
    return tuple(payload), len(payload)


def _stated(
    payload: Any,
    written: Sequence[Atom],
    of_result: Sequence[Atom],
    of_arguments: Sequence[Atom],
    order: DateOrder,
) -> tuple[Atom, ...]:
    """The main value: a plain result itself, else what the template says first of the result."""
    if isinstance(payload, bool) or payload is None:
        return ()
    if not isinstance(payload, Mapping | list | tuple):
        atoms = [atom for atom in atoms_in(payload, order) if atom.kind not in ("stop", "sign")]
        shown = {atom.value for atom in written}
        if len(atoms) > _MOST_WORDS_STATED:
            return ()
        if all(atom.value in shown for atom in atoms):
            return tuple(atoms)
    asked = {atom.value for atom in of_arguments}
    given = {atom.value for atom in of_result} - asked
    for atom in written:
        spoken = atom.kind in ("number", "date", "time", "month", "code")
        if spoken and (atom.value in given or atom.value not in asked):
            return (atom,)
    connecting = word_lists().connecting
    words = [a for a in written if a.kind == "word" and a.value in given - connecting]
    return tuple(words[:1])


def _values(atoms: Iterable[Atom], kind: str) -> set[Any]:
    return {atom.value for atom in atoms if atom.kind == kind}


def _words(atoms: Iterable[Atom]) -> set[str]:
    return {atom.value for atom in atoms if atom.kind == "word"}


def _stemmed(words: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*(stems(word) for word in words))


def _key_words(value: Any) -> set[str]:
    """The words of every key: `rainfall_mm` speaks of rainfall."""
    found: set[str] = set()
    pending = [value]
    while pending and len(found) < _MOST_ATOMS:
        one = pending.pop()
        if isinstance(one, Mapping):
            for name, inner in one.items():
                found.update(_split(str(name)))
                pending.append(inner)
        elif isinstance(one, list | tuple):
            pending += one[:50]  # rows have the same keys
    return found


def _split(name: str) -> list[str]:
    words, word = [], ""
    for before, char in zip(" " + name, name, strict=False):
        if not char.isalpha() or (char.isupper() and before.islower()):
            words.append(word)
            word = char if char.isalpha() else ""
        else:
            word += char
    return [each.lower() for each in (*words, word) if each]
