"""A pack as it is written to a compiled pack, with every problem at its line."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from server.errors import Problem
from server.intents import entities as readers
from server.intents import spec as specs
from server.intents.clauses import ClauseReader
from server.intents.dates import date_rules
from server.intents.language import (
    Languages,
    all_words,
    clause_languages,
    number_rules,
    ordinals,
    read_languages,
    small_words,
)
from server.intents.numbers import GROUP as NUMBERS
from server.intents.pack import (
    Conditions,
    LoadedPack,
    Pack,
    PackIntent,
    PackOperation,
    PackOperations,
    Route,
    Rule,
    Trigger,
)
from server.intents.patterns import PackPattern, PatternInvalid, PatternSet
from server.intents.phrases import KEYWORDS, MASK, PhraseEntry, PhraseIndex
from server.intents.question_state import Fired
from server.intents.spelling import Spelling
from server.intents.validation import pack_problems
from server.intents.vocabulary import Vocabulary
from server.settings.documents import Document, Keys, read_yaml
from server.settings.validation import validate


def load_pack(path: Path, environ: Mapping[str, str]) -> LoadedPack:
    """Read and compile a pack: `path` is its file, or the folder that holds `pack.yaml`.

    Never raises for what stands in files: all problems come back together.
    """
    file = path / "pack.yaml" if path.is_dir() else path
    document = read_yaml(file, environ)
    if not document.readable:
        return LoadedPack(None, document.problems)
    spec, invalid = validate(specs.PackSpec, document)
    if spec is None:
        return LoadedPack(None, (*document.problems, *invalid))
    languages, missing = read_languages(spec.languages, file.parent, environ)
    compiler = _Compiler(document, spec, languages)
    for at, why in missing:
        compiler.add_problem("not-found", f"{spec.languages[at]!r}: {why}", ("languages", at))
    pack, wrong = compiler.compile(), pack_problems(document, spec)
    problems = (*document.problems, *languages.problems, *compiler.problems, *wrong)
    broken = any(problem.severity == "error" for problem in problems)
    return LoadedPack(None if broken else pack, problems)


_SAFE_LENGTH: Final = 7


class _Compiler:
    """Turns the parts of a specification into what they compile to, and collects problems."""

    def __init__(self, document: Document, spec: specs.PackSpec, languages: Languages) -> None:
        self._document, self._spec, self._languages = document, spec, languages
        self.problems: list[Problem] = []
        self._normalizer = languages.reader()
        definitions = {**languages.definitions, **spec.define}
        self._patterns = PatternSet(self._normalizer.fold_pattern, definitions)
        self._phrases = PhraseIndex(languages.prefixes, apart=frozenset({NUMBERS, MASK}))
        self._ordinals = ordinals(languages, self._normalizer)
        self._dates, problems = date_rules(languages.files, self._normalizer, self._patterns)
        self.problems += problems
        for word, meaning in languages.number_words.items():
            self._phrases.add(self._normalizer.words(word), PhraseEntry(NUMBERS, meaning))
        self._triggers = 0

    def compile(self) -> Pack:
        spec = self._spec
        entities = tuple(self._entity(e, ("entities", at)) for at, e in enumerate(spec.entities))
        rules: list[Rule] = []
        intents: dict[str, PackIntent] = {}
        for at, intent in enumerate(spec.intents):
            intents[intent.name] = compiled = self._intent(intent, entities, ("intents", at))
            rules += self._rules(compiled, ("intents", at), len(rules))
        operations = None if spec.operations is None else self._operations(spec.operations)
        try:
            self._patterns.freeze()
        except PatternInvalid as invalid:
            self.add_problem("bad-pattern", str(invalid), ())
        return Pack(
            spec=spec,
            normalizer=self._normalizer,
            phrases=self._phrases,
            patterns=self._patterns,
            numbers=number_rules(self._languages.specs),
            zone=self._zone(),
            intents=intents,
            entities=entities,
            rules=tuple(sorted(rules, key=lambda rule: (-rule.priority, rule.order))),
            operations=operations,
            spelling=self._spelling(),
            clauses=ClauseReader(
                clause_languages(self._languages),
                frozenset(
                    word
                    for language in self._languages.specs
                    for text in language.moods.contrasts
                    for word in self._normalizer.words(text)
                ),
            ),
            vocabulary=self._vocabulary(),
        )

    def _spelling(self) -> Spelling:
        languages, normalizer = self._languages, self._normalizer
        own = self._words_of(self._spec.spelling)
        known = self._words_of([*self._spec.not_misspelt, *self._spec.fillers])
        months = [
            word
            for spec in languages.specs
            for month in spec.dates.months
            for word in normalizer.words(month)
        ]
        wanted = [*self._phrases.vocabulary, *own, *months]
        first = languages.specs[1:2]
        return Spelling(
            wanted,
            (*wanted, *known, *all_words(languages, normalizer)),
            languages.prefixes,
            [normalizer.fold(group) for spec in first for group in spec.text.sounds],
            first[0].text.misspelt_from if first else _SAFE_LENGTH,
        )

    def _vocabulary(self) -> Vocabulary:
        small = small_words(self._languages, self._normalizer)
        fillers = self._words_of(self._spec.fillers)
        return Vocabulary(small.union(fillers), self._languages.prefixes)

    def _words_of(self, texts: Sequence[str]) -> list[str]:
        return [word for text in texts for word in self._normalizer.words(text)]

    def add_problem(self, kind: str, what: str, keys: Keys) -> None:
        self.problems.append(Problem(what, self._document.where(keys), kind))

    def _zone(self) -> ZoneInfo:
        name = self._spec.timezone
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self.add_problem("unknown-value", f"there is no time zone {name!r}", ("timezone",))
            return ZoneInfo("UTC")

    # Intents, rules and operations

    def _intent(
        self, spec: specs.IntentSpec, entities: Sequence[readers.EntityExtractor], keys: Keys
    ) -> PackIntent:
        layers, own = self._spec.layers, spec.confidence
        return PackIntent(
            spec,
            confidence={
                "keyword": layers.keyword if own.keyword is None else own.keyword,
                "regex": layers.regex if own.regex is None else own.regex,
            },
            entities=tuple(
                entity
                for entity in entities
                if (spec.entities is None or entity.name in spec.entities)
                and (entity.spec.intents is None or spec.name in entity.spec.intents)
            ),
            flags=dict.fromkeys(self._spec.flags, False) | spec.flags,
            routes=tuple(
                Route(route.to, self._trigger(route, (*keys, "routes", at)))
                for at, route in enumerate(spec.routes)
            ),
        )

    def _rules(self, intent: PackIntent, keys: Keys, first: int) -> list[Rule]:
        spec = intent.spec
        rules = [(rule, (*keys, "rules", at)) for at, rule in enumerate(spec.rules)]
        if spec.keywords or spec.openings or spec.patterns:
            own = {name: getattr(spec, name) for name in specs.TriggerSpec.model_fields}
            rules.insert(0, (specs.RuleSpec(**own), keys))
        return [
            Rule(
                intent,
                rule,
                self._trigger(rule, place),
                when=self._conditions(rule.when, (*place, "when")),
                unless=self._conditions(rule.unless, (*place, "unless")),
                priority=spec.priority if rule.priority is None else rule.priority,
                order=order,
                explanation=rule.explanation or spec.explanation,
                ask=spec.ask if rule.ask is None else rule.ask,
            )
            for order, (rule, place) in enumerate(rules, start=first)
        ]

    def _operations(self, spec: specs.OperationsSpec) -> PackOperations:
        options: list[PackOperation] = []
        flags: dict[str | None, dict[str, bool]] = {}
        for at, option in enumerate(spec.options):
            keys = ("operations", "options", at)
            unless = self._conditions(option.unless, (*keys, "unless"))
            options.append(PackOperation(option, self._trigger(option, keys), unless))
            flags.setdefault(option.name, {}).update(option.flags)
        return PackOperations(spec.entity, tuple(options), spec.default, flags)

    def _conditions(self, spec: specs.ConditionSpec, keys: Keys) -> Conditions:
        trigger = specs.TriggerSpec(keywords=spec.keywords, patterns=spec.patterns)
        return Conditions(spec, self._trigger(trigger, keys))

    def _trigger(self, spec: specs.TriggerSpec, keys: Keys) -> Trigger:
        self._triggers += 1
        number = self._triggers
        for name, key in (("keywords", number), ("openings", -number)):
            for at, word in enumerate(getattr(spec, name)):
                entry = PhraseEntry(KEYWORDS, key, at, word, spec.prefixes)
                self._add_phrase(word, entry, (*keys, name, at))
        self._add_masks(spec.not_in, number, keys)
        return Trigger(
            number,
            has_keywords=bool(spec.keywords or spec.openings),
            patterns={
                pattern.number: Fired("regex", source)
                for at, source in enumerate(spec.patterns)
                if (pattern := self._pattern(source, (*keys, "patterns", at))) is not None
            },
            yields_to=frozenset(spec.yields_to),
        )

    # Patterns and phrases

    def _pattern(self, source: str, keys: Keys) -> PackPattern | None:
        try:
            return self._patterns.add(source)
        except PatternInvalid as invalid:
            self.add_problem("bad-pattern", f"pattern {source!r}: {invalid}", keys)
            return None

    def _add_phrase(self, text: str, entry: PhraseEntry, keys: Keys) -> None:
        words = self._normalizer.words(text)
        if words:
            self._phrases.add(words, entry)
        else:
            self.add_problem("empty-phrase", f"{text!r} has no word in it", keys)

    def _add_masks(self, phrases: Sequence[str], owner: int | str, keys: Keys) -> None:
        for at, phrase in enumerate(phrases):
            self._add_phrase(phrase, PhraseEntry(MASK, owner, at, phrase), (*keys, "not_in", at))

    # Entities

    def _entity(self, spec: specs.EntitySpec, keys: Keys) -> readers.EntityExtractor:
        match spec:
            case specs.NumberEntitySpec():
                return self._number(spec, keys)
            case specs.PatternEntitySpec():
                return readers.PatternExtractor(
                    spec, self._captures(spec.patterns, keys), self._normalizer
                )
            case specs.ValuesEntitySpec():
                self._add_values(spec.name, spec.values, keys, prefixed=spec.prefixes)
                self._add_masks(spec.not_in, readers.phrase_group(spec.name), keys)
                return readers.ValuesExtractor(
                    spec,
                    self._captures(spec.patterns, keys),
                    unknown=self._each_pattern(spec.unknown, (*keys, "unknown")),
                    otherwise=self._otherwise(spec, keys),
                )
            case specs.TextEntitySpec():
                return self._text(spec, keys)
            case specs.DateRangeEntitySpec():
                return readers.DateRangeExtractor(spec, self._dates, self._earliest(spec, keys))
            case specs.SeriesEntitySpec():
                return self._series(spec, keys)

    def _number(self, spec: specs.NumberEntitySpec, keys: Keys) -> readers.NumberExtractor:
        group = readers.phrase_group(spec.name)
        for order, (number, names) in enumerate(spec.names.items()):
            for name in names:
                entry = PhraseEntry(group, number, order, name, prefixed=False)
                self._add_phrase(name, entry, (*keys, "names"))
        return readers.NumberExtractor(
            spec,
            self._captures(spec.patterns, keys),
            self._ordinals,
            negatives=frozenset(
                self._normalizer.fold(word)
                for language in self._languages.specs
                for word in language.numbers.negatives
            ),
            leads=self._each_pattern(spec.leads, (*keys, "leads")),
        )

    def _otherwise(self, spec: specs.ValuesEntitySpec, keys: Keys) -> readers.TextExtractor | None:
        free = spec.otherwise
        if free is None:
            return None
        read = free.model_dump(exclude={"intents"})
        text = specs.TextEntitySpec(name=spec.name, kind="text", claims=spec.claims, **read)
        return self._text(text, (*keys, "otherwise"))

    def _each_pattern(self, sources: Sequence[str], keys: Keys) -> tuple[PackPattern, ...]:
        found = (self._pattern(source, (*keys, at)) for at, source in enumerate(sources))
        return tuple(pattern for pattern in found if pattern is not None)

    def _captures(
        self, patterns: Sequence[str | specs.ConstantSpec], keys: Keys
    ) -> tuple[readers.Capture, ...]:
        captures: list[readers.Capture] = []
        for at, entry in enumerate(patterns):
            constant = None if isinstance(entry, str) else entry.value
            source = entry if isinstance(entry, str) else entry.pattern
            pattern = self._pattern(source, (*keys, "patterns", at))
            if pattern is not None:
                group = 0 if constant is not None else pattern.names.get("value", pattern.inner)
                captures.append(readers.Capture(pattern, group, constant))
        return tuple(captures)

    def _add_values(
        self, entity: str, values: Mapping[str, Sequence[str]], keys: Keys, *, prefixed: bool
    ) -> None:
        """Make the words of each value, and the value itself, phrases of the entity."""
        for order, (value, words) in enumerate(values.items()):
            for word in dict.fromkeys((value, *words)):
                entry = PhraseEntry(readers.phrase_group(entity), value, order, word, prefixed)
                self._add_phrase(word, entry, (*keys, "values", value))

    def _text(self, spec: specs.TextEntitySpec, keys: Keys) -> readers.TextExtractor:
        self._add_values(spec.name, spec.values, keys, prefixed=True)
        markers: list[readers.Marker] = []
        for at, entry in enumerate(spec.after):
            marker = specs.MarkerSpec(pattern=entry) if isinstance(entry, str) else entry
            pattern = self._pattern(marker.pattern, (*keys, "after", at))
            if pattern is not None:
                markers.append(readers.Marker(pattern, marker.known))
        folded = self._normalizer.words
        return readers.TextExtractor(
            spec,
            self._normalizer,
            after=tuple(markers),
            until=self._each_pattern(spec.until, (*keys, "until")),
            values={
                " ".join(folded(word)): value
                for value, words in reversed(spec.values.items())
                for word in (value, *words)
            },
            reject=frozenset(" ".join(folded(text)) for text in spec.reject),
            reject_first=frozenset(word for text in spec.reject_first for word in folded(text)),
            edges=frozenset(word for text in self._languages.stop_words for word in folded(text)),
            prefixes=tuple(sorted(self._languages.prefixes, key=lambda text: (len(text), text))),
        )

    def _earliest(self, spec: specs.DateRangeEntitySpec, keys: Keys) -> date:
        try:
            return date.fromisoformat(spec.earliest)
        except ValueError:
            what = f"earliest: expected a date such as 1948-05-14, got {spec.earliest!r}"
            self.add_problem("wrong-value", what, (*keys, "earliest"))
            return date.min

    def _series(self, spec: specs.SeriesEntitySpec, keys: Keys) -> readers.SeriesExtractor:
        series: list[readers.Series] = []
        for at, entry in enumerate(spec.series):
            place = (*keys, "series", at)
            if (entry.item is None) == (entry.values_of is None):
                what = f"{entry.name}: give either item (and pattern), or values_of"
                self.add_problem("wrong-value", what, place)
                continue
            pattern, item = (
                None if source is None else self._pattern(source, (*place, name))
                for name, source in (("pattern", entry.pattern), ("item", entry.item))
            )
            series.append(readers.Series(entry.name, pattern, item, entry.values_of))
        return readers.SeriesExtractor(spec, tuple(series))
