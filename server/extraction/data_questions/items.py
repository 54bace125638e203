"""The parts of a question: phrases with what they may mean, numbers, stretches of days."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from typing import Any, Final, Literal, NamedTuple

from server.extraction.data_questions.lexicon import DataLexicon
from server.extraction.data_questions.meanings import Meanings
from server.extraction.data_questions.phrases import phrase_of
from server.text.durations import Duration
from server.text.parsed_text import ParsedText
from server.text.periods import SpokenPeriod, find_periods
from server.text.stems import singular, without_accents
from server.text.tokens import Span

ItemKind = Literal["phrase", "number", "money", "percent", "duration", "period", "unknown"]
ItemRole = Literal["", "value", "frame", "operator"]

_EMPTY: Final = Meanings()
_END_OF_CLAUSE: Final = re.compile(r"[.?!:;](\s|$)|\n|\s[-–—]\s")
_FILLERS: Final = frozenset({"frames", "joins"})
_SHORT: Final = 2
"""So many letters of a word that is hardly meant as a value."""
_FIRST_YEAR: Final = 1900
_DIGITS_OF_A_YEAR: Final = 4
_COUNTING: Final = (
    "more", "less", "at_least", "at_most", "between", "tops", "or_more", "or_less",
)  # fmt: skip
"""What stands before a number that is no year."""


@dataclass(slots=True)
class Item:
    """Some words of a question. `role` says as what the query has them, if it has."""

    kind: ItemKind
    first: int
    last: int
    """Words from `first` up to `last`, counted without signs."""
    start: int
    end: int
    """Characters of the question."""
    said: str
    meanings: Meanings = field(default_factory=lambda: _EMPTY)
    value: Any = None
    capital: bool = False
    place: int = 0
    """Which item of the question it is."""
    clause: int = 0
    """Which of the parts of the question that full stops and colons tell apart it stands in."""
    role: ItemRole = ""

    def has(self, *tags: str) -> bool:
        """Whether its phrase is in one of these lists of the language."""
        return not self.meanings.tags.isdisjoint(tags)

    @property
    def spoken(self) -> str:
        """What was said, without capitals."""
        return self.said.lower()

    @property
    def first_word(self) -> str:
        return self.spoken.split(" ", 1)[0]

    @property
    def last_word(self) -> str:
        return self.spoken.rpartition(" ")[2]

    @property
    def is_amount(self) -> bool:
        """Whether something may be compared with it."""
        return self.kind in ("number", "money", "percent", "duration")

    @property
    def is_end(self) -> bool:
        """Whether it is one end of what a column holds: longest."""
        ends = any(not degree.compares for degree in self.meanings.degrees)
        return ends and not self.has("adjective")

    @property
    def names_table(self) -> bool:
        """Whether it names a table, by itself or as what a link leads to."""
        return bool(self.meanings.nouns or self.meanings.roles)

    @property
    def is_filler(self) -> bool:
        """Whether it says nothing of what is asked, whatever stands around it."""
        tags = self.meanings.tags
        fills = self.kind == "phrase" and bool(tags) and tags <= _FILLERS
        return fills and not self.meanings.is_of_data

    @property
    def may_be_filler(self) -> bool:
        """Whether it says nothing of what is asked, where nothing around it makes it."""
        return self.kind == "phrase" and self.has(*_FILLERS) and not self._names_column

    @property
    def _names_column(self) -> bool:
        """Whether it is a column, where it is no filler but for verbs: stock."""
        return bool(self.meanings.columns) and not self.has("frames")


class _Special(NamedTuple):
    """What reads as something else than a phrase, up to a word."""

    last: int
    kind: ItemKind
    value: Any


def items_of(reading: ParsedText, lexicon: DataLexicon) -> list[Item]:
    """Cut a question into its parts, the longest phrase first."""
    cut = _Cut(reading, lexicon)
    currencies = {at for span in reading.of("currency") for at in range(span.first, span.last)}
    items: list[Item] = []
    for item in cut.parts():
        if item.kind == "number" and _is_year(item, items, reading, lexicon):
            item.kind, item.value = "period", _year(item)
        is_cents = item.kind == "unknown" and item.spoken in lexicon.words.hundredths
        if is_cents and items and items[-1].kind == "number":
            items[-1].value = round(float(items[-1].value) / 100, 2)
        is_sign = is_cents or (item.kind == "unknown" and cut.tokens[item.first] in currencies)
        if is_sign and items and items[-1].is_amount:
            items[-1].kind, items[-1].end, items[-1].last = "money", item.end, item.last
        else:
            if is_sign and items and items[-1].spoken in lexicon.words.articles:
                item.kind, item.value = "money", 0.01 if is_cents else 1  # more than a dollar
            item.place = len(items)
            items.append(item)
    _tell_clauses(items, reading.text, lexicon)
    _tell_remarks(items, reading.text, lexicon)
    for item in items:
        if item.spoken in lexicon.words.imperatives and not _begins(items, item):
            item.meanings = replace(item.meanings, tags=item.meanings.tags - {"frames"})
    for before, item in pairwise(items):
        _tell_small(before, item, lexicon)
    for at, item in enumerate(items):
        if at > 1 and _is_name_as_verb(items[:at], item, lexicon):
            item.kind, item.meanings = "unknown", _EMPTY
        if item.meanings.nouns and item.meanings.done and _is_verb(items[:at], item, lexicon):
            done = dict.fromkeys((*(n.table for n in item.meanings.nouns), *item.meanings.done))
            item.meanings = replace(item.meanings, nouns=[], done=[*done], plural=False)
    return items


def _tell_small(before: Item, item: Item, lexicon: DataLexicon) -> None:
    """On our books says nothing of what is asked; how many sales there were is no money."""
    words = lexicon.words
    whole = lexicon.of((before.last_word, *phrase_of(item.said))) if item.has("who") else None
    if whole is not None and whole.nouns:
        item.meanings = whole  # each of our people
    kept = before.is_filler or (before.names_table and not before.meanings.plural)
    if item.kind == "unknown" and kept and item.spoken in words.containers:
        item.kind, item.meanings = "phrase", Meanings(tags={"frames"})
    if item.spoken in words.particles and before.meanings.done and not before.names_table:
        item.meanings = Meanings(tags={"frames"})  # which day did we rent out the most
    sold = before.has("counts", "last", "first") or before.kind == "number"
    if sold and item.spoken in words.sales and lexicon.sale is not None:
        plural = item.spoken != singular(item.spoken)
        item.kind, item.meanings = "phrase", Meanings(nouns=[lexicon.sale], plural=plural)


def _tell_clauses(items: Sequence[Item], text: str, lexicon: DataLexicon) -> None:
    for before, item in pairwise(items):
        gap = text[before.end : item.start]
        ends = _END_OF_CLAUSE.search(gap) is not None
        ends |= "," in gap and item.first_word in lexicon.words.tails  # …, with the customer
        item.clause = before.clause + ends


def _tell_remarks(items: Sequence[Item], text: str, lexicon: DataLexicon) -> None:
    """What is only told beside the question: she left her umbrella here.

    The names in “somebody lost it, what does it cost?” are kept: the question is about them.
    """
    parts: list[list[Item]] = []
    for at, item in enumerate(items):
        gap = text[items[at - 1].end : item.start] if at else ","
        if at == 0 or "," in gap or _END_OF_CLAUSE.search(gap) is not None:
            parts.append([])
        parts[-1].append(item)
    words = lexicon.words
    for at, part in enumerate(parts if len(parts) > 1 else []):
        unknown = any(item.kind == "unknown" for item in part)
        after = parts[at + 1] if at + 1 < len(parts) else []
        asked = bool(after) and after[0].first_word in words.asking
        purpose = asked and text[part[0].start :].lower().startswith(words.purposes)
        if purpose and not any(item.meanings.values for item in part):
            unknown = True  # I have to place orders: which products …
        elif part[0].first_word not in words.remark_starts or not unknown:
            continue
        if any(item.kind not in ("phrase", "unknown") for item in part):
            continue
        named = any(item.meanings.values or item.meanings.nouns for item in part)
        refers = any(item.spoken in words.references for item in after)
        if named and not (purpose or (asked and refers)):
            continue
        for item in part:
            if not item.meanings.values:
                item.kind, item.meanings = "phrase", Meanings(tags={"frames"})


def _begins(items: Sequence[Item], item: Item) -> bool:
    """Whether nothing of what is asked for stands before in its clause: return all orders."""
    return all(other.is_filler for other in items[: item.place] if other.clause == item.clause)


def _is_verb(before: Sequence[Item], item: Item, lexicon: DataLexicon) -> bool:
    """Whether a noun is a verb here, after who did it: what did QUICK-Stop order."""
    if not before or before[-1].spoken in lexicon.words.articles or item.last - item.first > 1:
        return False
    did = [
        i for i in before if i.first_word in lexicon.words.did or i.last_word in lexicon.words.did
    ]
    doer = before[-1].meanings.values or before[-1].is_filler
    return bool(did) and bool(doer) and not item.meanings.plural and before[-1] is not did[-1]


def _is_name_as_verb(before: Sequence[Item], item: Item, lexicon: DataLexicon) -> bool:
    """Whether a word in small letters is a verb and no name: which albums did Queen release."""
    named = bool(item.meanings.values) and not item.meanings.nouns and item.last - item.first == 1
    if not named or not item.said.islower() or not before[-1].meanings.values:
        return False
    return any(other.last_word in lexicon.words.did for other in before[:-1])


class _Cut:
    """The words of a question without signs, and the longest part that begins at each."""

    def __init__(self, reading: ParsedText, lexicon: DataLexicon) -> None:
        self._reading, self._lexicon = reading, lexicon
        written = reading.tokens.words
        self.tokens = [at for at, word in enumerate(written) if any(map(str.isalnum, word))]
        """The tokens that the words are."""
        self.words = [without_accents(written[at]) for at in self.tokens]
        self._special = _special(reading, {token: at for at, token in enumerate(self.tokens)})

    def parts(self) -> Sequence[Item]:
        """The longest parts one after the other, or others where those leave words unknown."""
        longest: list[Item] = []
        while not longest or longest[-1].last < len(self.words):
            if not self.words:
                return ()
            longest.append(self.item(longest[-1].last if longest else 0))
        unknown = sum(item.kind == "unknown" for item in longest)
        if not unknown:
            return longest
        others = self._fewest_unknown()
        return others if sum(item.kind == "unknown" for item in others) < unknown else longest

    def _fewest_unknown(self) -> Sequence[Item]:
        """The parts that leave the fewest words unknown, and of those the fewest parts."""
        best: dict[int, tuple[int, int, list[Item]]] = {len(self.words): (0, 0, [])}
        for at in reversed(range(len(self.words))):
            parts: list[tuple[int, int, list[Item]]] = []
            most = len(self.words) - at
            while most > 0:
                item = self.item(at, most)
                unknown, count, rest = best[item.last]
                parts.append((unknown + (item.kind == "unknown"), count + 1, [item, *rest]))
                most = min(most, item.last - at) - 1
            best[at] = min(parts, key=lambda part: part[:2])
        return best[0][2]

    def item(self, at: int, most: int | None = None) -> Item:
        """The longest part from a word on, of `most` words at most."""
        words = self.words if most is None else self.words[: at + most]
        size, meanings = self._lexicon.at(words, at) or (0, _EMPTY)
        if size > 1 and not meanings.is_of_data and self._hides(words, at, size):
            size, meanings = 1, self._lexicon.of(words[at : at + 1]) or _EMPTY  # the last name
        if size > 1 and not meanings.nouns and self._is_numbered(at + size):
            size -= 1  # on order 10300: the order, and not what is on order
            meanings = self._lexicon.of(self.words[at : at + size]) or _EMPTY
        if size > 1 and meanings.values and self._is_torn(at, size):
            size, meanings = 1, self._lexicon.of(words[at : at + 1]) or _EMPTY  # lost Bonnie Rock
        kind: ItemKind = "phrase" if size else "unknown"
        value = None
        special = self._special.get(at)
        if special is not None and at + size <= special.last <= len(words):
            size, meanings = special.last - at, _EMPTY
            kind, value = special.kind, special.value
        size = max(size, 1)
        tokens = self._reading.tokens
        start = tokens.starts[self.tokens[at]]
        end = tokens.ends[self.tokens[at + size - 1]]
        said = self._reading.text[start:end]
        capital = said[:1].isupper() and at > 0
        if meanings.values and size == 1:
            meanings = self._single(at, said, meanings, capital=capital)
            if not meanings.tags and not meanings.is_of_data:
                kind = "unknown"
        is_initials = said.isupper() and said.lower() in self._lexicon.words.initials
        if is_initials and not meanings.is_of_data and not self._reading.text.isupper():
            kind = "unknown"  # IT people
        return Item(kind, at, at + size, start, end, said, meanings, value, capital)

    def _hides(self, words: Sequence[str], at: int, size: int) -> bool:
        """Whether what is told of data begins within a part and goes on beyond it."""
        first, after = self._lexicon.of(words[at : at + 1]), self._lexicon.at(words, at + 1)
        if first is None or after is None or not {*first.tags} <= _FILLERS:
            return False
        return 1 + after[0] > size and after[1].is_of_data

    def _is_torn(self, at: int, size: int) -> bool:
        """Whether what may be a name begins in small letters and goes on in capitals."""
        tokens, places = self._reading.tokens, self.tokens[at : at + size]
        said = [tokens.slice(place, place + 1) for place in places]
        known = self._lexicon.of(self.words[at : at + 1])
        small = known is not None and bool(known.tags)
        capital = any(word[:1].isupper() for word in said[1:])
        return said[0].islower() and said[0].isalpha() and capital and not small

    def _is_numbered(self, end: int) -> bool:
        """Whether the word before is a noun whose number follows."""
        known = self._lexicon.of(self.words[end - 1 : end])
        numbered = end < len(self.words) and self.words[end].isdigit()
        return numbered and known is not None and bool(known.nouns)

    def _single(self, at: int, said: str, known: Meanings, *, capital: bool) -> Meanings:
        """What one word means that may be a value: “us” is no country, and US is one."""
        rated = self._is_rated(at)
        written = said.isupper() and (len(said) > 1 or rated)
        is_lead = at == 0 and known.tags == {"frames"} and self._leads_to_noun(at)
        if known.tags and (written or is_lead):
            return Meanings(values=known.values)
        if "frames" in known.tags:
            known = replace(known, values=[])
        if not (capital or written or self._leads_to_thing(at) or self._is_predicate(at)):
            known = replace(known, values=[v for v in known.values if not (v.part and v.kind)])
        if known.values and not (capital or written):
            return _without_doubtful(known, short=len(self.words[at]) <= _SHORT and not rated)
        return known

    def _is_predicate(self, at: int) -> bool:
        """Whether it tells what something is: which of our tracks are videos."""
        before = self.words[at - 1] if at else ""
        return before in self._lexicon.words.plural_verbs and at + 1 == len(self.words)

    def _leads_to_thing(self, at: int) -> bool:
        """Whether a noun follows: video tracks."""
        after = self._lexicon.at(self.words, at + 1)
        return after is not None and bool(after[1].nouns)

    def _leads_to_noun(self, at: int) -> bool:
        """Whether a noun follows: us customers."""
        after = self._lexicon.of(self.words[at + 1 : at + 2])
        return after is not None and bool(after.nouns) and after.plural

    def _is_rated(self, at: int) -> bool:
        """Whether a letter is a value by what follows: G rated."""
        return at + 1 < len(self.words) and self.words[at + 1] in self._lexicon.words.rated


def _without_doubtful(known: Meanings, *, short: bool) -> Meanings:
    """The meanings without values that one small word is hardly meant as: a, go, best."""
    other = bool(known.nouns or known.columns or known.done or known.dates)
    short = short and bool(known.tags or other)
    kept = (value for value in known.values if value.kind or not value.part)
    whole = [value for value in kept if not short]
    if known.tags:
        whole = []
    elif other:
        whole = [value for value in whole if len(value.columns) == 1]
    return replace(known, values=whole)


def _special(reading: ParsedText, at_token: Mapping[int, int]) -> dict[int, _Special]:
    """What reads as a number, a length of time or a stretch of days, by its first word."""
    found: dict[int, _Special] = {}

    def add(first: int, last: int, kind: ItemKind, value: Any) -> None:
        inside = [at_token[token] for token in range(first, last) if token in at_token]
        if inside and (inside[0] not in found or found[inside[0]].last < inside[-1] + 1):
            found[inside[0]] = _Special(inside[-1] + 1, kind, value)

    for span in _numbers(reading):
        kind: ItemKind = "percent" if span.unit == "%" else "money" if span.unit else "number"
        add(span.first, span.last, kind, span.value)
    for span in reading.of("duration"):
        if isinstance(span.value, Duration):
            add(span.first, span.last, "duration", span.value)
    for period in find_periods(reading):
        add(period.first, period.last, "period", period)
    return found


def _numbers(reading: ParsedText) -> Iterator[Span]:
    for span in reading.of("number"):
        if not span.weak or span.unit:
            yield span


def _is_year(item: Item, before: Sequence[Item], reading: ParsedText, lexicon: DataLexicon) -> bool:
    """Whether a number is a year that the stretches of days do not have: sales in 2025."""
    year = item.value
    near = isinstance(year, int) and _FIRST_YEAR <= year <= reading.today.year + 1
    if not near or len(item.said) != _DIGITS_OF_A_YEAR:
        return False
    said = [i for i in before if not i.is_filler]
    named = bool(said) and (bool(said[-1].meanings.nouns) or said[-1].has(*_COUNTING))
    return not named or before[-1].last_word in lexicon.words.year_leads


def _year(item: Item) -> SpokenPeriod:
    first, last = date(item.value, 1, 1), date(item.value, 12, 31)
    return SpokenPeriod(item.first, item.last, first, last, "within", None, is_days=False)
