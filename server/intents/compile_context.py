"""What is shared while one pack is compiled: its reader, patterns, phrases and problems."""

from collections.abc import Sequence

from server.errors import Problem
from server.intents.dates import date_rules
from server.intents.language import Languages, ordinals
from server.intents.numbers import GROUP as NUMBERS
from server.intents.patterns import (
    PackPattern,
    PatternInvalid,
    PatternSet,
    compile_bytes,
    without_groups,
)
from server.intents.phrases import MASK, PhraseEntry, PhraseIndex
from server.intents.rules import KEYWORDS, Conditions, Trigger
from server.intents.spec import Circumstances, PackSpec, TriggerSpec
from server.settings.documents import Document, Keys


class CompileContext:
    """Takes the parts of a specification and gives back what they compile to."""

    def __init__(self, document: Document, spec: PackSpec, languages: Languages) -> None:
        self.document, self.spec, self.languages = document, spec, languages
        self.problems: list[Problem] = []
        self.reader = languages.reader()
        self.patterns = PatternSet(
            self.reader.fold_pattern, {**languages.definitions, **spec.define}
        )
        self.phrases = PhraseIndex(languages.prefixes, apart=frozenset({NUMBERS, MASK}))
        self.ordinals = ordinals(languages, self.reader)
        self.dates, problems = date_rules(languages.files, self.reader, self.patterns)
        self.problems += problems
        for word, meaning in languages.number_words.items():
            self.phrases.add(self.reader.words(word), PhraseEntry(NUMBERS, meaning))
        self._triggers = 0

    def complain(self, kind: str, what: str, keys: Keys) -> None:
        self.problems.append(Problem(what, self.document.where(keys), kind))

    def pattern(self, source: str, keys: Keys) -> PackPattern | None:
        try:
            return self.patterns.add(source)
        except PatternInvalid as invalid:
            self.complain("bad-pattern", f"pattern {source!r}: {invalid}", keys)
            return None

    def any_of(self, sources: Sequence[str], keys: Keys) -> PackPattern | None:
        """One pattern for what any of `sources` matches; it captures nothing."""
        good: list[str] = []
        for at, source in enumerate(sources):
            try:
                expanded = self.patterns.expand(source)
                compile_bytes(expanded.encode())
            except PatternInvalid as invalid:
                self.complain("bad-pattern", f"pattern {source!r}: {invalid}", (*keys, at))
            else:
                good.append(without_groups(expanded))
        return self.patterns.add_expanded("|".join(good)) if good else None

    def phrase(self, text: str, entry: PhraseEntry, keys: Keys) -> None:
        words = self.reader.words(text)
        if words:
            self.phrases.add(words, entry)
        else:
            self.complain("empty-phrase", f"{text!r} has no word in it", keys)

    def trigger(self, spec: TriggerSpec, keys: Keys) -> Trigger:
        self._triggers += 1
        number = self._triggers
        for at, keyword in enumerate(spec.keywords):
            entry = PhraseEntry(KEYWORDS, number, at, keyword, spec.prefixes)
            self.phrase(keyword, entry, (*keys, "keywords", at))
        for at, opening in enumerate(spec.openings):
            entry = PhraseEntry(KEYWORDS, -number, at, opening, spec.prefixes)
            self.phrase(opening, entry, (*keys, "openings", at))
        for at, phrase in enumerate(spec.not_in):
            self.phrase(phrase, PhraseEntry(MASK, abs(number), at, phrase), (*keys, "not_in", at))
        return Trigger(
            number,
            has_keywords=bool(spec.keywords or spec.openings),
            patterns={
                pattern.number: source
                for at, source in enumerate(spec.patterns)
                if (pattern := self.pattern(source, (*keys, "patterns", at))) is not None
            },
            yields_to=frozenset(spec.yields_to),
        )

    def conditions(self, spec: Circumstances, keys: Keys) -> Conditions | None:
        if not spec.model_fields_set:
            return None
        has_trigger = spec.keywords or spec.patterns
        as_trigger = TriggerSpec(keywords=spec.keywords, patterns=spec.patterns)
        return Conditions(
            self.trigger(as_trigger, keys) if has_trigger else None,
            any_entity=frozenset(spec.any_entity),
            all_entities=frozenset(spec.all_entities),
            out_of_range=frozenset(spec.out_of_range),
            operations=frozenset(spec.operations),
            fewer_words_than=spec.fewer_words_than,
            more_words_than=spec.more_words_than,
        )
