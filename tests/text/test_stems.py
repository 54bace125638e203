"""Related words share a stem, and nouns have their two forms."""

import pytest

from server.text.stems import inflections, singular, stem


@pytest.mark.parametrize(
    ("code", "kin"),
    [
        ("en", "calculate calculates calculated calculating calculation"),
        ("en", "city cities"),
        ("en", "standardize standardization"),
        ("en", "book books booking booked"),
        ("de", "buchung buchungen"),
        ("fr", "ville villes"),
        ("es", "gato gatos"),
        ("ru", "город города"),
    ],
)
def test_related_words_share_a_stem(code: str, kin: str) -> None:
    assert len({stem(word, code) for word in kin.split()}) == 1


def test_a_language_without_a_stemmer_leaves_words_as_they_are() -> None:
    assert stem("החלטות", "he") == "החלטות"


def test_plurals() -> None:
    words = ("posts", "cities", "boxes", "class", "news", "ids")
    assert [singular(word) for word in words] == ["post", "city", "box", "class", "new", "id"]


def test_inflections() -> None:
    assert inflections("city") == {"city", "cities"}
    assert inflections("boxes") == {"box", "boxes"}
    assert inflections("days") == {"day", "days"}
