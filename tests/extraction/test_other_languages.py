"""Arguments and covered words in libraries that are written in German, French and Spanish."""

from datetime import UTC, datetime
from typing import Any

import pytest

from server.extraction.extractor import Extractor
from server.library.model import Domain, Parameter, ResponseConfig
from tests.extraction.support import template_of

NOW = datetime(2025, 3, 5, 12, tzinfo=UTC)
ALARMS = {
    "de": ("Alarm für Lager 3 um 8 Uhr setzen", "setz den Alarm von Lager 5 auf 7:30"),
    "fr": ("mets l'alarme du dépôt 3 à 8h", "règle l'alarme du dépôt 5 sur 7:30"),
    "es": ("pon la alarma del almacén 3 a las 8", "programa la alarma del almacén 5 a las 7:30"),
}
DEPOT = Parameter("depot", "integer")
TIME = Parameter("time", "time")
DAY = Parameter("day", "date", required=False)
GUEST = Parameter("guest", "string", example="Anna Keller")
GUESTS = ("Wo wohnt Anna Keller?", "welches Zimmer hat Paul Becker", "Gast Lopez suchen")


def extractor(code: str) -> Extractor:
    response = ResponseConfig(default_language=code, supported_languages=(code,))
    return Extractor(Domain("test", response=response))


def found(code: str, asked: str, *parameters: Parameter, examples: tuple[str, ...]) -> Any:
    one = extractor(code)
    made = template_of(*parameters, examples=examples)
    one.prepare([made])
    reading = one.read(asked, NOW)
    extraction = one.extract_from(reading, made)
    return extraction, one.cover(reading, made, extraction)


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("de", "Bitte den Alarm für Lager zwölf morgen um halb sieben setzen"),
        ("fr", "mets l'alarme du dépôt douze demain à six heures et demie"),
        ("es", "pon la alarma del almacén doce mañana a las seis y media"),
    ],
)
def test_values_are_read_in_the_language_of_the_library(code: str, asked: str) -> None:
    extraction, covered = found(code, asked, DEPOT, TIME, DAY, examples=ALARMS[code])
    assert extraction.arguments == {"depot": 12, "time": "06:30", "day": "2025-03-06"}
    assert not list(covered.unread())


def test_a_noun_with_a_capital_is_no_name_in_german() -> None:
    extraction, _ = found("de", "Ein Kurier fragt nach Dilek Aydin", GUEST, examples=GUESTS)
    assert extraction.arguments == {"guest": "Dilek Aydin"}


def test_a_yes_or_no_is_found_by_its_description() -> None:
    breakfast = Parameter(
        "breakfast", "boolean", description="Ob Frühstück dabei ist", required=False
    )
    for asked, truth in (("Zimmer 3 mit Frühstück", True), ("Zimmer 3 ohne Frühstück", False)):
        extraction, _ = found("de", asked, DEPOT, breakfast, examples=("Zimmer 5 buchen",))
        assert extraction.arguments["breakfast"] is truth


@pytest.mark.parametrize(
    ("code", "asked", "example"),
    [
        ("de", "Oelwechsel planen", "Ölwechsel planen"),
        ("fr", "prevois la revision", "prévois la révision"),
        ("es", "anótale la visita", "anota la visita"),
    ],
)
def test_words_are_known_however_they_are_typed(code: str, asked: str, example: str) -> None:
    _, covered = found(code, asked, examples=(example,))
    assert not list(covered.unread())
