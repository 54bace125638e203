"""The language file that docs/languages.md shows is one, and its words do what the page says."""

import re
from pathlib import Path

import yaml

from server.text.language import Language
from server.text.senses import SenseReader, empty_places
from server.text.tokens import Tokens

PAGE = (Path(__file__).parents[2] / "docs" / "languages.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- loads as: language -->\n```yaml\n(.*?)```", PAGE, re.DOTALL)
READER = SenseReader(Language.model_validate(yaml.safe_load(BLOCKS[0])))


def words(text: str) -> list[str]:
    return list(Tokens(text).words)


def test_a_refusal_and_a_condition_are_found() -> None:
    asked = words("neniam forigu la foton se mi dormas")
    found = READER.refusal(asked, 0, len(asked)), READER.condition(asked, 0, len(asked))
    assert [sense.phrase for sense in found if sense] == ["neniam", "se"]


def test_a_clause_that_only_tells_is_told_from_one_that_asks() -> None:
    clauses = READER.clauses(words("miaj infanoj dormas, mi volas la foton"))
    assert [clause.tells for clause in clauses] == [True, False]


def test_verbs_of_one_group_ask_for_the_same() -> None:
    groups = []
    for text in ("forigu la foton", "viŝu la foton", "ŝaltu la lampon for"):
        asked = words(text)
        found = READER.actions(asked, empty_places(READER.senses(asked)))
        groups += [action.groups for action in found]
    assert groups == [{1}, {1}, {2}]


def test_moods_are_told_by_how_a_clause_begins() -> None:
    moods = [READER.mood(words(text)) for text in ("ĉu vi povas legi", "kio estas tio", "forigu")]
    assert moods == ["request", "question", "request"]
