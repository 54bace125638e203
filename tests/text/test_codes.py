"""Codes in a text: known as a whole, and by the form of an example."""

import pytest

from server.text.codes import EXACT, OTHER, SIMILAR, CodeForm, find_codes, form_of


def form(example: str) -> CodeForm:
    found = form_of(example)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("book in ASN-30917, 6 pallets", ["ASN-30917"]),
        ("stock of KTL-200-BLK in LDS1?", ["KTL-200-BLK", "LDS1"]),
        ("from LS10 1JR to EH3 9QG.", ["LS10 1JR", "EH3 9QG"]),
        ("reserve b104422 for me", ["b104422"]),
        ("a 2-bedroom flat, 4kg, the 3rd, 2.5 litres, at 14:30", []),
        ("mail x1y2@example.com about version 1.2.3", []),
        ("a3 paper and an mp3", []),
    ],
)
def test_codes_are_told_from_words_and_quantities(text: str, codes: list[str]) -> None:
    assert [code.text for code in find_codes(text)] == codes


@pytest.mark.parametrize(
    ("example", "text", "codes"),
    [
        ("AB12 CDE", "is KN19 XTB here", ["KN19 XTB"]),
        ("29014455", "on card 29017730 for 3", ["29017730"]),
        ("GUILDHALL", "is TOWNHALL free, DVD or not", ["TOWNHALL"]),
        ("GUILDHALL", "IS TOWNHALL FREE", []),
    ],
)
def test_codes_are_known_by_an_example(example: str, text: str, codes: list[str]) -> None:
    assert [code.text for code in find_codes(text, [form(example)])] == codes


@pytest.mark.parametrize(
    ("example", "text", "fit"),
    [
        ("SH-100245", "SH-7", EXACT),
        ("SH-100245", "sh100871", EXACT),
        ("SH-100245", "PL-8841", OTHER),
        ("LDS1", "MAN2", EXACT),
        ("PL-8841", "QX-88412", SIMILAR),
        ("LDS1", "KTL-200-BLK", OTHER),
        ("GUILDHALL", "MILLROOM2", SIMILAR),
    ],
)
def test_a_code_has_the_form_of_an_example(example: str, text: str, fit: int) -> None:
    assert form(example).fit(text) == fit


@pytest.mark.parametrize(
    "example", ["Leeds", "50 EUR", "12 Mill Lane", "3 May 2026", "4kg", "12", "DE", ""]
)
def test_what_is_written_as_other_texts_are_is_no_code(example: str) -> None:
    assert form_of(example) is None


def test_small_letters_become_those_of_the_example() -> None:
    assert form("SH-100245").written("sh-100871") == "SH-100871"
