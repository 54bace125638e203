"""What docs/intents.md says is so: its packs load, and it leaves no key out."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from server.intents import spec
from server.intents.compiler import load_pack
from server.intents.detector import IntentDetector
from server.text import language
from tests.intents.support import NOW, PACKS

DOCS = PACKS.parents[1] / "docs"
PAGE = (DOCS / "intents.md").read_text(encoding="utf-8")
PAGES = PAGE + (DOCS / "languages.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"<!-- loads as: (\w+) -->\n```yaml\n(.*?)```", PAGE, re.DOTALL))
MODELS = {
    name: kind
    for module in (spec, language)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, BaseModel)
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_every_key_is_written_about(model: type[BaseModel]) -> None:
    unsaid = [name for name in model.model_fields if not re.search(rf"`[^`\n]*\b{name}\b", PAGES)]
    assert unsaid == []


def test_the_first_pack_does_what_the_page_says(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(BLOCKS["pack"], encoding="utf-8")
    loaded = load_pack(tmp_path, {})
    assert loaded.problems == ()
    assert loaded.pack is not None
    found = IntentDetector(loaded.pack).detect("Could I keep it another twenty-one days?").intent
    assert (found.name, found.entities) == ("EXTEND_LOAN", {"days": 21})


def test_the_language_of_the_page_dates_and_counts(tmp_path: Path) -> None:
    (tmp_path / "nl.yaml").write_text(BLOCKS["language"], encoding="utf-8")
    pack = BLOCKS["pack"].replace("languages: [en]", "languages: [nl.yaml]")
    pack = pack.replace("entities:", "entities:\n  - {name: dates, kind: date_range}")
    pack = pack.replace("{number} days", "{number} dagen")
    (tmp_path / "pack.yaml").write_text(pack, encoding="utf-8")
    loaded = load_pack(tmp_path, {})
    assert loaded.problems == ()
    assert loaded.pack is not None
    asked = IntentDetector(loaded.pack)
    found = {
        question: dict(asked.detect(f"find {question}", NOW).intent.entities)
        for question in (
            "vandaag",
            "tussen 5 mei 2020 en 7 mei 2020",
            "sinds 2024",
            "twintig en drie dagen",
        )
    }
    assert found == {
        "vandaag": {"dates": {"start": "2025-03-12", "end": "2025-03-12"}},
        "tussen 5 mei 2020 en 7 mei 2020": {"dates": {"start": "2020-05-05", "end": "2020-05-07"}},
        "sinds 2024": {"dates": {"start": "2024-01-01", "end": "2025-03-12"}},
        "twintig en drie dagen": {"days": 23},
    }
