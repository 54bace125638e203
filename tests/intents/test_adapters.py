"""What is said of an adapter's pack, and of templates that declare what they are for."""

from pathlib import Path

import pytest

from server.core.intent import Intent
from server.library.model import BuiltinExecution, Template
from server.reading import read_library
from server.settings.loading import load_settings

CONFIG = """
adapters:
  - name: example
    config:
      domain_config_path: domain.yaml
      template_library_path: tools.yaml
"""
PACK = """
name: things
fallback: {intent: CHAT}
operations:
  default: search
  options: [{name: count, keywords: [count]}]
entities:
  - {name: level, kind: pattern, patterns: ['level (\\w+)']}
intents:
  - {name: ASK, operation: true, keywords: [count, show]}
  - {name: CHAT}
"""
TEMPLATE = """
- id: now
  nl_examples: ["{example}"]
  tool_name: date_time
  tool_operation: now
  {declared}
"""


def said(folder: Path, more: str, declared: str = "tags: []", example: str = "show now") -> str:
    """Everything that `check` says of the adapter."""
    (folder / "config.yaml").write_text(CONFIG + "".join(f"      {m}\n" for m in more.split(";")))
    (folder / "domain.yaml").write_text("domain_name: things\n")
    (folder / "tools.yaml").write_text(TEMPLATE.format(declared=declared, example=example))
    (folder / "pack.yaml").write_text(PACK)
    (folder / "broken.yaml").write_text("name: broken\nfallback: {intent: CHAT}\n")
    loaded = load_settings(folder / "config.yaml", {})
    assert loaded.settings is not None, loaded.problems
    read = read_library(loaded.settings.adapters[0], {}, {})
    assert read.usable is not any(p.severity == "error" for p in read.problems)
    return "\n".join(f"{problem.kind}: {problem}" for problem in read.problems)


@pytest.mark.parametrize(
    ("more", "declared", "expected"),
    [
        ("intents: pack.yaml", "tags: []", ""),
        ("intents: pack.yaml", "when: {operation: [search, count], level: N5}", ""),
        (
            "intents: none.yaml",
            "tags: []",
            "not-found: there is no such file @ none.yaml",
        ),
        (
            "intents: broken.yaml",
            "tags: []",
            "missing-key: 'intents' is missing @ broken.yaml:1",
        ),
        (
            "intents: pack.yaml",
            "intents: [ASKS]",
            "unknown-intent: intents: unknown intent 'ASKS'; did you mean 'ASK'? @ tools.yaml:2",
        ),
        (
            "intents: pack.yaml",
            "when: {levels: N5}",
            "unknown-entity: when: unknown entity 'levels'; did you mean 'level'? @ tools.yaml:2",
        ),
        (
            "intents: pack.yaml",
            "when: {operation: compare}",
            "unknown-operation: when: unknown operation 'compare'; known are count and search "
            "@ tools.yaml:2",
        ),
        (
            "intents: pack.yaml",
            "when: {operation: count}",
            "example-contradicted: warning: 'now' is not for what the rule pack finds in its own "
            "examples: 'show now' @ tools.yaml:2",
        ),
        (
            "max_templates: 5",
            "intents: [ASK]",
            "pack-missing: warning: 'now' declares intents, and the adapter has no rule pack to "
            "detect them @ tools.yaml:2",
        ),
        (
            "intents_semantic: true",
            "tags: []",
            "pack-missing: warning: intents_semantic compares the examples of a pack; name one "
            "with intents @ config.yaml:3",
        ),
    ],
)
def test_what_is_said(
    more: str, declared: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert said(tmp_path, more, declared).replace(f"{tmp_path}/", "") == expected


@pytest.mark.parametrize(
    ("intent", "entities", "agrees"),
    [
        ("ASK", {"operation": "count"}, True),
        ("ASK", {"operation": "list"}, True),
        ("ASK", {"operation": "search"}, False),
        ("ASK", {}, True),
        ("CHAT", {"operation": "count"}, False),
    ],
)
def test_a_template_is_for_what_it_declares(
    intent: str, entities: dict[str, str], agrees: bool
) -> None:
    template = Template(
        "t", "", "function", (), (), BuiltinExecution("x", "y"),
        intents=("ASK",), when={"operation": ("count", "list")},
    )  # fmt: skip
    assert template.agrees(Intent(intent, 1.0, "keyword", entities)) is agrees


def test_what_declares_nothing_and_what_is_not_named_tell_nothing() -> None:
    plain = Template("t", "", "function", (), (), BuiltinExecution("x", "y"))
    levelled = Template("t", "", "function", (), (), BuiltinExecution("x", "y"), when={"l": (1,)})
    asked = Intent("ASK", 1.0, "keyword")
    assert (plain.agrees(asked), levelled.agrees(asked), levelled.agrees(None)) == (None,) * 3
