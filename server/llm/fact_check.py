"""Whether a model's rewording of a tool's result says what is true, and nothing else.

Each number, date, time, code and name in the sentence is a claim, and so is any other word
that is not one of the common ones. What the result, the call and the template's own answer
do not carry is not let through. Deterministic; no model is asked.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from server.core.suggestions import format_value
from server.llm.fact_tokens import VALUE_KINDS, FactToken, common_words, read_tokens
from server.text.span import DateOrder
from server.text.stems import stem

_MOST_TOKENS: Final = 5_000
"""Of a longer result, what comes later is no fact: no sentence speaks of it."""
_MOST_TOKENS_STATED: Final = 12
"""A longer text is no value that a sentence has to repeat."""
_MOST_ROWS: Final = 200
_COMPARING: Final = ("er", "est", "less")
"""Endings that make a claim of a word: "low" does not carry "lower"."""
_NAME_PART: Final = re.compile(r"[A-Z]?[^\W\dA-Z_]+|[A-Z]+")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What speaks against a sentence; `why` is empty when nothing does.

    `complete` says that each row of a result is in it, so that nothing has to be shown beside.
    """

    why: str = ""
    complete: bool = True

    @property
    def passed(self) -> bool:
        return not self.why


Field = tuple[str, list[FactToken]]


class FactChecker:
    """Holds sentences against one call: what it gave, and how its template words that."""

    def __init__(
        self,
        question: str,
        result: Any,
        arguments: Mapping[str, Any],
        answer: str,
        *,
        description: str = "",
        date_order: DateOrder = "mdy",
    ) -> None:
        """Numbers, dates and codes of the `question` alone are no facts; its words are."""
        self._words = common_words()
        self._order: DateOrder = date_order
        payload = result.get("result") if isinstance(result, Mapping) else result
        fields = list(_fields(without_echo(result), date_order))
        inputs = list(_fields(arguments, date_order))
        found, given = (_tokens(each) for each in (fields, inputs))
        said, asked = read_tokens(answer, date_order), read_tokens(question, date_order)
        facts = [*found, *given, *said]
        self._known = {(t.kind, t.value) for t in facts} | {t[:2] for t in asked if t[0] == "sign"}
        self._dates = [token.value for token in facts if token.kind == "date"]
        self._own_words = _words((*facts, *read_tokens(description, date_order)))
        names = {word for name, _ in (*fields, *inputs) for word in _split(name)}
        self._all_words = self._own_words | _words(asked) | names
        self._stems = {stem(word) for word in self._all_words}
        self._truth = payload if isinstance(payload, bool) else None
        self._rows, self._count = _rows(result, payload)
        if self._count is not None:
            self._known.add(("number", Decimal(self._count)))
        self._arguments = {token.value for token in given}
        self._answer_values = _values(said)
        self._beside: dict[tuple[str, str], set[Any]] = {}
        self._note_places(fields, (said, asked))
        self._rows_of = self._rows_by_value(arguments)
        self._main = () if self._rows else self._main_value(payload, said, found)

    @property
    def has_value(self) -> bool:
        """Whether the result has anything that a sentence could state."""
        return bool(self._main or self._rows) or self._truth is not None

    @property
    def row_count(self) -> int:
        return len(self._rows)

    def check(self, text: str) -> CheckResult:
        """Judge a whole sentence: it says nothing that is not known, and the main value."""
        tokens = read_tokens(text, self._order)
        why = self._unknown(tokens)
        if why:
            return CheckResult(why)
        if not self._rows:
            return CheckResult(self._unstated(tokens))
        why, told = self._told_rows(tokens)
        complete = len(told) == min(len(self._rows), _MOST_ROWS)
        counted = any(t.value == self._count for t in tokens if t.kind == "number")
        if not why and not complete and (not counted or Decimal(self._count or 0) in self._rows_of):
            why = "it tells of some rows and not of how many there are"
        return CheckResult(why, complete)

    def check_beginning(self, text: str) -> CheckResult:
        """Judge the beginning of a sentence, of which more is to come."""
        return CheckResult(self._unknown(read_tokens(text, self._order)))

    def _unknown(self, tokens: Sequence[FactToken]) -> str:
        """The first claim that nothing carries, or that stands where another value belongs."""
        for index, token in enumerate(tokens):
            if not self._is_known(tokens, index):
                return f"{_shown(token)} is not in the result"
            if token.kind in VALUE_KINDS and self._is_misplaced(tokens, index):
                return f"{_shown(token)} stands where another value belongs"
        return ""

    def _is_known(self, tokens: Sequence[FactToken], index: int) -> bool:
        token, words = tokens[index], self._words
        match token.kind:
            case "word":
                pass
            case "date":
                return any(_same_day(token.value, known) for known in self._dates)
            case "sign":
                return token.value in "=&…→" or ("sign", token.value) in self._known
            case "stop":
                return True
            case _:
                return (token.kind, token.value) in self._known
        word, own = token.value, token.value in self._own_words
        if word in words.negating or word in words.denying:
            return self._truth is False or own
        if word in words.affirming:
            return self._truth is True or own
        sign = words.signs.get(word)
        if sign and ("sign", sign) in self._known and index and tokens[index - 1].kind == "number":
            return True
        if word in self._all_words:
            return True
        if stem(word) in self._stems and not word.endswith(_COMPARING):
            return True
        # A name may look like a common word, but for its capital within the sentence.
        return word in words.common and (not token.capital or word == "i" or _opens(tokens, index))

    def _note_places(self, fields: Iterable[Field], texts: Iterable[Sequence[FactToken]]) -> None:
        """Note what each value stands beside: names of fields, and words of `texts`."""
        for name, read in fields:
            values = _values(read)
            for word in set(_split(name)) - self._words.common if values else ():
                self._beside.setdefault(("label", word), set()).update(values)
        for tokens in texts:
            for index, token in enumerate(tokens):
                for place in self._places(tokens, index):
                    self._beside.setdefault(place, set()).add(token.value)

    def _places(self, tokens: Sequence[FactToken], index: int) -> Iterator[tuple[str, str]]:
        """What stands right before a value and after it, and the word that says what it is."""
        if tokens[index].kind not in VALUE_KINDS:
            return
        common, signs = self._words.common, self._words.signs
        if index + 1 < len(tokens) and tokens[index + 1].kind in ("word", "sign"):
            after = signs.get(tokens[index + 1].value, tokens[index + 1].value)
            if after not in common:
                yield "after", after
        for at in range(index - 1, max(index - 7, -1), -1):
            kind, word = tokens[at].kind, tokens[at].value
            if kind == "stop" or kind in VALUE_KINDS:
                return
            if at == index - 1 and word in common:
                yield "before", word
            if word not in common:
                yield "label", word
                return

    def _is_misplaced(self, tokens: Sequence[FactToken], index: int) -> bool:
        """Whether what stands beside a value stands beside others alone: "20% of 30 is 150"."""
        value, places = self._resolved(tokens[index]), list(self._places(tokens, index))
        # What follows may tell whose place it is: the "%" of "30 is 20% of 150".
        sure = any(place[0] == "after" and self._beside.get(place) == {value} for place in places)
        return any(
            value not in self._beside.get(place, {value})
            for place in places
            if not (sure and place[0] == "before")
        )

    def _unstated(self, tokens: Sequence[FactToken]) -> str:
        said = [self._resolved(token) for token in tokens]
        if self._truth is not None:
            words = self._words
            wanted = words.affirming if self._truth else words.denying | words.negating
            if not wanted & _words(tokens):
                return f"it does not say that this is {'so' if self._truth else 'not so'}"
        stems = {stem(word) for word in _words(tokens)}
        for main in self._main:
            # A result that equals an argument has to be said beside it.
            needed = self._answer_values.count(main.value) if main.value in self._arguments else 1
            in_words = main.kind == "word" and stem(main.value) in stems
            if not in_words and said.count(main.value) < max(needed, 1):
                return f"it does not say {_shown(main)}"
        # What is said of the call is said whole: "150 is 30" lacks the 20 %.
        main_values = {token.value for token in self._main}
        call = {value for value in self._answer_values if value in self._arguments} - main_values
        left = {value for value in call if value not in said}
        if left and left != call:
            return f"it speaks of {_listed(call - left)} and not of {_listed(left)}"
        return ""

    def _told_rows(self, tokens: Sequence[FactToken]) -> tuple[str, set[int]]:
        """The rows that a sentence tells of, in their order, each begun by its name if it has one.

        The text says why it mixes them up, if it does.
        """
        named = any(isinstance(row, Mapping) for row in self._rows) and any(
            isinstance(value, str) for value in self._rows_of
        )
        current, told = -1, set[int]()
        for token in tokens:
            rows = self._rows_of.get(self._resolved(token))
            if rows is None or (named and current in rows):
                continue
            following = [row for row in rows if row > current]
            if not following:
                return "the rows are told in another order", told
            if named and token.kind not in ("word", "code"):
                return "a value is said without the row it belongs to", told
            current = min(following)
            told.add(current)
        return "", told

    def _rows_by_value(self, arguments: Mapping[str, Any]) -> dict[Any, set[int]]:
        """The rows that each value stands in, for the values that tell rows apart."""
        rows: dict[Any, set[int]] = {}
        for index, row in enumerate(self._rows[:_MOST_ROWS]):
            for token in _tokens(_fields(row, self._order)):
                if token.kind not in ("stop", "sign") and token.value not in self._words.common:
                    rows.setdefault(token.value, set()).add(index)
        plain = {k: v for k, v in arguments.items() if not isinstance(v, Mapping | list | tuple)}
        asked = {token.value for token in _tokens(_fields(plain, self._order))}
        size = min(len(self._rows), _MOST_ROWS)
        return {v: found for v, found in rows.items() if v not in asked and len(found) < size}

    def _main_value(
        self, payload: Any, answer: Sequence[FactToken], found: Sequence[FactToken]
    ) -> tuple[FactToken, ...]:
        """A plain result itself, else what the answer says first that nobody gave."""
        if isinstance(payload, bool) or payload is None:
            return ()
        if not isinstance(payload, Mapping | list | tuple):
            tokens = _tokens(_fields(payload, self._order))
            tokens = [token for token in tokens if token.kind not in ("stop", "sign")]
            if len(tokens) > _MOST_TOKENS_STATED:
                return ()
            if {token.value for token in tokens} <= {token.value for token in answer}:
                return tuple(tokens)
        words = {token.value for token in found} - self._arguments - self._words.common
        first = [t for t in answer if t.kind in VALUE_KINDS and t.value not in self._arguments]
        return tuple((first or [t for t in answer if t.kind == "word" and t.value in words])[:1])

    def _resolved(self, token: FactToken) -> Any:
        """A token's value; for a date that is said in part, the known date that it means."""
        if token.kind != "date" or token.value in self._dates:
            return token.value
        return next((day for day in self._dates if _same_day(token.value, day)), token.value)


def without_echo(result: Any) -> Any:
    """The result without what only repeats the call."""
    if not isinstance(result, Mapping):
        return result
    return {name: value for name, value in result.items() if name not in ("operation", "input")}


def _fields(value: Any, order: DateOrder) -> Iterator[Field]:
    """The name of every field inside `value`, and what it says, as a person would read it."""
    pending, room = [("", value)], _MOST_TOKENS
    while pending and room > 0:
        name, one = pending.pop()
        tokens: list[FactToken] = []
        if isinstance(one, Mapping):
            pending += [(str(key), inner) for key, inner in reversed(list(one.items()))]
        elif isinstance(one, list | tuple):
            pending += [(name, inner) for inner in reversed(one)]
        elif not isinstance(one, bool):
            text = one.isoformat() if isinstance(one, date) else format_value(one)
            tokens = read_tokens(text, order)
        room -= 1 + len(tokens)
        yield name, tokens


def _tokens(fields: Iterable[Field]) -> list[FactToken]:
    return [token for _, tokens in fields for token in tokens]


def _split(name: str) -> list[str]:
    return [word.lower() for word in _NAME_PART.findall(name)]


def _rows(result: Any, payload: Any) -> tuple[tuple[Any, ...], int | None]:
    """The members of a list that a result holds, and how many there are, if that is known."""
    if isinstance(payload, Mapping):
        lists = [v for v in payload.values() if isinstance(v, list) and len(v) > 1]
        payload = lists[0] if len(lists) == 1 and isinstance(lists[0][0], Mapping) else None
    if not isinstance(payload, list | tuple) or len(payload) < 2:
        return (), None
    if isinstance(result, Mapping) and "complete" in result:
        total = result.get("total")
        count = total if isinstance(total, int) else len(payload) if result["complete"] else None
        return tuple(payload), count
    return tuple(payload), len(payload)


def _values(tokens: Iterable[FactToken]) -> list[Any]:
    return [token.value for token in tokens if token.kind in VALUE_KINDS]


def _words(tokens: Iterable[FactToken]) -> set[str]:
    return {token.value for token in tokens if token.kind == "word"}


def _same_day(said: tuple[int | None, ...], known: tuple[int | None, ...]) -> bool:
    """Whether a date, with None for what is not said, means a part of a known one."""
    return all(part is None or part == of for part, of in zip(said, known, strict=True))


def _opens(tokens: Sequence[FactToken], index: int) -> bool:
    """Whether a sentence begins here."""
    before = tokens[index - 1] if index else None
    return before is None or (before.kind == "stop" and bool(set(".!?:;\n|•") & set(before.value)))


def _listed(values: Iterable[Any]) -> str:
    return " and ".join(sorted(map(_text, values)))


def _shown(token: FactToken) -> str:
    return repr(_text(token.value))


def _text(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    year, month, day = ("?" if part is None else f"{part:02}" for part in value)
    return f"{year}-{month}-{day}"
