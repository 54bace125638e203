"""Entities that are free text: what stands after a marker, up to a stop."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from server.intents.entities import Found
from server.intents.patterns import Pattern
from server.intents.reading import Reading
from server.intents.text import Reader, starts_of


@dataclass(frozen=True, slots=True)
class Marker:
    """Where text begins: at the end of the pattern's first group, or of all of it.

    `known` takes listed values only.
    """

    pattern: Pattern
    known: bool = False


@dataclass(frozen=True, slots=True)
class TextKind:
    """`group` has the phrases of its values. `values` maps folded words to the value they
    stand for; other text stays as it is.

    `edges` are words that do not begin or end a value, and `reject` whole texts that
    are none ("this"); none begins with a word of `reject_first`.
    """

    group: str
    reader: Reader
    after: tuple[Marker, ...]
    until: Pattern | None = None
    values: Mapping[str, str] = field(default_factory=dict)
    reject: frozenset[str] = frozenset()
    reject_first: frozenset[str] = frozenset()
    edges: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    longest_prefix: int = 0
    max_words: int = 6

    def read(self, reading: Reading) -> Found | None:
        matching, names_value = reading.matching, self.group in reading.hits
        for marker in self.after:
            pattern = marker.pattern
            if pattern.number not in matching or (marker.known and not names_value):
                continue
            spans = pattern.search(reading.data)
            if spans is None:
                continue
            here = spans[pattern.inner][1]
            start = reading.character(here)
            found = (
                self._known(reading, start) if marker.known else self._free(reading, start, here)
            )
            if found is not None:
                return found
        return None

    def _known(self, reading: Reading, start: int) -> Found | None:
        """The longest listed value that begins at `start`."""
        best: Found | None = None
        for hit in reading.hits.get(self.group, ()):
            span = reading.text.span(hit.first, hit.last)
            longer = best is None or span[1] > best.spans[0][1]
            if span[0] + hit.prefix == start and longer and reading.free_hit(hit):
                best = Found(hit.entry.key, (span,))
        return best

    def _free(self, reading: Reading, start: int, start_byte: int) -> Found | None:
        end = self._end(reading, start, start_byte)
        text = reading.text
        words = self.reader.words_in(text, start, end)[: self.max_words]
        first, last = 0, len(words)
        while first < last and words[first] in self.edges:
            first += 1
        while first < last and (words[last - 1] in self.edges or words[last - 1] in self.prefixes):
            last -= 1
        folded = " ".join(words[first:last])
        if not folded or folded in self.reject or words[first] in self.reject_first:
            return None
        starts = starts_of(words[:last], text.folded, start)
        begin, finish = starts[first], starts[-1] + len(words[last - 1])
        value = self._listed(folded) or self.reader.polish(text.clean[begin:finish])
        return Found(value, ((begin, finish),))

    def _end(self, reading: Reading, start: int, start_byte: int) -> int:
        end = len(reading.text.clean)
        for claim in reading.claims:
            if start <= claim.start < end:
                end = claim.start
        if self.until is not None and self.until.number in reading.matching:
            stop = self.until.search(reading.data, start_byte)
            if stop is not None:
                end = min(end, reading.character(stop[0][0]))
        return end

    def _listed(self, folded: str) -> str | None:
        """The value of listed words, also behind letters that are attached to them."""
        if folded in self.values:
            return self.values[folded]
        for length in range(1, self.longest_prefix + 1):
            if folded[:length] in self.prefixes and folded[length:] in self.values:
                return self.values[folded[length:]]
        return None
