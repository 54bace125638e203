"""Each kind of entity, from its specification."""

from collections.abc import Mapping, Sequence
from datetime import date

from server.intents.compile_context import CompileContext
from server.intents.entities import (
    Capture,
    DateRangeKind,
    EntityKind,
    Marker,
    NumberKind,
    PatternKind,
    Series,
    SeriesKind,
    TextKind,
    ValuesKind,
    group_of,
)
from server.intents.patterns import PackPattern
from server.intents.phrases import MASK, PhraseEntry
from server.intents.spec import (
    ConstantSpec,
    DateRangeEntitySpec,
    EntitySpec,
    MarkerSpec,
    NumberEntitySpec,
    PatternEntitySpec,
    SeriesEntitySpec,
    TextEntitySpec,
    ValuesEntitySpec,
)
from server.settings.documents import Keys


def compile_kind(shop: CompileContext, spec: EntitySpec, keys: Keys) -> EntityKind:
    """What reads an entity; problems go to the workshop."""
    match spec:
        case NumberEntitySpec():
            captures = _captures(shop, spec.patterns, keys)
            return NumberKind(spec.name, captures, spec.min, spec.max, shop.ordinals)
        case PatternEntitySpec():
            captures = _captures(shop, spec.patterns, keys)
            return PatternKind(captures, shop.reader, spec.form, spec.case, spec.all)
        case ValuesEntitySpec():
            _add_values(shop, spec.name, spec.values, keys, prefixes=spec.prefixes)
            for at, phrase in enumerate(spec.not_in):
                mask = PhraseEntry(MASK, group_of(spec.name), at, phrase)
                shop.phrase(phrase, mask, (*keys, "not_in", at))
            captures = _captures(shop, spec.patterns, keys)
            return ValuesKind(
                group_of(spec.name), captures, spec.all, spec.choose, tuple(spec.values)
            )
        case TextEntitySpec():
            return _text(shop, spec, keys)
        case DateRangeEntitySpec():
            return DateRangeKind(spec.name, shop.dates, _earliest(shop, spec, keys))
        case SeriesEntitySpec():
            return _series(shop, spec, keys)


def _captures(
    shop: CompileContext, patterns: Sequence[str | ConstantSpec], keys: Keys
) -> tuple[Capture, ...]:
    captures: list[Capture] = []
    for at, entry in enumerate(patterns):
        constant = None if isinstance(entry, str) else entry.value
        source = entry if isinstance(entry, str) else entry.pattern
        pattern = shop.pattern(source, (*keys, "patterns", at))
        if pattern is not None:
            group = pattern.names.get("value", pattern.inner)
            captures.append(Capture(pattern, 0 if constant is not None else group, constant))
    return tuple(captures)


def _add_values(
    shop: CompileContext,
    name: str,
    values: Mapping[str, Sequence[str]],
    keys: Keys,
    *,
    prefixes: bool = True,
) -> None:
    """Make the words of each value, and the value itself, phrases of the entity."""
    for order, (value, words) in enumerate(values.items()):
        for word in dict.fromkeys((value, *words)):
            entry = PhraseEntry(group_of(name), value, order, word, prefixes)
            shop.phrase(word, entry, (*keys, "values", value))


def _text(shop: CompileContext, spec: TextEntitySpec, keys: Keys) -> TextKind:
    _add_values(shop, spec.name, spec.values, keys)
    markers: list[Marker] = []
    for at, entry in enumerate(spec.after):
        marker = entry if isinstance(entry, MarkerSpec) else MarkerSpec(pattern=entry)
        pattern = shop.pattern(marker.pattern, (*keys, "after", at))
        if pattern is not None:
            markers.append(Marker(pattern, marker.known))
    folded = shop.reader.words
    return TextKind(
        group=group_of(spec.name),
        reader=shop.reader,
        after=tuple(markers),
        until=shop.any_of(spec.until, (*keys, "until")),
        values={
            " ".join(folded(word)): value
            for value, words in reversed(spec.values.items())
            for word in (value, *words)
        },
        reject=frozenset(" ".join(folded(text)) for text in spec.reject),
        reject_first=frozenset(word for text in spec.reject_first for word in folded(text)),
        edges=frozenset(word for text in shop.languages.stop_words for word in folded(text)),
        prefixes=shop.languages.prefixes,
        longest_prefix=max(map(len, shop.languages.prefixes), default=0),
        max_words=spec.max_words,
    )


def _earliest(shop: CompileContext, spec: DateRangeEntitySpec, keys: Keys) -> date:
    try:
        return date.fromisoformat(spec.earliest)
    except ValueError:
        what = f"earliest: expected a date such as 1948-05-14, got {spec.earliest!r}"
        shop.complain("wrong-value", what, (*keys, "earliest"))
        return date.min


def _series(shop: CompileContext, spec: SeriesEntitySpec, keys: Keys) -> SeriesKind:
    series: list[Series] = []
    for at, entry in enumerate(spec.series):
        place = (*keys, "series", at)
        if (entry.item is None) == (entry.values_of is None):
            what = f"{entry.name}: give either item (and pattern), or values_of"
            shop.complain("wrong-value", what, place)
            continue
        series.append(
            Series(
                entry.name,
                _optional(shop, entry.pattern, (*place, "pattern")),
                _optional(shop, entry.item, (*place, "item")),
                None if entry.values_of is None else group_of(entry.values_of),
            )
        )
    return SeriesKind(tuple(series))


def _optional(shop: CompileContext, source: str | None, keys: Keys) -> PackPattern | None:
    return None if source is None else shop.pattern(source, keys)
