"""Prompts are configuration: read from YAML, checked with file and line, versioned."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.adapters.check import load_adapter
from server.adapters.models import call_mode
from server.core.chat_messages import Message
from server.llm.prompts import VARIABLES, as_data, load_prompts
from tests.support.configuring import adapter, configure, write_library

GIVEN: dict[str, Any] = {
    "question": '"q"', "result": "{}", "arguments": "{}", "answer": '"a"', "description": '"d"',
    "language": "en", "cut": False, "shown": None, "total": None, "said": ['"s"'],
    "function": "{}", "functions": ["{}"], "missing": ["value"], "adapter": '"n"',
    "abilities": ["Add"], "system_prompt": "",
}  # fmt: skip

OWN = """version: 7
prompts:
  synthesis:
    - role: user
      content: "Word {{ answer }}."
"""


def problems(text: str, tmp_path: Path) -> list[str]:
    """Every problem of a file of prompts, without the file's folder."""
    path = tmp_path / "prompts.yaml"
    path.write_text(text)
    prompts, found = load_prompts(path, {})
    assert prompts is None
    return [str(problem).replace(str(path), "prompts.yaml") for problem in found]


def test_the_shipped_prompts_are_complete() -> None:
    prompts, found = load_prompts(None, {})
    assert found == ()
    assert prompts is not None
    assert prompts.keys() == VARIABLES.keys()
    for name, prompt in prompts.items():
        messages = prompt.render(**{key: GIVEN[key] for key in VARIABLES[name]})
        assert messages[0].role == "system"
        assert all(message.content for message in messages)


def test_a_file_replaces_the_prompts_that_it_has(tmp_path: Path) -> None:
    (tmp_path / "prompts.yaml").write_text(OWN)
    shipped, _ = load_prompts(None, {})
    own, found = load_prompts(tmp_path / "prompts.yaml", {})
    assert (shipped is not None, own is not None, found) == (True, True, ())
    assert own is not None
    assert shipped is not None
    assert own["filling"] == shipped["filling"]
    assert own["synthesis"].render(answer='"5"') == (Message("user", 'Word "5".'),)
    assert own["synthesis"].described.startswith("synthesis 7 (")
    assert own["synthesis"].digest != shipped["synthesis"].digest


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (OWN.replace("answer", "anwser"),
         "prompt 'synthesis' uses 'anwser', which it is not given; did you mean 'answer'? "
         "@ prompts.yaml:5"),
        (OWN.replace("{{ answer }}", "{{ answer"),
         "prompt 'synthesis': expected name or number @ prompts.yaml:5"),
        (OWN.replace("role: user", "role: assistant"),
         "prompt 'synthesis' ends with a message of assistant; a model answers a user's "
         "@ prompts.yaml:4"),
        (OWN.replace("synthesis:", "sinthesis:"), "did you mean 'synthesis'?"),
        (OWN.replace("version: 7\n", ""), "'version' is missing @ prompts.yaml:1"),
        (OWN.replace("content:", "contents:"), "unknown key 'contents'; did you mean 'content'?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(text: str, problem: str, tmp_path: Path) -> None:
    assert any(problem in told for told in problems(text, tmp_path)), problems(text, tmp_path)


@given(st.recursive(st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5))
def test_data_cannot_close_a_tag(value: Any) -> None:
    text = as_data(value)
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"inference_model_provider": "olama"}, "unknown-provider"),
        ({"config": {"agent": {"conversation": True}}}, "model-missing"),
        ({"config": {"policy": {"mode": "llm_first"}}}, "model-missing"),
        ({"inference_model": "m", "config": {"prompts": "no-such.yaml"}}, "not-found"),
        ({"config": {"prompts": "no-such.yaml"}}, "not-found"),
    ],
)
def test_reading_an_adapter_tells_what_its_models_lack(
    more: dict[str, Any], kind: str, tmp_path: Path
) -> None:
    library = write_library(tmp_path / "library")
    settings = configure(tmp_path, [adapter("a", library, **more)]).settings
    read = load_adapter(settings.adapters[0], {}, settings)
    assert kind in [problem.kind for problem in read.problems]
    assert not read.usable


@pytest.mark.parametrize("named", ["environment", "settings", "function", "inference"])
def test_a_model_may_be_named_in_several_places(named: str, tmp_path: Path) -> None:
    library = write_library(tmp_path / "library")
    agent = {"function_model": "f"} if named == "function" else {}
    more: dict[str, Any] = {"config": {"policy": {"mode": "llm_first"}, "agent": agent}}
    more |= {"inference_model": "m"} if named == "inference" else {}
    models = {"models": {"provider": "ollama"}} if named == "settings" else {}
    settings = configure(tmp_path, [adapter("a", library, **more)], **models).settings
    environ = {"LLM_PROVIDER": "ollama"} if named == "environment" else {}
    assert load_adapter(settings.adapters[0], environ, settings).usable


@pytest.mark.parametrize(
    ("written", "mode"),
    [
        (None, "system_first"), ("true", "system_first"), (" TRUE ", "system_first"),
        ("", "system_first"), ("false", "llm_first"), ("1", "llm_first"),
    ],
)  # fmt: skip
def test_the_variable_means_the_server_by_true_alone(
    written: str | None, mode: str, tmp_path: Path
) -> None:
    settings = configure(tmp_path, [adapter("a", write_library(tmp_path))]).settings
    assert settings is not None
    environ = {} if written is None else {"SYSTEM_FIRST_ARCHITECTURE": written}
    assert call_mode(settings.adapters[0], environ) == mode
