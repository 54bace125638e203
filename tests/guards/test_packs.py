"""Packs that cannot be used say what is wrong, with file and line."""

from pathlib import Path

import pytest

from server.cli.check import check_path
from server.guards.options import guard_problems
from server.guards.pack import load_guards
from tests.guards.desk import FOLDER, settings_in

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: x\ncategories: {}\n", ["out-of-range 2"]),
        ("name: x\ncategories:\n  a: {action: stop, patterns: x}\n", ["unknown-value 3"]),
        ("name: x\ncategories:\n  a: {patern: x}\n", ["unknown-key 3"]),
        ("name: x\ncategories:\n  a: {action: block}\n", ["empty-category 3"]),
        ("name: x\ncategories:\n  a:\n    patterns:\n      - ok\n      - '('\n", ["bad-pattern 6"]),
        ("name: x\ncategories:\n  a:\n    patterns: 'x*'\n", ["bad-pattern 4"]),
        ("name: x\ncategories:\n  a: {patterns: x, action: route}\n", ["bad-route 3"]),
        (
            "name: x\ncategories:\n  a:\n    patterns: x\n    response: '{{ nobody }}'\n",
            ["unknown-variable 5"],
        ),
        (
            "name: x\ncategories:\n  a:\n    patterns: x\n    response: {en: '{% if %}'}\n",
            ["bad-template 5"],
        ),
        ("name: x\ncategories:\n  a b: {patterns: x}\n", ["bad-name 3"]),
        ("name: x\ncategories:\n  a:\n    examples: [' ']\n", ["empty-example 4"]),
        ("categories:\n  a: {patterns: x, threshold: 2}\n", ["missing-key 1", "out-of-range 2"]),
        (
            "name: x\ncategories:\n  a: {patterns: x}\nread_as:\n  coin: [ltc, ' ']\n",
            ["empty-word 5"],
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, said: list[str]) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(text)
    loaded = load_guards([pack], {})
    assert loaded.guards is None
    assert [f"{problem.kind} {problem.where.line}" for problem in loaded.problems] == said


def test_two_packs_may_not_share_a_category(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"name: {name}\ncategories:\n  a: {{patterns: {name}}}\n")
    loaded = load_guards([tmp_path / "one", tmp_path / "two"], {})
    assert [(p.kind, p.where.line) for p in loaded.problems] == [("duplicate-category", 3)]


def test_a_route_that_leads_nowhere_is_a_problem(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(
        "name: x\ncategories:\n  a: {action: route, patterns: x, route_to: {adapter: gone}}\n"
    )
    settings = settings_in(tmp_path, packs=(pack,))
    (problem,) = guard_problems(settings.adapters[0], None, settings, {})
    assert problem.kind == "unknown-route"
    assert problem.what == "guard category 'a' leads to adapter 'gone', which is not there"


def test_check_knows_a_pack_by_what_it_holds(tmp_path: Path) -> None:
    pack = tmp_path / "rules.yaml"
    pack.write_text("name: x\ncategories:\n  a: {patterns: '('}\n")
    assert [(p.kind, p.where.line) for p in check_path(pack)] == [("bad-pattern", 3)]
    assert check_path(FOLDER / "guard.yaml") == []


@pytest.mark.parametrize("name", ["guard.yaml", "guard-as-specified.yaml"])
def test_the_shipped_packs_have_no_problems(name: str) -> None:
    assert load_guards([FOLDER / name], {}).problems == ()
