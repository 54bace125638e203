"""Time zones by name, by city, by country, and by offset."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

from pydantic import Field

from server.core.suggestions import closest, described_value, shown_value
from server.errors import ArgumentsInvalid, ConfigurationInvalid
from server.settings.documents import read_yaml
from server.settings.validation import validate
from server.text.language import LanguagePart, Phrases
from server.text.tokens import Span, Tokens

PLACES: Final = Path(__file__).with_name("zones.yaml")

_MAX_CHARS: Final = 60
_OFFSET: Final = re.compile(r"(?:utc|gmt)?\s*([+-])(\d{1,2})(?::?([0-5]\d))?")
_MOST_OFFSET: Final = timedelta(hours=24)
_SAID_OFFSET: Final = re.compile(
    r"(?<![^\W_])(?:utc|gmt)\s?[+-]\s?\d{1,2}(?::?[0-5]\d)?(?![\d:])"
    r"|(?<!\S)[+-]\d{2}:[0-5]\d(?![\d:])"
)
_JOINTS: Final = frozenset("_-/.'’")
_MANY: Final = 50
"""Places of one text that are looked at."""


class PlaceNames(LanguagePart):
    """`zones.yaml`: names by zone, other names of countries with several, and no names at all.

    `countries` are other names of countries by their codes.
    """

    places: dict[str, Phrases] = Field(default_factory=dict)
    several: dict[str, Phrases] = Field(default_factory=dict)
    not_places: Phrases = ()
    countries: dict[str, Phrases] = Field(default_factory=dict)


class SeveralZones(NamedTuple):
    """A country that keeps several times."""

    country: str

    def describe(self) -> str:
        return f"{self.country} has several time zones; name a city there"


Place = str | SeveralZones
"""The name of a zone, or why there is not one."""
P = TypeVar("P")


class _ByWords(Generic[P]):
    """Names by their words, and how many words the longest has that begins with one."""

    def __init__(self, names: Mapping[tuple[str, ...], P]) -> None:
        self.names = names
        self.longest: dict[str, int] = {}
        for words in names:
            self.longest[words[0]] = max(self.longest.get(words[0], 0), len(words))


def find_zone(value: Any, name: str) -> tzinfo:
    """Return the zone that `value` names: `Europe/Paris`, `Tokyo`, `Mumbai`, `UTC`, `+02:00`.

    Case and accents do not matter, and a space does for an underscore.

    Raises:
        ArgumentsInvalid: no such zone, or a country that has several.
    """
    if not isinstance(value, str):
        raise ArgumentsInvalid(
            f"{name} must be the name of a time zone, not {described_value(value)}"
        )
    text = " ".join(value[: _MAX_CHARS + 1].split()).casefold()
    if text in ("z", "utc", "gmt"):
        return UTC
    offset = _OFFSET.fullmatch(text)
    if offset is not None:
        sign, hours, minutes = offset.groups()
        width = timedelta(hours=int(hours), minutes=int(minutes or 0))
        if width < _MOST_OFFSET:
            return timezone(-width if sign == "-" else width)
    known, key = _names(), text.replace(" ", "_")
    if key in known:
        return ZoneInfo(known[key])
    place = _places().get(_key(text))
    if isinstance(place, str):
        return UTC if place == "UTC" else ZoneInfo(place)
    if place is not None:
        raise ArgumentsInvalid(f"{name} {shown_value(value)}: {place.describe()}")
    near = closest(key, known, cutoff=0.75)
    hint = f"; did you mean {known[near]!r}?" if near is not None else ""
    raise ArgumentsInvalid(
        f"{name} {shown_value(value)} is not known; write a zone such as Europe/Paris, "
        f"a city such as Tokyo, or an offset such as +02:00{hint}"
    )


def find_places(tokens: Tokens) -> list[Span]:
    """Return every place and zone that a text names, in order, none inside another.

    A country that has several zones is unreadable, and says so.
    """
    found = list(_said_offsets(tokens))
    taken = {at for span in found for at in range(span.first, span.last)}
    index = 0
    while index < len(tokens) and len(found) < _MANY:
        read = None if index in taken else _place_at(tokens, index)
        if read is None:
            index += 1
            continue
        place, last = read
        start, end = tokens.starts[index], tokens.ends[last - 1]
        if isinstance(place, str):
            found.append(Span("timezone", start, end, index, last, place))
        else:
            why = place.describe()
            found.append(Span("unreadable", start, end, index, last, why, "timezone"))
        index = last
    return sorted(found, key=lambda span: span.start)


def _said_offsets(tokens: Tokens) -> Iterator[Span]:
    for match in _SAID_OFFSET.finditer(tokens.folded):
        start, end = match.span()
        first, last = tokens.index_at(start), tokens.index_at(end - 1) + 1
        written = match[0].replace(" ", "").removeprefix("utc").removeprefix("gmt")
        yield Span("timezone", start, end, first, last, written)


def find_countries(tokens: Tokens) -> list[Span]:
    """Return every country that a text names, as ISO 3166 calls it, none inside another."""
    found, index = list[Span](), 0
    while index < len(tokens) and len(found) < _MANY:
        read = _longest_at(tokens, index, _countries_by_words())
        if read is None:
            index += 1
            continue
        country, last = read
        start, end = tokens.starts[index], tokens.ends[last - 1]
        found.append(Span("country", start, end, index, last, country))
        index = last
    return found


def _place_at(tokens: Tokens, index: int) -> tuple[Place, int] | None:
    return _longest_at(tokens, index, _places_by_words())


def _longest_at(tokens: Tokens, index: int, table: _ByWords[P]) -> tuple[P, int] | None:
    """What has the longest name that begins at a word, and the index after it."""
    words: list[str] = []
    best: tuple[P, int] | None = None
    at, longest = index, table.longest.get(_bare(tokens.words[index]), 0)
    while at < len(tokens) and len(words) < longest:
        word = tokens.words[at]
        at += 1
        if words and word in _JOINTS and tokens.glued(at - 1) and at < len(tokens):
            continue
        words.append(_bare(word))
        if (place := table.names.get(tuple(words))) is not None:
            best = place, at
    # The us of “tell us” is no country.
    if best is not None and words[:1] == ["us"] and best[1] == index + 1:
        said = tokens.text[tokens.starts[index] : tokens.ends[index]]
        return best if said == "US" else None
    return best


def _bare(word: str) -> str:
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFKD", word)
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def _key(name: str) -> tuple[str, ...]:
    words = Tokens(name.casefold()).words
    return tuple(_bare(word) for word in words if word not in _JOINTS)


@lru_cache(maxsize=1)
def _written() -> PlaceNames:
    document = read_yaml(PLACES, {})
    spec, problems = validate(PlaceNames, document)
    if spec is None:
        raise ConfigurationInvalid((*document.problems, *problems))
    return spec


@lru_cache(maxsize=1)
def _names() -> dict[str, str]:
    zones = sorted(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())
    names = {zone.casefold(): zone for zone in zones}
    hidden = set(_written().not_places)
    for zone in zones:
        city = zone.rpartition("/")[2].casefold()
        if city not in hidden:
            names.setdefault(city, zone)
    return names


@lru_cache(maxsize=1)
def _places() -> Mapping[tuple[str, ...], Place]:
    """Every name of a place by its words; those of the file stand before the database's."""
    written = _written()
    places: dict[tuple[str, ...], Place] = {
        _key(name): zone for zone, names in written.places.items() for name in names
    }
    for country, zones in _zones_by_country().items():
        plain = country.partition(" (")[0]
        place: Place = zones[0] if len(zones) == 1 else SeveralZones(plain)
        for name in (country, plain, *written.several.get(country, ())):
            places.setdefault(_key(name), place)
    for name, zone in _names().items():
        if any(map(str.isalpha, name)) and not name.startswith("etc/"):
            places.setdefault(_key(name), zone)
    return places


@lru_cache(maxsize=1)
def country_codes() -> Mapping[str, str]:
    """Codes of ISO 3166 by what countries are called, in small letters."""
    codes: dict[str, str] = {}
    for code, country in _countries().items():
        plain, _, more = country.partition(" (")
        others = (*_written().countries.get(code, ()), *_written().several.get(country, ()))
        for name in (country, plain if len(more) > 3 else country, *others):
            codes.setdefault(name.casefold(), code)
    return codes


def _countries() -> dict[str, str]:
    return {row[0]: row[1] for row in _table("iso3166.tab")}


def _table(name: str) -> list[list[str]]:
    table = files("tzdata").joinpath("zoneinfo", name).read_text("utf-8")
    return [row.split("\t") for row in table.splitlines() if row and not row.startswith("#")]


def _zones_by_country() -> dict[str, list[str]]:
    countries, zones = _countries(), dict[str, list[str]]()
    for code, _, zone, *_ in _table("zone.tab"):
        zones.setdefault(countries[code], []).append(zone)
    return zones


@lru_cache(maxsize=1)
def _places_by_words() -> _ByWords[Place]:
    return _ByWords(_places())


@lru_cache(maxsize=1)
def _countries_by_words() -> _ByWords[str]:
    names = _countries()
    return _ByWords(
        {_key(name): names[code].partition(" (")[0] for name, code in country_codes().items()}
    )
