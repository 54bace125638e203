"""`schema`: what editors are told is what the loaders take."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from typer.testing import CliRunner

from server.cli.main import command_line
from server.cli.schema import KINDS, schema_of
from server.settings.documents import parse_yaml

ROOT = Path(__file__).parents[2]
BROKEN = ROOT / "tests" / "broken"
FENCE = re.compile(r"<!-- loads as: (\w+) -->\n```yaml\n(.*?)```", re.DOTALL)
ADAPTER = "{domain_config_path: d, template_library_path: [t]}"
KIND_BY_KEY = {
    "templates": "templates",
    "domain": "domain",
    "domain_name": "domain",
    "questions": "questions",
    "categories": "guards",
    "prompts": "prompts",
    "fallback": "pack",
    "targets": "reformulator",
}


class _AsWritten(Mapping[str, str]):
    """An environment in which each variable stands for its own placeholder."""

    def __getitem__(self, name: str) -> str:
        return f"${{{name}}}"

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


@cache
def validator(kind: str) -> Any:
    return jsonschema_rs.validator_for(schema_of(kind))


def complaints(kind: str, text: str) -> list[str]:
    data = parse_yaml(text.encode(), "f", _AsWritten(), top=(dict, list)).data
    return [error.message for error in validator(kind).iter_errors(data)]


def kind_of(path: Path) -> str:
    data = parse_yaml(path.read_bytes(), "f", _AsWritten(), top=(dict, list)).data
    if isinstance(data, list):
        return "templates" if data and "id" in data[0] else "adapters"
    if path.name in ("config.yaml", "labelled.yaml"):
        return path.stem
    return next((kind for key, kind in KIND_BY_KEY.items() if key in data), "adapters")


def shipped() -> list[Path]:
    folders = ("config", "examples", "utils/train/libraries")
    found = [p for folder in folders for p in (ROOT / folder).rglob("*.y*ml")]
    found = [p for p in found if p.name != "alerts.yaml"]  # for Prometheus
    found = [p for p in found if "kubernetes" not in p.parts or "project" in p.parts]
    return sorted([*found, *(ROOT / "server" / "llm" / "prompts").glob("*.yaml")])


@pytest.mark.parametrize("path", shipped(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_that_ships_fits(path: Path) -> None:
    assert complaints(kind_of(path), path.read_text()) == []


def blocks() -> list[Any]:
    return [
        pytest.param(found[1], found[2], id=f"{page.stem}-{number}")
        for page in sorted((ROOT / "docs").glob("*.md"))
        for number, found in enumerate(FENCE.finditer(page.read_text()), start=1)
        if found[1] != "language"
    ]


@pytest.mark.parametrize(("kind", "text"), blocks())
def test_every_block_of_the_documentation_fits(kind: str, text: str) -> None:
    if kind == "parameters":
        kind = "templates"
        text = "- id: t\n  parameters:\n" + "".join(f"    {line}\n" for line in text.splitlines())
    assert complaints("adapters" if kind == "config" else kind, text) == []


@pytest.mark.parametrize(
    ("case", "file"),
    [
        ("config-adapter-incomplete", "config.yaml"),
        ("config-adapters-not-a-list", "config.yaml"),
        ("config-out-of-range", "config.yaml"),
        ("config-top-is-a-list", "config.yaml"),
        ("config-unknown-key", "config.yaml"),
        ("config-wrong-type", "config.yaml"),
        ("domain-nameless", "domain.yaml"),
        ("domain-unknown-key", "domain.yaml"),
        ("domain-wrong-type", "domain.yaml"),
        ("http-requests", "tools.yaml"),
        ("templates-missing-keys", "tools.yaml"),
        ("templates-not-a-list", "tools.yaml"),
        ("templates-unknown-key", "tools.yaml"),
    ],
)
def test_what_the_loaders_refuse_for_its_shape_does_not_fit(case: str, file: str) -> None:
    text = (BROKEN / case / file).read_text()
    kind = file.removesuffix(".yaml").replace("tools", "templates")
    assert complaints(kind, text) != []


@pytest.mark.parametrize(
    ("kind", "text", "fits"),
    [
        ("config", "server: {port: '${PORT:-8000}', max_body_kb: 12}", True),
        ("config", "server: {port: many}", False),
        ("config", "metrics: {enabled: '${METRICS}'}", True),
        ("config", "logging: {level: '${LEVEL}', format: json}", True),
        ("config", "access: {gateway: {secret: '${SECRET}'}}", True),
        ("config", "access: {gateway: {secret: short}}", False),
        ("config", "access: {wrong_keys: 20}", True),
        ("config", "models: {openai: {temperature: 0.5}}", True),
        ("config", "models: {openai: {temprature: 0.5}}", False),
        ("config", "models: {opnai: {}}", False),
        ("config", "import: adapters/*.yaml", True),
        ("config", "imports: adapters/*.yaml", False),
        (
            "adapters",
            "[{name: a, config: {domain_config_path: d, template_library_path: [t]}}]",
            True,
        ),
        ("adapters", "adapters: [{name: a}]", False),
        ("domain", "{domain: {name: d, entities: {city: {values: [a, b]}}}}", True),
        ("domain", "{domain_name: d, entities: {city: {values: {a: [b]}}}}", True),
        ("domain", "{domain_name: d, query_examples: [what]}", True),
        ("domain", "{domain_name: d, courtesy: false}", True),
        ("templates", "[{id: t, parameters: [{name: n, min: 1, maximum: 2}]}]", True),
        ("templates", "templates: [{id: t, function_schema: {parameters: [{name: n}]}}]", True),
        ("templates", "templates: [{id: t, method: post, category: sums, version: 1.0}]", True),
        ("templates", "templates: [{id: t, function_schema: {parameters: [{nme: n}]}}]", False),
        ("templates", "{templates: [], template: []}", False),
        ("questions", "questions: [{ask: what, template: null}]", True),
        ("questions", "questions: [{ask: what}]", False),
        ("pack", "{name: p, fallback: {intent: i}, intents: [{name: i, keyword: [x]}]}", False),
        ("guards", "{name: g, categories: {c: {patterns: x, response: {en: [no, never]}}}}", True),
        ("guards", "{name: g, categories: {c: {action: forbid, patterns: x}}}", False),
    ],
)
def test_a_schema_takes_what_the_loader_takes(kind: str, text: str, *, fits: bool) -> None:
    assert (complaints(kind, text) == []) is fits


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_says_what_keys_are_for(kind: str) -> None:
    schema = schema_of(kind)
    keys = [
        field
        for part in (schema, *schema.get("$defs", {}).values())
        for field in part.get("properties", {}).values()
    ]
    assert any("description" in field or "$ref" in field for field in keys) or kind == "pack"
    assert schema["title"] == KINDS[kind][0]


def test_the_command_prints_one_and_writes_all(tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(command_line("schema", "check"), ["schema", *words])

    assert [line.split()[0] for line in run().stdout.splitlines()] == list(KINDS)
    assert json.loads(run("domain").stdout) == schema_of("domain")
    assert "there is no schema of 'tools'; there are: config" in run("tools").stderr
    written = run("--write", str(tmp_path / "new"))
    assert written.stdout.splitlines() == [str(tmp_path / "new" / f"{kind}.json") for kind in KINDS]
    assert json.loads((tmp_path / "new" / "guards.json").read_text()) == schema_of("guards")


def test_a_new_project_names_the_schema_of_each_file(tmp_path: Path) -> None:
    app = command_line("new", "check")
    for extra in ([], ["--name", "second"]):  # the schemas are there already, then
        done = CliRunner().invoke(app, ["new", str(tmp_path / "shop"), *extra])
        assert done.exit_code == 0, done.output
        assert "schemas" not in done.stdout
    named = {}
    for path in (tmp_path / "shop").rglob("*.yaml"):
        line = re.match(r"# yaml-language-server: \$schema=(\S+)\n", path.read_text())
        assert line is not None, path
        schema = json.loads((path.parent / line[1]).read_text())
        kind = (path.parent / line[1]).stem
        assert schema == schema_of(kind)
        assert complaints(kind, path.read_text()) == []
        named[str(path.relative_to(tmp_path / "shop"))] = kind
    files = {"adapter": "adapters", "domain": "domain"}
    files |= {"templates": "templates", "questions": "questions"}
    assert named == {"config/config.yaml": "config"} | {
        f"adapters/{name}/{file}.yaml": kind
        for name in ("shop", "second")
        for file, kind in files.items()
    }
