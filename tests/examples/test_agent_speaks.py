"""The agent example words its results with the real model in process."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from server.adapters.local import ask_once, open_adapter
from server.core.decision import Answer
from server.settings.loader import load_settings
from tests.support.local_model import needs_local_model

pytestmark = [pytest.mark.anyio, needs_local_model]

ROOT = Path(__file__).parents[2]
CONFIG = """
data_dir: {folder}/data
models: {{llama_cpp: {{threads: 1, timeout_s: 300}}}}
server: {{turn_timeout_s: 600}}
adapters:
  - name: agent
    inference_model_provider: llama_cpp
    config:
      domain_config_path: {example}/domain.yaml
      template_library_path: {example}/tools.yaml
      agent: {{conversation: true, model_timeout: 300}}
"""


@pytest.fixture
async def answers(tmp_path: Path) -> AsyncIterator[list[Answer]]:
    example = ROOT / "examples" / "intent-templates" / "agent-template"
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG.format(folder=tmp_path, example=example))
    settings = load_settings(path, {}).settings
    assert settings is not None
    questions = ("What is 15% of 200?", "Divide 81 by 9", "Hello, how are you?")
    async with open_adapter(settings, {}, settings.adapters[0]) as agent:
        yield [await ask_once(settings, agent, question, "s") for question in questions]


async def test_it_says_what_the_tool_gave_and_converses(answers: list[Answer]) -> None:
    percentage, quotient, hello = answers
    for answer, value in ((percentage, "30"), (quotient, "9")):
        assert value in answer.content
        assert answer.metadata["source"] == "intent"
        assert answer.metadata["synthesis"]["model"] == "llama_cpp:smollm2-135m-instruct"
    assert percentage.metadata["synthesized"] is True
    assert percentage.content != "15% of 200 is **30**"
    assert hello.metadata["source"] == "model"
    assert hello.content
