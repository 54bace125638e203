"""The forms of English verbs."""

import pytest

from server.text.language import load_language
from server.text.verbs import conjugated, verb_forms

IRREGULAR = load_language("en").data.irregular_verbs


@pytest.mark.parametrize(
    ("said", "forms"),
    [
        ("ordering", {"order", "orders", "ordered", "ordering"}),
        ("placed", {"place", "places", "placed", "placing"}),
        ("hire", {"hire", "hires", "hired", "hiring"}),
        ("shipped", {"ship", "ships", "shipped", "shipping"}),
        ("supplies", {"supply", "supplies", "supplied", "supplying"}),
        ("released", {"release", "releases", "released", "releasing"}),
        ("processed", {"process", "processes", "processed", "processing"}),
        ("bought", {"buy", "buys", "bought", "buying"}),
        ("taken", {"take", "takes", "took", "taken", "taking"}),
        ("visits", {"visit", "visits", "visited", "visiting"}),
    ],
)
def test_one_form_stands_for_all(said: str, forms: set[str]) -> None:
    assert verb_forms(said, IRREGULAR) == forms


def test_every_regular_form_leads_to_the_same_forms() -> None:
    for base in ("rent", "carry", "enjoy", "agree", "watch", "deal", "plan", "issue", "owe"):
        forms = conjugated(base, {})
        assert all(forms == verb_forms(form, {}) for form in forms), (base, forms)
