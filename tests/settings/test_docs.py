"""What the documentation says of configuration and libraries is so."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from server.conversation.reformulation.loader import load_reformulation
from server.guards.pack import load_guards
from server.library.loader import load_library
from server.library.parameter_types import PARAMETER_TYPES
from server.settings.documented import field_docs
from server.settings.fields import LibraryModel
from server.settings.loader import load_settings
from tests.broken.test_broken import kinds_in_the_sources
from tests.settings.tables import DOCS, MODELS, PAGES, PLACE, TABLE_PAGES, with_tables

FENCE = re.compile(r"(?:<!-- loads as: (\w+) -->\n)?```yaml\n(.*?)```", re.DOTALL)
BLOCKS = [
    pytest.param(found[1], found[2], id=f"{page.stem}-{number}")
    for page in PAGES
    for number, found in enumerate(FENCE.finditer(page.read_text()), start=1)
]
ENVIRON = {"OPENAI_API_KEY": "k", "CHROMA_TOKEN": "t"}

DOMAIN = "domain_name: d\n"
TEMPLATE = """
- id: t
  nl_examples: [something]
  tool_name: calculator
  tool_operation: add
"""


@pytest.mark.parametrize("page", TABLE_PAGES, ids=[page.stem for page in TABLE_PAGES])
def test_tables_are_as_the_models_are(page: Path) -> None:
    text = page.read_text()
    assert text == with_tables(text), "run: python -m tests.settings.tables"


def test_every_model_has_a_table() -> None:
    shown = {place[2] for page in TABLE_PAGES for place in PLACE.finditer(page.read_text())}
    in_other_words = {
        "DomainYaml", "NestedDomainYaml", "NormalizerYaml", "ReadingYaml", "ServiceYaml",
        "Imports", "Documented", "Strict", "LibraryModel", "BaseModel", "ProviderSections",
    }  # fmt: skip
    assert shown == MODELS.keys() - in_other_words


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_every_key_is_described(model: type[BaseModel]) -> None:
    assert model.model_fields.keys() - field_docs(model).keys() == set()


@pytest.mark.parametrize(("kind", "text"), BLOCKS)
def test_every_block_of_yaml_loads(kind: str | None, text: str, tmp_path: Path) -> None:
    assert kind is not None, "say above the block what it loads as"
    if kind in {"config", "adapters"}:
        folder = tmp_path / "config"
        (folder / "adapters").mkdir(parents=True)
        (folder / "adapters" / "empty.yaml").write_text("[]\n")
        (folder / "block.yaml").write_text(text)
        (folder / "config.yaml").write_text("import: block.yaml\n")
        assert load_settings(folder / "config.yaml", ENVIRON).problems == ()
        return
    if kind == "guards":
        pack = tmp_path / "guard.yaml"
        pack.write_text(text)
        assert load_guards([pack], ENVIRON).problems == ()
        return
    if kind == "reformulator":
        written = tmp_path / "reformulator.yaml"
        written.write_text(text)
        assert load_reformulation(written, ENVIRON).problems == ()
        return
    if kind == "parameters":
        text = f"{TEMPLATE}  parameters:\n" + "".join(f"    {line}\n" for line in text.splitlines())
    domain, templates = tmp_path / "domain.yaml", tmp_path / "tools.yaml"
    domain.write_text(text if kind == "domain" else DOMAIN)
    templates.write_text(text if kind != "domain" else TEMPLATE)
    assert load_library(domain, [templates], ENVIRON).problems == ()


def test_every_kind_of_problem_is_explained() -> None:
    page = (DOCS / "authoring.md").read_text().partition("## Problems")[2]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE)
    assert rows == sorted(kinds_in_the_sources())


def test_every_type_is_named() -> None:
    page = (DOCS / "authoring.md").read_text()
    paragraph = page[page.index("\nTypes: ") :].partition("and the names")[0]
    assert re.findall(r"`(\w+)`", paragraph) == list(PARAMETER_TYPES)


def test_the_keys_let_through_are_no_keys_that_are_read() -> None:
    for model in MODELS.values():
        if issubclass(model, LibraryModel):
            assert model.not_used.isdisjoint(model.model_fields)
