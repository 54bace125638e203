"""The library, the questions and the day that tests of extraction share."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from server.extraction.extractor import Extractor
from server.extraction.values import Extraction
from server.library.loader import load_library
from server.library.model import BuiltinExecution, Domain, Library, Parameter, Template

EVERYDAY = Path(__file__).parent / "everyday"

NOW = datetime(2025, 3, 5, 12, tzinfo=UTC)
"""A Wednesday."""


@cache
def everyday() -> Library:
    loaded = load_library(EVERYDAY / "domain.yaml", [EVERYDAY / "templates.yaml"], {})
    assert loaded.library is not None, loaded.problems
    return loaded.library


@cache
def everyday_extractor() -> Extractor:
    return Extractor(everyday().domain)


@cache
def questions() -> list[tuple[str, dict[str, Any]]]:
    """Each question with the template that it is for."""
    by_template = yaml.safe_load((EVERYDAY / "questions.yaml").read_text())
    return [(template, asked) for template, group in by_template.items() for asked in group]


def ask(text: str, template: str) -> Extraction:
    return everyday_extractor().extract(text, everyday().templates[template], now=NOW)


def template_of(*parameters: Parameter, examples: tuple[str, ...] = ()) -> Template:
    """A template of which only the parameters and examples matter."""
    run = BuiltinExecution("calculator", "add")
    return Template("t", "", "function", examples, parameters, run)


def extract(
    text: str,
    *parameters: Parameter,
    examples: tuple[str, ...] = (),
    domain: Domain | None = None,
) -> Extraction:
    extractor = Extractor(domain or Domain("d"))
    return extractor.extract(text, template_of(*parameters, examples=examples), now=NOW)


def arguments(text: str, *parameters: Parameter, **more: Any) -> dict[str, Any]:
    return dict(extract(text, *parameters, **more).arguments)
