"""Whether a sentence says what a result says, and nothing else. Deterministic, no model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from server.chat.speaking.atoms import Atom, atoms_of, same_day, weekday_of
from server.chat.speaking.facts import Facts
from server.chat.speaking.rows import Rows
from server.chat.speaking.wordlists import stems, word_lists

_OPENING: Final = frozenset(".!?:;\n|•")
_NEUTRAL_SIGNS: Final = frozenset("=&…→")
_VALUES: Final = frozenset({"number", "date", "month", "time", "code"})

_ROUNDED_BY_AT_MOST: Final = Decimal("0.5")


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found against a sentence, for the trace; `why` is empty when nothing was.

    `whole` tells that each row of a result was told of, so that nothing has to be shown
    beside the sentence.
    """

    why: str = ""
    whole: bool = True

    @property
    def good(self) -> bool:
        return not self.why


class Checker:
    """Holds sentences against the facts of one call."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._words = word_lists()
        self._contexts = _Contexts(facts)
        self._rows = Rows(facts) if facts.rows else None

    def check(self, text: str) -> Finding:
        """Judge a whole sentence: all of it is known, and the main value is said."""
        atoms = atoms_of(text, self._facts.order)
        why = self._against(atoms)
        if why is not None:
            return Finding(why)
        whole = True
        if self._rows is not None:
            mixed, told = self._rows.told(atoms)
            if mixed is not None:
                return Finding(mixed)
            if not self._rows.is_stated(told, atoms):
                return Finding("it tells of some rows and not of how many there are")
            whole = self._rows.is_complete(told)
        return Finding(self._unstated(atoms) or "", whole)

    def check_beginning(self, text: str) -> Finding:
        """Judge the beginning of a sentence, of which more is to come."""
        atoms = atoms_of(text, self._facts.order)
        return Finding(self._against(atoms) or "")

    def _against(self, atoms: Sequence[Atom]) -> str | None:
        for index, atom in enumerate(atoms):
            why = self._unknown(atoms, index, atom) or self._contexts.misplaced(atoms, index)
            if why is not None:
                return why
        return None

    def _unknown(self, atoms: Sequence[Atom], index: int, atom: Atom) -> str | None:
        facts = self._facts
        known = True
        match atom.kind:
            case "number":
                known = atom.value in facts.numbers or self._rounded(atoms, index)
            case "date":
                known = atom.value in facts.dates or any(
                    same_day(month, atom.value) and None not in month for month in facts.months
                )
            case "month":
                known = atom.value in facts.months or any(
                    same_day(atom.value, day) for day in facts.dates
                )
            case "time":
                known = atom.value in facts.times
            case "code":
                known = atom.value in facts.codes
            case "sign":
                known = atom.value in facts.signs or atom.value in _NEUTRAL_SIGNS
            case "word":
                known = self._is_known_word(atoms, index, atom)
        return None if known else f"{_shown(atom)} is not in the result"

    def _is_known_word(self, atoms: Sequence[Atom], index: int, atom: Atom) -> bool:
        facts, lists, word = self._facts, self._words, atom.value
        if word in lists.negating or word in lists.denying:
            return facts.truth is False or word in facts.known_words
        if word in lists.affirming:
            return facts.truth is True or word in facts.known_words
        if word in lists.rounding:
            return bool(stems(word) & facts.words) or _is_number(atoms, index + 1)
        sign = lists.signs.get(word)
        if sign is not None and _is_number(atoms, index - 1):
            return sign in facts.signs or word in facts.words
        if stems(word) & facts.words:
            return True
        day = weekday_of(word)
        if day is not None:
            return any(known.weekday() == day for known in facts.dates)
        # A name may look like a common word, but for its capital within the sentence.
        return word in lists.connecting and not (
            atom.capital and word != "i" and not _opens(atoms, index)
        )

    def _rounded(self, atoms: Sequence[Atom], index: int) -> bool:
        """Whether it is a known number, rounded, and the words before say so."""
        before = [a.value for a in atoms[max(0, index - 2) : index] if a.kind == "word"]
        if not before or not any(word in self._words.rounding for word in before):
            return False
        said: Decimal = atoms[index].value
        places = said.normalize().as_tuple().exponent
        if not isinstance(places, int) or said == 0:
            return False
        unit = Decimal(1).scaleb(min(places, 0)) if said == said.to_integral_value() else None
        unit = unit or Decimal(1).scaleb(places)
        return any(abs(known - said) <= unit / 2 for known in self._facts.numbers)

    def _unstated(self, atoms: Sequence[Atom]) -> str | None:
        facts = self._facts
        if facts.truth is not None:
            words = self._words.affirming if facts.truth else self._words.denying
            words = words | (frozenset() if facts.truth else self._words.negating)
            if not any(a.value in words for a in atoms if a.kind == "word"):
                return f"it does not say that this is {'so' if facts.truth else 'not so'}"
        for wanted in facts.stated:
            said = sum(_says(atom, wanted) for atom in atoms)
            # A result that equals an argument has to be said beside it.
            needed = 1
            if wanted.value in facts.arguments:
                needed = sum(atom.value == wanted.value for atom in facts.spoken[-1])
            if said < max(needed, 1) and not self._says_rounded(atoms, wanted):
                return f"it does not say {_shown(wanted)}"
        return self._half_asked(atoms)

    def _half_asked(self, atoms: Sequence[Atom]) -> str | None:
        """What is said of the call is said whole: "150 is 30" lacks the 20 %."""
        facts = self._facts
        asked = {
            atom.value
            for atom in facts.spoken[-1]
            if atom.kind == "number" and atom.value in facts.arguments
        }
        said = asked & {atom.value for atom in atoms if atom.kind == "number"}
        said -= {wanted.value for wanted in facts.stated}
        left = asked - said - {wanted.value for wanted in facts.stated}
        if said and left and not facts.rows:
            return f"it speaks of {_listed(said)} and not of {_listed(left)}"
        return None

    def _says_rounded(self, atoms: Sequence[Atom], wanted: Atom) -> bool:
        return wanted.kind == "number" and any(
            atom.kind == "number"
            and atom.value not in self._facts.numbers
            and abs(atom.value - wanted.value) <= _ROUNDED_BY_AT_MOST
            for atom in atoms
        )


class _Contexts:
    """The words beside which each value stands where it is known to stand rightly.

    A sentence that gives a value the place of another turns the result round: "20% of 30
    is 150" holds nothing that is not known.
    """

    def __init__(self, facts: Facts) -> None:
        self._connecting = word_lists().connecting
        self._numbers = facts.numbers
        self._before: dict[Any, set[Any]] = {}
        self._after: dict[Any, set[Any]] = {}
        for value, names in facts.labels.items():
            if not isinstance(value, str):
                self._before.setdefault(value, set()).update(names - self._connecting)
        for spoken in facts.spoken:
            for index, atom in enumerate(spoken):
                if atom.kind in _VALUES:
                    self._before.setdefault(atom.value, set()).update(self._places(spoken, index))
                    self._after.setdefault(atom.value, set()).update(self._next(spoken, index))

    def misplaced(self, atoms: Sequence[Atom], index: int) -> str | None:
        """Why the value at `index` stands where another belongs; None when it may stand there."""
        atom = atoms[index]
        if atom.kind not in _VALUES:
            return None
        after = set(self._next(atoms, index))
        known_by = after & self._own(self._after, atom)
        # What follows may tell whose place it is: the "%" of "the result of 20%".
        sure = any(sum(each in own for own in self._after.values()) == 1 for each in known_by)
        before = {
            place
            for place in self._places(atoms, index)
            if not (sure and place in self._connecting)
        }
        for places, here in ((self._before, before), (self._after, after)):
            own = self._own(places, atom)
            for place in here - own:
                if any(place in others for others in places.values()):
                    return f"{_shown(atom)} stands where another value belongs"
        return None

    def _own(self, places: Mapping[Any, set[Any]], atom: Atom) -> set[Any]:
        """Where a value may stand: a rounded number, where the number does that it rounds."""
        if atom.kind == "number" and atom.value not in self._numbers:
            near = [n for n in self._numbers if abs(n - atom.value) <= _ROUNDED_BY_AT_MOST]
            return set().union(*(places.get(number, ()) for number in near))
        return places.get(atom.value, set())

    def _places(self, atoms: Sequence[Atom], index: int) -> Iterator[Any]:
        """The word right before a value, and the nearest one that means something."""
        first = True
        for atom in reversed(atoms[max(0, index - 6) : index]):
            if atom.kind == "stop" or atom.kind in _VALUES:
                return
            if first or atom.value not in self._connecting:
                yield _canonical(atom)
            if atom.value not in self._connecting:
                return
            first = False

    def _next(self, atoms: Sequence[Atom], index: int) -> Iterator[Any]:
        """What follows a value at once, unless it is a word that follows anything."""
        if index + 1 < len(atoms):
            atom = atoms[index + 1]
            canonical = _canonical(atom)
            if atom.kind in ("word", "sign") and (
                canonical != atom.value or atom.value not in self._connecting
            ):
                yield canonical


def _canonical(atom: Atom) -> Any:
    return word_lists().signs.get(atom.value, atom.value) if atom.kind == "word" else atom.value


def _says(atom: Atom, wanted: Atom) -> bool:
    if atom.kind == wanted.kind == "word":
        return bool(stems(atom.value) & stems(wanted.value))
    if isinstance(wanted.value, date) and atom.kind == "month":
        return same_day(atom.value, wanted.value) and atom.value[2] is not None
    return bool(atom.kind == wanted.kind and atom.value == wanted.value)


def _is_number(atoms: Sequence[Atom], index: int) -> bool:
    return 0 <= index < len(atoms) and atoms[index].kind == "number"


def _opens(atoms: Sequence[Atom], index: int) -> bool:
    """Whether a sentence begins here."""
    before = atoms[index - 1] if index else None
    return before is None or (before.kind == "stop" and bool(_OPENING & set(before.value)))


def _listed(values: Iterable[Any]) -> str:
    return " and ".join(sorted(str(value) for value in values))


def _shown(atom: Atom) -> str:
    if atom.kind == "month":
        return repr("-".join("?" if part is None else str(part) for part in atom.value))
    return repr(str(atom.value))
