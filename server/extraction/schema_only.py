"""Arguments of templates without examples, read by what their schema says.

Each value is offered to each parameter that its type allows, with points for its unit, named
options, words beside it, and its form. The values go where the points add up to most; where
another way is nearly as good, the server asks.
"""

import re
from collections.abc import Iterator, Sequence, Set
from datetime import date
from decimal import Decimal
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

from server.core.suggestions import join_words
from server.extraction.assignment import FILLERS, Bid, assign_by_points
from server.extraction.candidates import is_other_end
from server.extraction.free_text import NO_TEXT_CONTEXT, capital_runs, find_text
from server.extraction.lists import find_numbers
from server.extraction.parameter_hints import ParameterHints, TemplateHints
from server.extraction.plan import NUMERIC
from server.extraction.slot_filling import SlotFilling
from server.extraction.values import Candidate, InvalidValue, from_words, number, show_value
from server.text.decimals import read_plain
from server.text.durations import Duration
from server.text.language import load_language
from server.text.stems import stem
from server.text.tokens import Span, is_digits, is_word
from server.text.units import unit_after

_NEEDED: Final = 1.5
"""What a required parameter takes a value with, if nothing speaks against it."""
_EVIDENCE: Final = 2.5
"""What has to speak for the value of an optional one."""
_MARGIN: Final = 0.9
"""By how much a way to give values away has to be better than any other."""
_NAME, _ABOUT, _UNIT, _OPTION, _LEAD, _FORM = 4.0, 2.0, 4.0, 5.0, 2.5, 1.5
_REACH: Final = 6
_MOST_TEXTS: Final = 120
_APART: Final = frozenset({"number", "quote", "code", "name"})
"""Forms of values that stand by themselves, so that words beyond them speak of something else."""
_STOPS: Final = frozenset(".;?!")
_ENGLISH: Final = load_language("en")
_group: Final = _ENGLISH.group
_FUNCTION_WORDS: Final = _ENGLISH.function_words
_LEADS: Final = _ENGLISH.leads
_JOINS: Final = frozenset(["and", "or"]) | frozenset(",&")
_RUN: Final = re.compile(r"[^\s,;?!()\"“”']+")
_CODE_SIGNS: Final = frozenset("_/\\#@0123456789")
_LEADING: Final = frozenset({"from", "to", "place", "min", "max", "limit", "topic"})
_ARTICLES, _NEGATIONS, _CODED = _group("articles"), _group("exclusions"), _group("code_names")


class Value(NamedTuple):
    """A part of the question that may be a value; a number with what it is counted in."""

    start: int
    end: int
    first: int
    last: int
    value: Any
    form: str
    unit: str = ""


Fit = tuple[float, Any] | None  # points for the value's own form, and what it is here


def fill_from_schema(slots: SlotFilling, schema: TemplateHints) -> None:
    """Fill what JSON, patterns and entities have left open, the surest evidence first."""
    filler = _SchemaFilling(slots, schema)
    slots.assign_group("claim")
    filler.choices()
    slots.fill_period()
    slots.assign_group("date")
    filler.dates()
    for one in filler.open("numbers"):
        if one.plan.required or slots.reading.of("array"):
            slots.keep(one.plan, find_numbers(one.plan, slots.reading, slots.taken))
    filler.give(filler.open(*NUMERIC), filler.amounts())
    slots.fill_booleans()
    filler.flags()
    moments = [one.plan for one in filler.open("time", "duration")]
    slots.assign(moments, {plan.key: slots.scored(plan) for plan in moments})
    slots.fill_fields()
    filler.give(filler.open("text", "strings"), filler.texts())
    for one in filler.open("text"):
        found = find_text(one.plan, NO_TEXT_CONTEXT, slots.reading, slots.taken, alone=False)
        slots.keep(one.plan, found)
    filler.leave_aside()


class _SchemaFilling:
    def __init__(self, slots: SlotFilling, schema: TemplateHints) -> None:
        self._slots, self._schema = slots, schema
        self._reading, self._tokens = slots.reading, slots.reading.tokens
        self._stems = [stem(word) for word in self._tokens.words]

    def open(self, *roles: str) -> list[ParameterHints]:
        """The parameters of some roles that still have neither value nor problem."""
        done = self._slots.found.keys() | self._slots.problems.keys()
        plans = self._slots.plan.parameters
        return [
            self._schema.parameters[p.key] for p in plans if p.role in roles and p.key not in done
        ]

    def give(self, wanted: Sequence[ParameterHints], values: Sequence[Value]) -> None:
        """Give values to parameters; what is in doubt is asked for."""
        bids = {one.plan.key: self._bids(one, values) for one in wanted}
        spans = [(value.start, value.end) for value in values]
        most, chosen = assign_by_points(bids, spans)
        for one in wanted:
            bid = chosen.get(one.plan.key)
            if bid is None:
                continue
            others = [rival for rival in bids[one.plan.key] if rival.value != bid.value]
            points, other = assign_by_points({**bids, one.plan.key: others}, spans)
            rival = other.get(one.plan.key)
            problem = ""
            if most - points < _MARGIN:
                meant = [show_value(b.value) for b in (bid, rival) if b is not None]
                problem = f"it could be {join_words(meant)}" if rival else f"{meant[0]} is not sure"
            elif one.with_region and "," not in str(bid.value):
                problem = f"{show_value(bid.value)} has to come with what it lies in"
            found = Candidate(*values[bid.place][:4], bid.value, problem=problem)
            self._slots.keep(one.plan, found)

    def _bids(self, one: ParameterHints, values: Sequence[Value]) -> list[Bid]:
        bids: list[Bid] = []
        for place, value in enumerate(values):
            fit = self._fit(one, value)
            if fit is None:
                continue
            points = fit[0] + self._word_points(one, value, values) + self._lead_points(one, value)
            needed = one.plan.required and points >= 0
            if needed or points >= _EVIDENCE:
                bids.append(Bid(points + (_NEEDED if needed else 0.0), place, fit[1]))
        return bids

    def _fit(self, one: ParameterHints, value: Value) -> Fit:
        if value.form == "number":
            return self._as_number(one, value)
        if (value.form == "list") != (one.plan.role == "strings"):
            return None
        if value.form != "list":
            return self._as_text(one, value)
        # A list is as good as the worst of its members, and better the more there are.
        read = [fit for member in value.value if (fit := self._as_text(one, member))]
        if len(read) < len(value.value):
            return None
        points = min(points for points, _ in read) + 0.7 * min(len(read), 4)
        return points, [text for _, text in read]

    def _word_points(self, one: ParameterHints, value: Value, values: Sequence[Value]) -> float:
        around = list(self._stems_around(value, values))
        by_name = max((near * one.name.get(word, 0.0) for word, near in around), default=0.0)
        by_about = max((near * one.about.get(word, 0.0) for word, near in around), default=0.0)
        return _NAME * by_name + _ABOUT * by_about

    def _stems_around(self, value: Value, values: Sequence[Value]) -> Iterator[tuple[str, float]]:
        """Stems around a value, nearer ones weighing more: none of another sentence or value."""
        tokens, reach, first = self._tokens, 0, value.first
        apart = [v for v in values if v.form in _APART]
        for other in reversed(apart):  # base and height of 6 and 10
            if other.last < first and _JOINS.issuperset(tokens.words[other.last : first]):
                first = other.first
        low = max((v.last for v in apart if v.last <= first), default=0)
        for index in range(first - 1, low - 1, -1):
            word = tokens.words[index]
            if reach >= _REACH or (word in _STOPS and not tokens.glued(index + 1)):
                break
            yield self._stems[index], 1 - 0.15 * reach
            reach += word not in FILLERS
        for reach, index in enumerate(range(value.last, min(value.last + 3, len(tokens)))):
            word = tokens.words[index]
            if word in _STOPS or word in _JOINS or word in _LEADS["from"] | _LEADS["to"]:
                break
            yield self._stems[index], 1 - 0.3 * reach

    def _lead_points(self, one: ParameterHints, value: Value) -> float:
        at = value.first - 1
        while self._tokens.word(at) in _ARTICLES:
            at -= 1
        lead = self._tokens.word(at)
        points = _LEAD * sum(lead in _LEADS[topic] for topic in one.topics & _LEADING)
        if ("from" in one.topics and lead == "to") or ("to" in one.topics and lead == "from"):
            points -= _LEAD
        if value.form == "name" and "place" not in one.topics and lead in ("in", "at", "near"):
            points -= _FORM
        return points

    def choices(self) -> None:
        """Find values of an enum whose telling words the question has in another form."""
        tokens = self._tokens
        for one in self.open("choice", "choices"):
            values = one.plan.parameter.enum or (one.plan.parameter.items or {}).get("enum", ())
            found = [
                (places, value) for value in values if (places := self._stem_places(str(value)))
            ]
            single = one.plan.role == "choice"
            if not found or (single and len(found) > 1):
                continue
            found.sort(key=lambda pair: pair[0])
            value = found[0][1] if single else [v for _, v in found]
            first, last = found[0][0][0], found[-1][0][-1] + 1
            self._keep_only(one, first, last, value)
            for at in {at for places, _ in found for at in places}:
                if self._slots.taken.has_room(tokens, at, at + 1):
                    self._slots.taken.add(tokens.starts[at], tokens.ends[at])

    def _stem_places(self, text: str) -> list[int]:
        """Return where all the telling words of a text stand; empty when one is lacking."""
        words = text.lower().replace("_", " ").replace("-", " ").split()
        wanted = [stem(word) for word in words if word not in _FUNCTION_WORDS]
        places = [self._stems.index(word) for word in wanted if word in self._stems]
        return sorted(places) if len(places) == len(wanted) else []

    def flags(self) -> None:
        """Yes where the question speaks of what a parameter is called, no where it denies it."""
        for one in self.open("boolean"):
            places = [self._stems.index(word) for word in one.name if word in self._stems]
            if places and len(places) == len(one.name):
                at = min(places)
                before = self._tokens.words[max(0, at - 3) : at]
                self._keep_only(one, at, at + 1, _NEGATIONS.isdisjoint(before))

    def _keep_only(self, one: ParameterHints, first: int, last: int, value: Any) -> None:
        """Keep a value without taking its words, which may say something else besides."""
        self._slots.found[one.plan.key] = from_words(self._tokens, first, last, value)

    def dates(self) -> None:
        """Write the dates that were found as their descriptions want them."""
        for key, found in self._slots.found.items():
            one = self._schema.parameters[key]
            if one.date_format and one.plan.role == "date" and found.kind == "recognizer":
                day = date.fromisoformat(found.value[:10])
                self._slots.found[key] = found._replace(value=day.strftime(one.date_format))

    def amounts(self) -> list[Value]:
        """The free numbers and spans of time of the question, in order."""
        reading = self._reading
        found = {span.start: _amount(reading.clean, span) for span in reading.of("number")}
        for span in reading.of("duration"):
            found.setdefault(span.start, Value(*span[1:5], span.value, "number", "duration"))
        free = self._slots.taken.is_free
        return [found[start] for start in sorted(found) if free(start, found[start].end)]

    def _as_number(self, one: ParameterHints, value: Value) -> Fit:
        if is_other_end(one.plan, Candidate(*value[:4], None), self._reading):
            return None
        if (
            one.plan.name.unit or one.plan.looks_back
        ):  # as other templates read it too: -3 for 3 days ago
            read = self._slots.candidates_of(one.plan)
            same = [r.value for r in read if r.start == value.start and not r.problem]
            fit = (_UNIT if value.unit else 0.0, same[0]) if same else None
        else:
            fit = _as_amount(one, value)
        if fit is not None and self._is_spelt(value) and "limit" not in one.topics:
            return fit[0] - _FORM, fit[1]
        return fit

    def _is_spelt(self, value: Value) -> bool:
        if any(map(str.isdigit, self._reading.clean[value.start : value.end])):
            return False
        return isinstance(value.value, Duration) or value.value in range(13)

    def leave_aside(self) -> None:
        """Take small numbers in words that no parameter took, and digits of units and shapes."""
        tokens = self._tokens
        counts = any("limit" in one.topics for one in self.open(*NUMERIC))
        for one in self.amounts():
            before = tokens.glued(one.first) and tokens.words[one.first - 1] in ("^", "x", "×")
            after = tokens.glued(one.last) and tokens.words[one.last] in ("^", "x", "×")
            if before or after or (self._is_spelt(one) and not counts):
                self._slots.taken.add(one.start, one.end)

    def texts(self) -> list[Value]:
        """Quotes, codes, names, options and words beside a name, and lists of them."""
        wanted = self.open("text", "strings")
        found: dict[tuple[int, int], Value] = {}
        for value in islice(self._all_texts(wanted), _MOST_TEXTS) if wanted else ():
            codes = [known for known in found.values() if known.form == "code"]
            torn = any(code.start <= value.start and value.end <= code.end for code in codes)
            if not torn and self._slots.taken.is_free(value.start, value.end):
                found.setdefault((value.start, value.end), value)
        texts = sorted(found.values(), key=lambda one: (one.start, -one.end))
        return [*texts, *self._text_lists(texts)]

    def _all_texts(self, wanted: Sequence[ParameterHints]) -> Iterator[Value]:
        tokens, clean = self._tokens, self._reading.clean
        for span in self._reading.of("quoted"):
            inner = (span.start + 1, span.end - 1, span.first, span.last)
            yield Value(*inner, span.value, "quote")
        for match in _RUN.finditer(clean):
            word = match.group().strip(".:’`*")
            start = match.start() + match.group().index(word)
            first, end = tokens.index_at(start), start + len(word)
            if not _CODE_SIGNS.isdisjoint(word) and first not in self._reading.moments:
                yield Value(start, end, first, tokens.index_at(end - 1) + 1, word, "code")
        for one in wanted:
            for phrase in one.options.find(tokens) if one.options else ():
                yield self._words_between(phrase.first, phrase.last, "option")
        names = []
        for first, last in capital_runs(self._reading, self._slots.taken):
            while first > 1 and clean[tokens.starts[first - 1]].isupper():
                first -= 1  # The Weeknd
            names.append((first, last))
        yield from (self._words_between(first, last, "name") for first, last in names)
        for (first, last), (after, end) in pairwise(names):
            if tokens.words[last:after] == [","]:
                yield self._words_between(first, end, "place")
        named = {index for name in names for index in range(*name)}
        for one in wanted:
            yield from self._before_name(one, named)

    def _words_between(self, first: int, last: int, form: str) -> Value:
        start, end = self._tokens.starts[first], self._tokens.ends[last - 1]
        return Value(start, end, first, last, self._reading.text[start:end], form)

    def _before_name(self, one: ParameterHints, named: Set[int]) -> Iterator[Value]:
        """Free words before the name of a parameter: jazz concerts, a gas-fueled car."""
        for index, said in enumerate(self._stems):
            if one.name.get(said, 0.0) < 0.5 or index in named:
                continue
            first = last = index - (self._tokens.word(index - 1) == "-")
            while last - first < 3 and self._could_modify(first - 1):
                first -= 1
            if 0 < first < last and named.isdisjoint(range(first, last)):
                yield self._words_between(first, last, "words")

    def _could_modify(self, index: int) -> bool:
        word = self._tokens.word(index)
        known = self._schema.vocabulary
        return is_word(word) and word not in _FUNCTION_WORDS and self._stems[index] not in known

    def _text_lists(self, texts: Sequence[Value]) -> list[Value]:
        """Texts of one form with commas or an "and" between: red, green and blue."""
        found: list[Value] = []
        inside: set[int] = set()
        for at, value in enumerate(texts):
            members = [value]
            for place, other in enumerate(texts[at + 1 :], at + 1):
                between = set(self._tokens.words[members[-1].last : other.first])
                if other.form == value.form and between & _JOINS and between <= _JOINS | _ARTICLES:
                    members.append(other)
                    inside.add(place)
            if at not in inside:
                end, last = members[-1].end, members[-1].last
                found.append(Value(value.start, end, value.first, last, members, "list"))
        return found

    def _as_text(self, one: ParameterHints, value: Value) -> Fit:
        words = frozenset(one.plan.name.words)
        known, option = one.options.lookup(str(value.value)) if one.options else (False, None)
        if known and one.topics & {"from", "to"} and is_digits(self._tokens.word(value.first - 1)):
            return (_OPTION + _LEAD, option) if "from" in one.topics else None  # 2 cups to litres
        if known or value.form == "option":
            return (_OPTION, option) if known else None
        points = -2.0 if one.closed and one.options else 0.0
        if value.form == "quote":
            return points + 2.0, value.value
        if value.form == "code":
            coded = bool(words & _CODED)
            if value.value.isdigit() and not coded:
                return None
            return points + (_LEAD if coded else -1.0), value.value
        stems = frozenset(self._stems[value.first : value.last])
        if stems <= self._schema.vocabulary:
            return None
        if value.form == "words":
            return points - 0.5, value.value
        modifies = value.last < len(self._stems) and self._stems[value.last] in one.name
        if words & {"type", "kind"} and not modifies:
            return None  # a type is no name, unless it stands before: Thai food
        points += _FORM + _FORM * max((one.name.get(word, 0.0) for word in stems), default=0.0)
        if value.form == "place":  # Rome, Italy
            places = [other for other in self.open("text") if "place" in other.topics]
            points += _FORM if places == [one] else -2.0
        return points, value.value


def _amount(text: str, span: Span) -> Value:
    value: Any = span.value
    written = text[span.start : span.end]
    if written[-1] in "mK" and written[-2:-1].isdigit() and not span.unit:
        # 1.75m is no million where metres are wanted; what takes it decides.
        value = (value, read_plain(written[:-1].replace(",", "")))
        return Value(*span[1:5], value, "number", unit_after(text, span.end - 1))
    named = {"%": "percent", "USD": "dollar", "EUR": "euro", "-": ""}
    unit = named.get(span.unit, span.unit) or unit_after(text, span.end)
    return Value(*span[1:5], value, "number", unit)


def _as_amount(one: ParameterHints, value: Value) -> Fit:
    given, unit, wanted = value.value, value.unit, one.units
    points = _UNIT if unit in wanted else 0.0
    if isinstance(given, tuple):
        given, unit = (given[1], unit) if unit in wanted else (given[0], "")
    if unit and wanted and unit not in wanted:
        return None
    if unit == "percent" and not wanted and one.fraction:
        given = Decimal(str(given)) / 100
    try:
        return points, one.plan.checker.numeric(number(given))
    except InvalidValue:
        return None
