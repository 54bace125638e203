"""A library that cannot be used is judged all the same, as far as it can be read."""

from pathlib import Path

from server.adapters.check import load_adapter
from server.settings.adapters import AdapterConfig, AdapterSettings


def test_a_wrong_tool_is_told_beside_a_wrong_template(tmp_path: Path) -> None:
    domain, tools = tmp_path / "domain.yaml", tmp_path / "tools.yaml"
    domain.write_text("domain: {name: x}\n")
    tools.write_text(
        """
templates:
  - {id: one, description: d, tool_type: function, nl_examples: [hello], tool_name: calculater,
     tool_operation: add}
  - {id: two, description: d, tool_type: function, tool_name: calculator, tool_operation: add,
     nl_examples: [add them], response_template: "{{ result"}
"""
    )
    config = AdapterConfig(domain_config_path=domain, template_library_path=(tools,))
    agent = "retrievers.implementations.intent.IntentAgentRetriever"
    adapter = AdapterSettings.model_construct(name="x", config=config, implementation=agent)
    kinds = sorted(problem.kind for problem in load_adapter(adapter, {}).problems)
    assert kinds == ["bad-template", "missing-tool-parameter", "unknown-tool"]
