"""A pack is checked as a whole: every problem is told, each with its line."""

from pathlib import Path

import pytest

from server.intents.compiler import load_pack
from server.intents.detector import IntentDetector
from tests.intents.support import DECISIONS, STUDY, detector, pack_of

MINIMAL = """\
name: minimal
fallback: {intent: CHAT}
intents:
  - {name: CHAT}
"""

BROKEN = """\
name: broken
languages: [he, klingon]
timezone: Asia/Atlantis
define: {loop: '{loop}'}
fallback: {intent: CHAT}
flags: [asked]
entities:
  - name: size
    kind: number
    patterns: ['(\\d+', '{sizes}', '{loop}', '(?=a)']
  - name: size
    kind: values
    values: {big: ['...']}
    intents: [BYU]
  - name: both
    kind: series
    series: [{name: sizes, item: a, values_of: size}]
  - {name: day, kind: date_range, earliest: yesterday}
intents:
  - name: BUY
    keywords: [buy, '!']
    yields_to: [sise]
    flags: {aksed: true}
    requires: {any_entity: [colour]}
    routes: [{to: SELL}]
    rules: [{when: {operations: [count]}, unless: {patterns: ['[']}}]
  - name: CHAT
"""


PROBLEMS = """\
'klingon': there is no such language; there are ar, de, en, es, fr, he, it, \
ja, ko, nl, pt, ru, or a path @ 2
there is no time zone 'Asia/Atlantis' @ 3
pattern '(\\\\d+': missing ): (\\d+ @ 10
pattern '{sizes}': {sizes} is not defined; there are {any_number}, {at}, {date_word}, {end}, \
{in_words}, {loop}, {month}, {number}, {of_month}, {of_year}, {ordinal}, {part_place}, {prefix}, \
{start} @ 10
pattern '{loop}': its definitions use each other without end @ 10
pattern '(?=a)': invalid perl operator: (?= @ 10
entity 'size' is declared twice @ 11
'...' has no word in it @ 13
there is no intent 'BYU'; known are BUY and CHAT @ 14
sizes: give either item (and pattern), or values_of @ 17
earliest: expected a date such as 1948-05-14, got 'yesterday' @ 18
'!' has no word in it @ 21
there is no entity 'sise'; did you mean 'size'? @ 22
there is no flag 'aksed'; did you mean 'asked'? @ 23
there is no entity 'colour'; known are size, both and day @ 24
there is no intent 'SELL'; known are BUY and CHAT @ 25
there is no operation 'count'; there are none @ 26
pattern '[': missing ]: [ @ 26
"""


def test_every_problem_of_a_pack_is_told_at_once(tmp_path: Path) -> None:
    loaded = pack_of(tmp_path, BROKEN)
    told = sorted(
        (f"{problem.what} @ {problem.where.line}" for problem in loaded.problems),
    )
    assert (loaded.pack, told) == (None, sorted(PROBLEMS.splitlines()))
    assert {problem.where.file for problem in loaded.problems} == {f"{tmp_path}/pack.yaml"}


REFUSED = {
    "name: minimal -> nam: minimal": "unknown key 'nam'; did you mean 'name'? @ 1",
    "intent: CHAT -> intent: CHAT, sure: 1": (
        "unknown key 'sure'; known are intent, confidence, below and explanation @ 2"
    ),
    "intents: -> intents: 7\nold:": "intents: expected a list, got 7 @ 3",
    "name: CHAT -> name: CHAT, confidence: {keyword: 2}": (
        "keyword: expected a number between 0 and 1, got 2 @ 4"
    ),
    "intents: -> entities: [{name: x, kind: colour}]\nintents:": (
        "kind: expected number, pattern, values, text, date_range or series, got 'colour' @ 3"
    ),
    "intents: -> flags: ${NOWHERE}\nintents:": (
        "environment variable NOWHERE is not set; set it, or write ${NOWHERE:-default} @ 3"
    ),
}


@pytest.mark.parametrize(("change", "problem"), REFUSED.items())
def test_what_is_not_known_is_refused(tmp_path: Path, change: str, problem: str) -> None:
    old, new = change.split(" -> ")
    loaded = pack_of(tmp_path, MINIMAL.replace(old, new))
    told = [f"{problem.what} @ {problem.where.line}" for problem in loaded.problems]
    assert (problem in told, loaded.pack) == (True, None), told


SENSELESS = """\
name: senseless
fallback: {intent: CHAT}
entities:
  - {name: days, kind: number, patterns: ['(\\d+) days'], min: 9, max: 2}
  - {name: genre, kind: values}
intents:
  - {name: BUY, keywords: [buy], explanation: '{trigger} {gerne}', routes: [{to: SELL}]}
  - {name: SELL}
  - {name: LEND}
  - {name: HIRE, examples: [a boat for a day], strict: true}
  - {name: CHAT}
"""


def test_what_can_never_be_meant_is_told(tmp_path: Path) -> None:
    loaded = pack_of(tmp_path, SENSELESS)
    told = [f"{each.severity}: {each.what} @ {each.where.line}" for each in loaded.problems]
    assert told == [
        "error: no number lies from 9 to 2 @ 4",
        "error: entity 'genre' has neither values nor patterns @ 5",
        "warning: nothing leads to intent 'LEND': it has no keywords, patterns, rules or "
        "examples @ 9",
        "warning: nothing leads to intent 'HIRE': it has no keywords, patterns, rules or "
        "examples that count (it is strict) @ 10",
        "warning: there is nothing to put for {gerne}; did you mean 'genre'? @ 7",
    ]


def test_a_pack_that_is_not_there(tmp_path: Path) -> None:
    missing = load_pack(tmp_path / "other.yaml", {})
    assert [str(problem) for problem in missing.problems] == [
        f"there is no such file @ {tmp_path}/other.yaml"
    ]


def test_a_pack_of_one_file_and_a_language_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pirate.yaml").write_text(
        "language: pirate\nprefixes: [o']\nnumbers: {words: {arr: 3}}\n", encoding="utf-8"
    )
    loaded = pack_of(
        tmp_path,
        """\
name: ship
languages: [pirate.yaml]
fallback: {intent: TALK}
entities: [{name: barrels, kind: number, patterns: ['{number} barrels']}]
intents:
  - {name: LOAD, keywords: [load]}
  - {name: TALK}
""",
    )
    assert (loaded.problems, loaded.pack is not None) == ((), True)
    assert loaded.pack is not None
    assert IntentDetector(loaded.pack).detect("Load arr barrels!").result == {
        "intent": "LOAD",
        "confidence": 1.0,
        "method": "keyword",
        "entities": {"barrels": 3},
        "flags": {},
        "explanation": "LOAD by keyword",
    }


def test_a_problem_in_a_language_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(
        "language: own\ndates:\n  months: {first: 13}\n  formats: ['(']\n", encoding="utf-8"
    )
    loaded = pack_of(tmp_path, MINIMAL + "languages: [own.yaml]\n")
    assert [str(problem) for problem in loaded.problems] == [
        f"first: expected a number between 1 and 12, got 13 @ {tmp_path}/own.yaml:3"
    ]


@pytest.mark.parametrize("pack", [DECISIONS, STUDY])
def test_the_examples_have_no_problems(pack: Path) -> None:
    assert detector(pack).pack.spec.name == pack.name


def test_keywords_outrank_patterns_or_intents_stand_in_order(tmp_path: Path) -> None:
    pack = """\
name: two
choose: {choose}
fallback: {{intent: NONE}}
intents:
  - {{name: FIRST, patterns: ['light'], priority: 1}}
  - {{name: SECOND, keywords: [light, red light]}}
  - {{name: NONE}}
"""
    found = {}
    for choose in ("layer", "priority"):
        loaded = pack_of(tmp_path, pack.format(choose=choose))
        assert loaded.pack is not None
        intent = IntentDetector(loaded.pack).detect("a red light").intent
        found[choose] = (intent.name, intent.method)
    assert found == {"layer": ("SECOND", "keyword"), "priority": ("FIRST", "regex")}


def test_who_is_less_sure_than_the_fallback_asks_gives_way(tmp_path: Path) -> None:
    loaded = pack_of(
        tmp_path,
        """\
name: unsure
fallback: {intent: ASK, confidence: 0.3, below: 0.6, explanation: unclear}
intents:
  - {name: GO, keywords: [maybe], confidence: {keyword: 0.5}}
  - {name: ASK}
""",
    )
    assert loaded.pack is not None
    found = IntentDetector(loaded.pack).detect("maybe").intent
    assert (found.name, found.confidence, found.explanation) == (
        "ASK",
        0.3,
        "unclear (GO is only 0.5 sure)",
    )
