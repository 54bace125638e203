"""Known phrases in a text."""

import pytest

from server.text.phrases import PhraseTable
from server.text.tokens import Tokens

FAULTS = PhraseTable({"cable damaged": "CABLE", "screen dead": "SCREEN", "too late": "LATE"})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("report a dead screen", [(2, 4, "SCREEN")]),
        ("the cable of plug 2 is damaged", [(6, 7, "CABLE")]),
        ("the plug is damaged", []),
        ("the cable, and no plug damaged", []),
    ],
)
def test_words_of_a_phrase_are_known_where_they_are_turned(
    text: str, found: list[tuple[int, int, str]]
) -> None:
    turned = FAULTS.find_turned(Tokens(text), frozenset({"is", "are"}))
    assert [(one.first, one.last, one.value) for one in turned] == found
