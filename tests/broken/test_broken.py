"""Each folder here holds one mistake, or several, and `expected.txt`: what is said of it.

A line of `expected.txt` is the kind of a problem, and the problem as people read it.
"""

import ast
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from server.errors import Problem
from server.library.loader import load_library
from server.settings.loader import load_settings

HERE = Path(__file__).parent
CASES = sorted(folder.parent.name for folder in HERE.glob("*/expected.txt"))


def problems_of(config: Path, environ: Mapping[str, str]) -> list[Problem]:
    """Everything that is found in a configuration, down to the last template."""
    loaded = load_settings(config, environ)
    found = list(loaded.problems)
    for adapter in loaded.settings.adapters if loaded.settings is not None else ():
        paths = adapter.config
        library = load_library(
            paths.domain_config_path, paths.template_library_path, loaded.environ
        )
        found += library.problems
        errors = {problem for problem in library.problems if problem.is_error}
        serves = library.library is not None
        # Whatever is wrong with a template is about it, so that the others can serve.
        assert not serves or all(problem.template is not None for problem in errors)
        assert serves or errors
    return found


@pytest.mark.parametrize("case", CASES)
def test_what_is_said_of_it(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE / case)
    said = [f"{problem.kind}: {problem}" for problem in problems_of(Path("config.yaml"), {})]
    assert said == (HERE / case / "expected.txt").read_text().splitlines()


def test_nothing_is_said_of_what_the_broken_ones_lean_on() -> None:
    assert problems_of(HERE / "good" / "config.yaml", {}) == []


def test_every_folder_is_a_case() -> None:
    folders = {path.name for path in HERE.iterdir() if path.is_dir()}
    assert folders - {"__pycache__"} == {*CASES, "good"}


def test_every_kind_of_problem_has_a_case() -> None:
    expected = "".join((HERE / case / "expected.txt").read_text() for case in CASES)
    shown = set(re.findall(r"^([a-z0-9-]+):", expected, re.MULTILINE))
    needs_a_special_file = {"too-large", "unreadable"}
    from_other_models = {"wrong-value"}
    assert shown == kinds_in_the_sources() - needs_a_special_file - from_other_models


def kinds_in_the_sources() -> set[str]:
    """Problem kinds are the hyphenated words among the constants of what reads YAML."""
    folders = (HERE.parents[1] / "server" / name for name in ("settings", "library"))
    words = {
        node.value
        for folder in folders
        for path in folder.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    hyphenated = {word for word in words if re.fullmatch(r"[a-z]+(-[a-z0-9]+)+", word)}
    others = {"date-time", "utf-8-sig", "content-length", "content-type", "transfer-encoding"}
    return hyphenated - others | {"tab", "unreadable"}
