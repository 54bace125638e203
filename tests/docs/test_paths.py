"""Every module that the documentation names stands where it says."""

import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.settings.models import ServerSettings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NEW_FILE = re.compile(r"^# (server/\S+\.py)$", re.MULTILINE)
"""The first line of an example that shows a file to be added."""
PACKAGES = {
    path.parent.relative_to(ROOT).as_posix()
    for path in (ROOT / "server").rglob("__init__.py")
    if path.parent != ROOT / "server"
}
PATH = re.compile(r"(?<![\w./-])(?:server|tests|utils)/[\w./-]*[\w/]")
SHORT_PATH = re.compile(rf"`((?:{'|'.join(p[7:] for p in PACKAGES)})/[\w/]*\w(?:\.py)?)`")
"""A path without `server/`: `chat/pipeline.py`."""
DOTTED = re.compile(r"(?<![\w./-])(?:server|utils)(?:\.[A-Za-z_]\w*)+")


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def named_paths(page: Path) -> Iterator[str]:
    text = read(page)
    new = set(NEW_FILE.findall(text))
    yield from (path for path in PATH.findall(text) if path not in new and "/xx" not in path)
    yield from (f"server/{path}" for path in SHORT_PATH.findall(text))


def exists(dotted: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    path = ROOT
    parts = dotted.split(".")
    for at, part in enumerate(parts):
        if (path / part).is_dir():
            path /= part
        elif (path / f"{part}.py").is_file():
            rest = parts[at + 1 :]
            module = importlib.import_module(".".join(parts[: at + 1])) if rest else None
            return not rest or hasattr(module, rest[0])
        else:
            return hasattr(importlib.import_module(".".join(parts[:at])), part)
    return True


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_paths_that_a_page_names_exist(page: Path) -> None:
    assert [path for path in named_paths(page) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_dotted_names_on_a_page_exist(page: Path) -> None:
    text = read(page)
    new = {path.removesuffix(".py").replace("/", ".") for path in NEW_FILE.findall(text)}
    settings = {f"server.{name}" for name in ServerSettings.model_fields}
    named = set(DOTTED.findall(text)) - new - settings
    assert [name for name in sorted(named) if not exists(name)] == []


def test_the_architecture_has_every_package() -> None:
    text = read(ROOT / "docs" / "architecture.md")
    assert [package for package in sorted(PACKAGES) if f"`{package}`" not in text] == []


def test_the_architecture_has_the_layers_of_the_contract() -> None:
    contracts = tomllib.loads(read(ROOT / "pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if "layers" in contract)
    assert "\n".join(("```", *layers, "```")) in read(ROOT / "docs" / "architecture.md")


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", read(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        known = "://" in link or (target.exists() and (not anchor or anchor in anchors(target)))
        if not known:
            broken.append(link)
    assert broken == []
