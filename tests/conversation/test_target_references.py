"""What words of place point to, among the targets that a conversation named."""

import pytest

from server.conversation.followups.lexicon import shipped_lexicon
from server.conversation.reformulation.references import (
    Kind,
    TargetReference,
    distinct,
    read_target_reference,
    resolve_target,
)

THINGS = ("order", "orders")


@pytest.mark.parametrize(
    ("text", "kind", "position", "words"),
    [
        ("cancel the second one", "place", 2, "the second one"),
        ("send the first one back", "place", 1, "the first one"),
        ("return the former, please", "place", 1, "the former"),
        ("exchange the latter for a black one", "last", 0, "the latter"),
        ("where is my last order?", "last", 0, "my last order"),
        ("no, the other one", "other", 0, "the other one"),
        ("cancel my other order", "other", 0, "my other order"),
        ("third", "place", 3, "third"),
        ("both of them", "every", 0, "both"),
        ("להחזיר את השנייה", "place", 2, "השנייה"),
        ("לא, האחרת", "other", 0, "האחרת"),
    ],
)
def test_words_of_place_are_read(text: str, kind: Kind, position: int, words: str) -> None:
    found = read_target_reference(text, shipped_lexicon(), THINGS)
    assert found is not None
    assert (found.kind, found.position) == (kind, position)
    assert text[slice(*found.span)] == words


@pytest.mark.parametrize(
    "text",
    [
        "the first time I wore it",
        "the last straw",
        "on the other hand",
        "at first",
        "first, tell me where it is",
        "return the first one and refund the second one",
        "cancel it",
        "",
    ],
)
def test_other_uses_of_such_words_point_to_nothing(text: str) -> None:
    assert read_target_reference(text, shipped_lexicon(), THINGS) is None


@pytest.mark.parametrize(
    ("kind", "position", "named", "meant"),
    [
        ("place", 2, [["#1", "#2", "#3"]], ["#2"]),
        ("place", 1, [["#1", "#2"], ["#3"]], ["#1"]),  # in the list, not in what was named last
        ("place", 2, [["#1"], ["#2"]], ["#2"]),  # in all, where there is no list
        ("place", 4, [["#1", "#2"]], []),
        ("last", 0, [["#1", "#2"], ["#1"]], ["#2"]),
        ("last", 0, [["#1"], ["#2"]], ["#2"]),
        ("other", 0, [["#4", "#7"], ["#004"]], ["#7"]),
        ("other", 0, [["#1"], ["#4", "#7"], ["#7"]], ["#4"]),
        ("other", 0, [["#1"], ["#2"]], ["#1"]),
        ("other", 0, [["#1", "#2", "#3"], ["#2"]], ["#1", "#3"]),
        ("other", 0, [["#1", "#2"]], ["#1", "#2"]),  # none of them was meant yet
        ("other", 0, [["#1"]], []),
        ("every", 0, [["#1", "#2"], ["#3"]], ["#1", "#2"]),
        ("last", 0, [], []),
        ("other", 0, [], []),
    ],
)
def test_a_place_is_counted_among_what_was_named(
    kind: Kind, position: int, named: list[list[str]], meant: list[str]
) -> None:
    reference = TargetReference(kind, position, (0, 0))
    assert list(resolve_target(reference, named)) == meant


def test_a_target_counts_once_in_whatever_spelling() -> None:
    assert distinct(("#004", "Red shoes", "#4", "red shoes", "#40")) == ("#004", "Red shoes", "#40")
