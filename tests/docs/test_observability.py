"""The dashboard and the alerts ask for metrics and labels that a running server has."""

import json
import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from server.metrics.metrics import Metrics
from tests.e2e.test_whole_server import readiness, serving
from tests.support.configuring import adapter, configure, write_library

ROOT: Final = Path(__file__).parents[2]
PLACE: Final = ROOT / "examples" / "observability"
DASHBOARD: Final[dict[str, Any]] = json.loads((PLACE / "grafana-dashboard.json").read_text())
ALERTS: Final[list[dict[str, Any]]] = [
    rule
    for group in yaml.safe_load((PLACE / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
PANELS: Final[list[dict[str, Any]]] = DASHBOARD["panels"]

_OF_EVERY_TARGET: Final = {"instance", "job"}
_METRIC: Final = re.compile(r"\b((?:orbit|intent_router|process)_\w+)(?:\{([^}]*)\})?")
_LABEL: Final = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)")
_GROUP: Final = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")


def asked(expr: str) -> Iterator[tuple[str, set[str]]]:
    """Every metric of an expression, with the labels that it is asked by, grouping included."""
    grouped = {name for found in _GROUP.findall(expr) for name in re.split(r"\s*,\s*", found)}
    for metric, selector in _METRIC.findall(expr):
        yield metric, grouped | set(_LABEL.findall(selector))


def labels_of(metrics: Metrics) -> dict[str, set[str]]:
    """The labels of every metric by the names of its samples, asked for or not yet counted."""
    found: dict[str, set[str]] = {}
    for collector, names in metrics._registry._collector_to_names.items():
        labels = set(getattr(collector, "_labelnames", ()))
        for name in names:
            found[name] = labels | ({"le"} if name.endswith("_bucket") else set())
    processes = re.findall(r"^(process_\w+) ", metrics.text().decode(), re.M)
    return found | {name: set() for name in processes}


EXPRESSIONS: Final = [
    *((panel["title"], target["expr"]) for panel in PANELS for target in panel.get("targets", ())),
    *((rule["alert"], rule["expr"]) for rule in ALERTS),
]


@pytest.mark.parametrize(("title", "expr"), EXPRESSIONS)
def test_every_metric_and_label_exists(title: str, expr: str) -> None:
    known = labels_of(Metrics())
    found = list(asked(expr))
    assert found or "up{" in expr
    for metric, labels in found:
        assert metric in known, f"{title}: there is no {metric}"
        assert labels - known[metric] - _OF_EVERY_TARGET == set(), f"{title}: {metric}"
    assert expr.count("(") == expr.count(")")
    assert expr.count("{") == expr.count("}")


@pytest.mark.anyio
async def test_a_running_server_has_them(tmp_path: Path) -> None:
    library = write_library(tmp_path / "sums")
    configured = configure(tmp_path, [adapter("sums", library)])
    async with serving(configured) as client:
        await readiness(client, {"ready"})
        sent = {"X-API-Key": "sums"}
        await client.post("/chat", json={"message": "what's 15% of 200"}, headers=sent)
        text = (await client.get("/metrics")).text
    families = {
        name
        for family in text_string_to_metric_families(text)
        for name in (family.name, f"{family.name}_total")
    }
    for title, expr in EXPRESSIONS:
        for metric, _ in asked(expr):
            plain = re.sub(r"_(bucket|sum|count)$", "", metric)
            assert {metric, plain} & families, f"{title}: {metric}"


def test_the_dashboard_is_one_that_grafana_reads() -> None:
    assert DASHBOARD["schemaVersion"] >= 36
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    variables = {each["name"] for each in DASHBOARD["templating"]["list"]}
    assert variables == {"datasource", "adapter"}
    for panel in PANELS:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        if panel["type"] == "row":
            continue
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert [each["refId"] for each in panel["targets"]] == [
            chr(65 + n) for n in range(len(panel["targets"]))
        ]
        used = set(re.findall(r"\$(\w+)", json.dumps(panel))) - {"__rate_interval"}
        assert used <= variables
    for one, other in combinations((panel["gridPos"] for panel in PANELS), 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or above


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: str(rule["alert"]))
def test_alerts_say_what_is_wrong_and_where(rule: dict[str, Any]) -> None:
    assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in ("warning", "critical")
    summary = rule["annotations"]["summary"]
    grouped = {name.strip() for found in _GROUP.findall(rule["expr"]) for name in found.split(",")}
    named = set(re.findall(r"\$labels\.(\w+)", summary))
    assert named <= grouped | _OF_EVERY_TARGET


def test_every_metric_is_shown_and_documented() -> None:
    shown = {metric for _, expr in EXPRESSIONS for metric, _ in asked(expr)}
    plain = {re.sub(r"_(bucket|sum|count)$", "", metric) for metric in shown}
    names = set(re.findall(r"^# TYPE (\w+) ", Metrics().text().decode(), re.M))
    ours = {name for name in names if name.startswith(("orbit", "intent_router"))}
    ours = {name for name in ours if not name.endswith("_created")}
    assert ours - plain == set()
    page = (ROOT / "docs" / "observability.md").read_text()
    assert {name for name in ours if f"`{name}`" not in page} == set()
