"""Which templates each retriever answers is known before anybody asks."""

from pathlib import Path

import pytest

from server.adapters.check import load_adapter
from server.settings.loader import load_settings

CONFIG = """
adapters:
  - name: example
    implementation: retrievers.implementations.intent.{retriever}
    config:
      domain_config_path: domain.yaml
      template_library_path: tools.yaml
"""
TEMPLATES = """
templates:
  - id: things
    tool_type: query
    nl_examples: ["Show the things"]
    endpoint: https://api.example/things
  - id: now
    nl_examples: ["What time is it?"]
    tool_name: date_time
    tool_operation: now
"""


@pytest.mark.parametrize(
    ("retriever", "said"),
    [
        (
            "IntentHTTPRetriever",
            [
                "'now' is a function template, which IntentHTTPRetriever does not answer; "
                "it answers query templates"
            ],
        ),
        ("IntentAgentRetriever", []),
    ],
)
def test_a_template_of_a_foreign_kind_is_named(
    tmp_path: Path, retriever: str, said: list[str]
) -> None:
    (tmp_path / "config.yaml").write_text(CONFIG.format(retriever=retriever))
    (tmp_path / "domain.yaml").write_text("domain_name: d\n")
    (tmp_path / "tools.yaml").write_text(TEMPLATES)
    loaded = load_settings(tmp_path / "config.yaml", {})
    assert loaded.settings is not None, loaded.problems
    found = load_adapter(loaded.settings.adapters[0], {})
    assert [problem.what for problem in found.problems] == said
