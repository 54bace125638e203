"""Where a message may part, in the words of its language."""

import pytest

from server.text.joints import joint_reader
from server.text.tokens import Tokens


def parted(text: str, *codes: str) -> list[tuple[str, str, str]]:
    joints = joint_reader(codes or ("en",)).joints(Tokens(text))
    return [(text[: one.end], text[one.start :], one.kind) for one in joints]


@pytest.mark.parametrize(
    ("text", "before", "after", "kind"),
    [
        ("turn it off and lock up", "turn it off", "lock up", "word"),
        ("what is 3.5 plus 1? And add 2", "what is 3.5 plus 1?", "add 2", "sentence"),
        ("do this, and then do that", "do this", "do that", "clause"),
        ("do this; do that", "do this;", "do that", "sentence"),
        ("do this\ndo that", "do this", "do that", "sentence"),
        ("the front door as well as the back", "the front door", "the back", "word"),
        ("a, b", "a", "b", "comma"),
    ],
)
def test_a_message_parts_at_its_joints(text: str, before: str, after: str, kind: str) -> None:
    assert parted(text) == [(before, after, kind)]


@pytest.mark.parametrize(
    ("code", "text", "after"),
    [
        ("de", "mach das Licht aus und dann schließ ab", "schließ ab"),
        ("fr", "éteins la lumière et puis ferme la porte", "ferme la porte"),
        ("es", "apaga la luz y luego cierra la puerta", "cierra la puerta"),
        ("he", "כבה את האור ואז נעל את הדלת", "נעל את הדלת"),
    ],
)
def test_joints_are_those_of_the_language(code: str, text: str, after: str) -> None:
    assert after in [found[1] for found in parted(text, code)]


def test_a_joint_may_be_glued_to_what_it_joins() -> None:
    assert ("כבה את האור", "נעל את הדלת", "word") in parted("כבה את האור ונעל את הדלת", "he")


def test_nothing_parts_at_the_edges_or_inside_a_value() -> None:
    assert parted("and then what?") == []
    assert parted("version 1.2.3") == []
    assert parted('say "this and that"'.replace('"this and that"', "a_b")) == []


def test_that_before_a_noun_points_to_nothing() -> None:
    reader = joint_reader(("en",))
    assert list(reader.pointers(["cancel", "it"])) == [(1, 2)]
    assert list(reader.pointers(["multiply", "the", "result", "by", "2"])) == [(1, 3)]
    assert list(reader.pointers(["dim", "that", "lamp"])) == []
