"""What is said of an adapter's pack, and of templates that declare what they are for."""

from pathlib import Path

import pytest

from server.adapters.check import load_adapter
from server.core.turn import Intent
from server.library.model import BuiltinExecution, Template
from server.settings.loader import load_settings

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
    read = load_adapter(loaded.settings.adapters[0], {})
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


ENTITIES = """
name: values
fallback: {intent: CHAT}
operations: {options: [{name: count, keywords: [count]}]}
entities:
  - name: size
    kind: values
    values: {small: [little], large: []}
    patterns: [{pattern: huge, value: 9}]
  - {name: parts, kind: values, all: true, values: {wheel: [], door: []}}
  - {name: level, kind: pattern, case: upper, patterns: ['level (\\w+)']}
  - {name: grade, kind: pattern, patterns: [{pattern: best, value: A}, {pattern: worst, value: F}]}
  - {name: amount, kind: number, min: 1, max: 12, patterns: ['{number}']}
  - {name: topic, kind: text, after: ['about ']}
  - {name: period, kind: date_range}
  - {name: both, kind: series, series: [{name: years, item: '(\\d{4})'}]}
  - {name: mood, kind: number, default: calm, patterns: ['{number}']}
intents: [{name: CHAT, operation: true}]
"""


@pytest.mark.parametrize(
    "when",
    [
        "size: [small, 9]",
        "parts: [[wheel], [door, wheel]]",
        "level: N5",
        "grade: [A, F]",
        "amount: [1, 12]",
        "topic: rivers",
        "period: {start: '2024-01-01', end: '2024-12-31'}",
        "both: 'years:2023,2024'",
        "mood: [calm, 3]",
    ],
)
def test_a_value_that_an_entity_can_have_is_accepted(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values.yaml").write_text(ENTITIES)
    assert "unknown" not in said(tmp_path, "intents: values.yaml", f"when: {{{when}}}")


@pytest.mark.parametrize(
    ("when", "what"),
    [
        ("size: smal", "size is never 'smal'; did you mean 'small'?"),
        ("size: [small, 8]", "size is never 8; known are small, large and 9"),
        ("parts: wheel", "parts is never 'wheel'; it is a list of values, "
         "so each value to compare with is a list too"),
        ("parts: [[wheel, dor]]", "parts is never ['wheel', 'dor']; did you mean 'door'?"),
        ("level: n5", "level is never 'n5'; did you mean 'N5'?"),
        ("level: 5", "level is never 5; it is text"),
        ("grade: B", "grade is never 'B'; known are A and F"),
        ("amount: 13", "amount is never 13; it is a number from 1 to 12"),
        ("amount: '3'", "amount is never '3'; it is a whole number"),
        ("amount: true", "amount is never True; it is a whole number"),
        ("topic: 7", "topic is never 7; it is text"),
        ("period: today", "period is never 'today'; it is {start: …, end: …}, dates in ISO 8601"),
        ("both: '2023,2024'", "both is never '2023,2024'; it is written as years:first,second"),
        ("mood: wild", "mood is never 'wild'; it is a whole number"),
    ],
)  # fmt: skip
def test_a_value_that_an_entity_never_has_is_a_problem(
    when: str, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "values.yaml").write_text(ENTITIES)
    found = said(tmp_path, "intents: values.yaml", f"when: {{{when}}}")
    assert found.replace(f"{tmp_path}/", "") == f"unknown-value: when: {what} @ tools.yaml:2"


def test_what_declares_nothing_and_what_is_not_named_tell_nothing() -> None:
    plain = Template("t", "", "function", (), (), BuiltinExecution("x", "y"))
    levelled = Template("t", "", "function", (), (), BuiltinExecution("x", "y"), when={"l": (1,)})
    asked = Intent("ASK", 1.0, "keyword")
    assert (plain.agrees(asked), levelled.agrees(asked), levelled.agrees(None)) == (None,) * 3
