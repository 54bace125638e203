"""What is wrong with a reformulator is said at once, with its line."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from server.adapters.check import load_adapter
from server.conversation.reformulation.loader import load_reformulation, reformulation_problems
from server.library.loader import load_library
from server.settings.loader import load_settings
from tests.support.configuring import NOW, adapter, configure, write_library

INTENT = {"name": "now", "description": "The time", "template": "current_time"}


def said_of(folder: Path, **written: Any) -> list[str]:
    path = folder / "reformulator.yaml"
    path.write_text(yaml.safe_dump({"intents": [INTENT], **written}, sort_keys=False))
    loaded = load_reformulation(path, {})
    assert (loaded.reformulation is None) == bool(loaded.problems)
    return [f"{problem.kind}: {problem.what}" for problem in loaded.problems]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({}, []),
        (
            {"intents": []},
            ["out-of-range: intents: tuple should have at least 1 item after validation, not 0"],
        ),
        ({"target": "x"}, ["unknown-key: unknown key 'target'; did you mean 'targets'?"]),
        (
            {"intents": [INTENT | {"name": "Cancel-Order"}]},
            ["bad-name: intent 'Cancel-Order' is compared as 'cancel_order'; write that"],
        ),
        ({"intents": [INTENT, INTENT]}, ["duplicate-intent: intent 'now' is defined twice"]),
        (
            {"prompt": "Say what is wanted: {{ intent }}"},
            [
                "unknown-variable: prompt: there is no 'intent' here; there are: intents",
                "intents-missing: prompt: has to name the `intents`, so that the model knows "
                "what it may answer",
            ],
        ),
        (
            {"prompt": "{% for i in intents %}{{ i.nmae }}{% endfor %}"},
            ["bad-template: prompt: 'dict object' has no attribute 'nmae'"],
        ),
        (
            {"proposal": {"en": "Is it {{ title }", "he": "{{ order }}?"}},
            [
                "bad-template: proposal: unexpected '}'",
                "unknown-variable: proposal: there is no 'order' here; there are: intent, "
                "target, title",
            ],
        ),
        (
            {"clarify": "One of {{ intent }}?"},
            ["unknown-variable: clarify: there is no 'intent' here; there are: intents"],
        ),
    ],
)
def test_a_file_that_is_wrong(tmp_path: Path, written: dict[str, Any], said: list[str]) -> None:
    assert said_of(tmp_path, **written) == said


ROW = {"name": "zone", "type": "string", "description": "Where", "required": True}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (
            {"target": "zone", "lookup": "zone_of"},
            "unknown-template: now: lookup: there is no template 'zone_of'; "
            "known are find, note and pair",
        ),
        (
            {"target": "zone", "lookup": "note"},
            "lookup-writes: now: lookup: 'note' changes something; name a template that reads",
        ),
        ({"lookup": "find"}, "lookup-without-target: now: lookup needs a target to look up"),
        (
            {"target": "zone", "lookup": "pair"},
            "unknown-parameter: now: lookup: 'pair' has to take 'zone', and need nothing else",
        ),
        ({"target": "zone", "lookup": "find"}, None),
    ],
)
def test_a_lookup_reads_and_takes_the_target(
    tmp_path: Path, more: dict[str, str], said: str | None
) -> None:
    find = {**NOW, "id": "find", "parameters": [ROW], "nl_examples": ["Find a zone"]}
    note = {**find, "id": "note", "effect": "write", "nl_examples": ["Note a zone"]}
    pair = {**find, "id": "pair", "parameters": [ROW, {**ROW, "name": "other"}]}
    library = write_library(tmp_path / "library", [find, note, pair])
    read = load_library(library / "domain.yaml", [library / "tools.yaml"], {}).readable
    intent = {**INTENT, "template": "find", **more}
    (tmp_path / "reformulator.yaml").write_text(yaml.safe_dump({"intents": [intent]}))
    written = load_reformulation(tmp_path / "reformulator.yaml", {}).reformulation
    assert read is not None
    assert written is not None
    problems = [f"{p.kind}: {p.what}" for p in reformulation_problems(written, read, None)]
    assert problems == ([said] if said else [])


def test_what_is_not_in_the_library_or_the_pack_is_named(tmp_path: Path) -> None:
    library = write_library(tmp_path / "library", [NOW])
    other = {"name": "later", "description": "Later", "template": "current_tiem"}
    aimed = INTENT | {"target": "zone"}
    (tmp_path / "pack.yaml").write_text(
        "name: p\nfallback: {intent: CHAT}\nintents: [{name: CHAT}]\n"
        "entities: [{name: city, kind: pattern, patterns: ['in (.+)']}]\n"
    )
    (tmp_path / "reformulator.yaml").write_text(
        yaml.safe_dump({"intents": [aimed, other], "targets": ["citty"]})
    )
    named = {"reformulator": str(tmp_path / "reformulator.yaml")}
    with_pack = named | {"intents": str(tmp_path / "pack.yaml")}

    def said(config: dict[str, str]) -> list[str]:
        found = configure(tmp_path, [adapter("clock", library, config=config)])
        problems = load_adapter(found.settings.adapters[0], found.environ).problems
        return [f"{p.kind}: {p.what}" for p in problems if "reformulator" in p.where.file]

    missing = [
        "unknown-parameter: now: 'current_time' has no parameter 'zone'; there are none",
        "unknown-template: later: there is no template 'current_tiem'; "
        "did you mean 'current_time'?",
    ]
    city = "unknown-entity: targets: unknown entity 'citty'; did you mean 'city'?"
    pack = "pack-missing: targets are entities of a rule pack; name one with intents"
    assert said(with_pack) == [*missing, city]
    assert said(named) == [*missing, pack]


@pytest.mark.parametrize(
    ("reads", "warned"),
    [
        ({}, True),
        ({"intents": "pack.yaml"}, False),
        ({"inference_model_provider": "scripted"}, False),
    ],
    ids=["nobody", "rules", "a model"],
)
def test_a_reformulator_that_nothing_reads_for_is_warned_of(
    tmp_path: Path, reads: dict[str, str], warned: bool
) -> None:
    library = write_library(tmp_path / "library", [NOW])
    (tmp_path / "pack.yaml").write_text(
        "name: p\nfallback: {intent: CHAT}\nintents: [{name: CHAT}]\n"
    )
    (tmp_path / "reformulator.yaml").write_text(yaml.safe_dump({"intents": [INTENT]}))
    config = {"reformulator": str(tmp_path / "reformulator.yaml")}
    config |= {name: str(tmp_path / file) for name, file in reads.items() if name == "intents"}
    more = {name: value for name, value in reads.items() if name != "intents"}
    found = configure(tmp_path, [adapter("clock", library, config=config, **more)])
    problems = load_adapter(found.settings.adapters[0], found.environ).problems
    warning = (
        "warning: nothing reads conversations for the reformulator; name a rule pack with intents, "
        "or a model with inference_model_provider"
    )
    assert [str(p).partition(" @ ")[0] for p in problems] == ([warning] if warned else [])


def test_the_shipped_shop_has_no_problem() -> None:
    root = Path(__file__).parents[2]
    loaded = load_settings(root / "config" / "config.yaml", {})
    assert loaded.settings is not None
    (retail,) = [one for one in loaded.settings.adapters if one.name == "retail"]
    read = load_adapter(retail, loaded.environ, loaded.settings)
    assert (read.problems, read.reformulation is None) == ((), False)
