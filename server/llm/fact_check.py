"""Whether a model's rewording of a tool's result says only what the result says.

Each number, date, time, code and name in a sentence is a claim. One that the result, the
call and the template's own answer do not carry, or that stands where another value belongs,
is refused, and so is a negation that they do not carry. No model is asked.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any, Final, NamedTuple

from server.core.suggestions import format_value
from server.core.tools import is_row_result, payload_of
from server.llm.fact_tokens import VALUE_KINDS, FactToken, answer_words, read_tokens
from server.text.stems import stem
from server.text.tokens import DateOrder

_MOST_TOKENS: Final = 5_000
"""Of a longer result, what comes later is no fact: no sentence speaks of it."""
_MOST_TOKENS_STATED: Final = 12
"""A longer text is not repeated in a sentence."""
_MOST_ROWS: Final = 200
_NAME_PART: Final = re.compile(r"[A-Z]?[^\W\dA-Z_]+|[A-Z]+")
"""A word in the name of a field: `unitPrice`, `unit_price`."""


class CheckResult(NamedTuple):
    """What speaks against a sentence, or empty; `complete` when it has each row of the result."""

    why: str = ""
    complete: bool = True

    @property
    def passed(self) -> bool:
        return not self.why


class FactChecker:
    """Checks sentences against one call: its arguments, its result and its template's answer."""

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
        self._words = words = answer_words()
        self._read = partial(read_tokens, order=date_order)
        payload = payload_of(result)
        inputs, outputs = self._fields(arguments), self._fields(without_echo(result))
        stated, asked = self._read(answer), self._read(question)
        facts = [*stated, *(token for _, token in (*outputs, *inputs))]
        self._inputs = {token.value for _, token in inputs}
        self._dates = [token.value for token in facts if token.kind == "date"]
        self._values = {token[:2] for token in facts} | {t[:2] for t in asked if t.kind == "sign"}
        self._own_words = _words_in((*facts, *self._read(description)))
        known = self._own_words | _words_in(asked)
        self._beside: defaultdict[tuple[str, str], set[Any]] = defaultdict(set)
        for name, token in (*outputs, *inputs):
            labels = {word.lower() for word in _NAME_PART.findall(name)}
            known |= labels
            for word in labels - words.plain if token.kind in VALUE_KINDS else ():
                self._beside["label", word].add(token.value)
        self._known_words = known | {stem(word) for word in known}
        for tokens in (stated, asked):
            for index, token in enumerate(tokens):
                for place in self._places(tokens, index):
                    self._beside[place].add(token.value)
        self._rows, self._count = _rows(result, payload)
        if self._count is not None:
            self._values.add(("number", Decimal(self._count)))
        self._has_records = any(isinstance(row, Mapping) for row in self._rows)
        self._rows_of = self._rows_by_value()
        results = {token.value for _, token in outputs} - words.plain
        self._main = [] if self._rows else self._main_values(payload, stated, results)

    @property
    def has_value(self) -> bool:
        """Whether the result has a value that a sentence can state: yes and no are none."""
        return bool(self._main or self._rows)

    @property
    def row_count(self) -> int:
        return len(self._rows)

    def check(self, text: str, *, whole: bool = True) -> CheckResult:
        """Check the claims of a text; a `whole` one has to state the result, too."""
        tokens = [self._whole_date(token) for token in self._read(text)]
        for index, token in enumerate(tokens):
            if not self._is_known(tokens, index):
                return CheckResult(f"{_quoted(token.value)} is not in the result")
            if token.kind in VALUE_KINDS and self._is_misplaced(tokens, index):
                return CheckResult(f"{_quoted(token.value)} stands where another value belongs")
        if whole and self._rows:
            return self._check_rows(tokens)
        stated = {token.value for token in tokens}
        missing = [value for value in self._main if whole and value not in stated]
        return CheckResult(f"it does not say {_quoted(missing[0])}" if missing else "")

    def _is_known(self, tokens: Sequence[FactToken], index: int) -> bool:
        token, words = tokens[index], self._words
        kind, value = token[:2]
        if kind != "word":
            return kind == "stop" or token[:2] in self._values or value in ("=", "&", "…", "→")
        if value in words.negating:
            return value in self._own_words
        if value in self._known_words or stem(value) in self._known_words:
            return True
        before = tokens[index - 1] if index else None
        is_unit = before is not None and before.kind in VALUE_KINDS
        if is_unit and value in words.percent:
            return ("sign", "%") in self._values
        opens_sentence = before is None or (before.kind == "stop" and before.value.strip(",()"))
        if token.capital and not opens_sentence:
            return bool(value == "i")  # else a name
        # Other words claim nothing, unless they may be a name, a unit, a number or a date.
        may_be_name = token.capital or value == value.upper()
        return value in words.plain or not (may_be_name or is_unit or value in words.counting)

    def _places(self, tokens: Sequence[FactToken], index: int) -> Iterator[tuple[str, str]]:
        """Yield the words right before and after a value, and the label before it."""
        if tokens[index].kind not in VALUE_KINDS:
            return
        words = self._words
        for kind, word, *_ in tokens[index + 1 : index + 2]:
            after = "%" if word in words.percent else word
            if kind in ("word", "sign") and after not in words.plain:
                yield "after", after
        for at in range(index - 1, max(index - 7, -1), -1):
            kind, word = tokens[at][:2]
            if kind == "stop" or kind in VALUE_KINDS:
                return
            if word in words.plain:
                if at == index - 1:
                    yield "before", word
            elif kind == "sign" or word in self._known_words:
                yield "label", word
                return

    def _is_misplaced(self, tokens: Sequence[FactToken], index: int) -> bool:
        """Whether what stands beside a value stands beside others alone: "20% of 30 is 150"."""
        value = tokens[index].value
        beside = {place: self._beside.get(place, {value}) for place in self._places(tokens, index)}
        # The unit may tell whose place it is: the "%" of "30 is 20% of 150".
        sure = any(kind == "after" and own == {value} for (kind, _), own in beside.items())
        wrong = {kind for (kind, _), own in beside.items() if value not in own}
        return bool(wrong - {"before"} if sure else wrong)

    def _check_rows(self, tokens: Sequence[FactToken]) -> CheckResult:
        """Check that rows are told in order, each begun by its name if it has one, or counted."""
        rows_of, told = self._rows_of, [-1]
        named = self._has_records and any(isinstance(value, str) for value in rows_of)
        for token in tokens:
            rows = rows_of.get(token.value)
            if rows is None or (named and told[-1] in rows):
                continue
            following = [row for row in rows if row > told[-1]]
            if not following:
                return CheckResult("the rows are told in another order")
            if named and token.kind not in ("word", "code"):
                return CheckResult("a value is said without the row it belongs to")
            told.append(min(following))
        if len(told) - 1 == min(len(self._rows), _MOST_ROWS):
            return CheckResult()
        counted = any(t.value == self._count for t in tokens if t.kind == "number")
        if not counted or self._count in rows_of:
            return CheckResult("it tells of some rows and not of how many there are")
        return CheckResult(complete=False)

    def _rows_by_value(self) -> dict[Any, set[int]]:
        """Return the rows that each value stands in, for the values that tell rows apart."""
        rows_of: defaultdict[Any, set[int]] = defaultdict(set)
        rows = self._rows[:_MOST_ROWS]
        ignored = self._words.plain | self._inputs if self._has_records else self._words.plain
        for index, row in enumerate(rows):
            for _, token in self._fields(row):
                if token.kind not in ("stop", "sign") and token.value not in ignored:
                    rows_of[token.value].add(index)
        return {value: found for value, found in rows_of.items() if len(found) < len(rows)}

    def _main_values(
        self, payload: Any, answer: Sequence[FactToken], results: set[Any]
    ) -> list[Any]:
        """Return a plain result itself, else what the answer says first that nobody gave."""
        if payload is None or isinstance(payload, bool):
            return []
        if not isinstance(payload, Mapping | list | tuple):
            tokens = [token for _, token in self._fields(payload)]
            values = [token.value for token in tokens if token.kind not in ("stop", "sign")]
            if len(values) > _MOST_TOKENS_STATED:
                return []
            if set(values) <= {token.value for token in answer}:
                return values
        new = [token for token in answer if token.value not in self._inputs]
        values = [token.value for token in new if token.kind in VALUE_KINDS]
        values += [token.value for token in new if token.kind == "word" and token.value in results]
        return values[:1]

    def _whole_date(self, token: FactToken) -> FactToken:
        """Return a date that is said in part as the known date that it means."""
        for day in self._dates if token.kind == "date" and token.value not in self._dates else ():
            if all(part in (None, of) for part, of in zip(token.value, day, strict=True)):
                return token._replace(value=day)
        return token

    def _fields(self, value: Any) -> list[tuple[str, FactToken]]:
        """Return what stands in `value`, as people read it, each token by its field's name."""
        pending, found = [("", value)], list[tuple[str, FactToken]]()
        while pending and len(found) < _MOST_TOKENS:
            name, inner = pending.pop()
            if isinstance(inner, Mapping):
                pending += [(str(key), each) for key, each in reversed(list(inner.items()))]
            elif isinstance(inner, list | tuple):
                pending += [(name, each) for each in reversed(inner)]
            elif not isinstance(inner, bool):
                text = inner.isoformat() if isinstance(inner, date) else format_value(inner)
                found += [(name, token) for token in self._read(text)]
        return found


def _words_in(tokens: Sequence[FactToken]) -> set[str]:
    return {token.value for token in tokens if token.kind == "word"}


def without_echo(result: Any) -> Any:
    """Return the result without what only repeats the call."""
    if not isinstance(result, Mapping):
        return result
    return {name: value for name, value in result.items() if name not in ("operation", "input")}


def _rows(result: Any, payload: Any) -> tuple[Sequence[Any], int | None]:
    """Return the rows of a list that a result holds, and how many there are, if that is known."""
    if isinstance(payload, Mapping):
        lists = [v for v in payload.values() if isinstance(v, list) and len(v) > 1]
        payload = lists[0] if len(lists) == 1 and isinstance(lists[0][0], Mapping) else None
    if not isinstance(payload, list | tuple) or len(payload) < 2:
        return (), None
    if is_row_result(result) and result["truncated"]:
        return payload, None
    if not isinstance(result, Mapping) or "complete" not in result:
        return payload, len(payload)
    total = result.get("total")
    known = total if isinstance(total, int) else None
    return payload, len(payload) if known is None and result["complete"] else known


def _quoted(value: Any) -> str:
    if isinstance(value, tuple):
        year, month, day = ("?" if part is None else f"{part:02}" for part in value)
        return repr(f"{year}-{month}-{day}")
    return repr(str(value))
