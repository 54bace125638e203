"""From names in the configuration to a model that works."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from server.adapters.resources import SharedResources
from server.core.ports import ChatModel
from server.errors import PluginInvalid, ProviderUnavailable
from server.providers.chat.factory import absolute_model, build_chat_model, resolve_model
from server.providers.chat.ollama import OllamaChatOptions
from server.providers.spec import find_provider
from server.settings.loader import load_settings
from server.settings.models import ModelsSettings, Settings
from tests.providers.chat.speaking import heard, said
from tests.support.gemini_server import gemini
from tests.support.loopback import Reply, serving
from tests.support.ollama_server import ollama_stand_in
from tests.support.openai_server import openai

pytestmark = pytest.mark.anyio


async def test_a_provider_that_cannot_speak_is_refused() -> None:
    with pytest.raises(PluginInvalid, match="needs name, warm, complete, stream and close"):
        build_chat_model("builtins:str", "x", ModelsSettings(), {}, folder=Path())


async def test_an_unknown_provider_is_named_with_those_there_are() -> None:
    with pytest.raises(PluginInvalid, match=r"'olama' is unknown; write one of .*ollama"):
        build_chat_model("olama", "x", ModelsSettings(), {}, folder=Path())


@pytest.mark.parametrize(
    ("asked", "settings", "environ", "meant"),
    [
        ((None, None), {}, {}, ("ollama", "llama3.2")),
        ((None, "m"), {}, {"LLM_PROVIDER": "scripted"}, ("scripted", "m")),
        ((None, "m"), {"provider": "ollama"}, {"LLM_PROVIDER": "scripted"}, ("ollama", "m")),
        (("ollama", None), {}, {"OLLAMA_MODEL": "qwen3"}, ("ollama", "qwen3")),
        (
            ("ollama", None),
            {"ollama": OllamaChatOptions(model="gemma3")},
            {"OLLAMA_MODEL": "qwen3"},
            ("ollama", "gemma3"),
        ),
        (("openai", None), {}, {}, ("openai", "gpt-4o-mini")),
        (("gemini", None), {}, {}, ("gemini", "gemini-2.5-flash")),
        (("gemini", None), {}, {"GEMINI_MODEL": " "}, ("gemini", "gemini-2.5-flash")),
        (("llama_cpp", None), {}, {}, ("llama_cpp", "smollm2-135m-instruct")),
        (("builtins:str", None), {}, {"LLM_PROVIDER": "ollama"}, ("builtins:str", None)),
    ],
)
def test_what_is_left_out_comes_from_settings_and_then_from_variables(
    asked: tuple[str | None, str | None],
    settings: dict[str, object],
    environ: dict[str, str],
    meant: tuple[str, str | None],
) -> None:
    assert resolve_model(*asked, ModelsSettings.model_validate(settings), environ) == meant


async def test_shared_resources_make_each_model_once_and_closes_it(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text("replies: [Good day.]\n")
    settings = Settings(data_dir=tmp_path / "data", models_dir=tmp_path)
    resources = await SharedResources.open(settings, {"LLM_PROVIDER": "scripted"})
    model = resources.chat_model("scripted", "script.yaml")
    assert isinstance(model, ChatModel)
    assert model is resources.chat_model(None, "script.yaml")
    assert (await model.complete(said("hi"))).text == "Good day."
    assert (await heard(model, "hi"))[0] == ["Good", " day."]
    await resources.close()
    counted = f'orbit_model_calls_total{{model="{model.name}",outcome="success"}} 2.0'
    assert counted in resources.metrics.text().decode()


async def test_a_model_of_ollama_is_built_from_settings() -> None:
    with ollama_stand_in() as served:
        settings = ModelsSettings.model_validate(
            {"ollama": {"base_url": served.base_url, "max_tokens": 2}}
        )
        model = build_chat_model("ollama", "gemma3:270m", settings, {}, folder=Path())
        reply = await model.complete(said("hi"))
        await model.close()
    assert (reply.text, reply.cut, model.name) == ("Hello there", True, "ollama:gemma3:270m")


async def test_a_provider_that_is_down_is_found_out_when_it_is_asked() -> None:
    settings = ModelsSettings.model_validate(
        {"ollama": {"base_url": "http://127.0.0.1:9", "max_retries": 0}}
    )
    model = build_chat_model("ollama", "m", settings, {}, folder=Path())
    with pytest.raises(ProviderUnavailable, match=r"'ollama' at 127.0.0.1:9 cannot be reached"):
        await model.complete(said("hi"))
    await model.close()


HOME = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("written", "base_url", "sent"),
    [
        (None, HOME, "of-the-variable"),
        (None, "http://127.0.0.1:8080/v1", "of-the-variable"),
        (None, "http://localhost:8080/v1", "of-the-variable"),
        (None, "https://api.openai.com.example.org/v1", None),
        (None, "https://api.openai.com@example.org/v1", None),
        ("written", "https://example.org/v1", "written"),
        ("written", HOME, "written"),
        ("", HOME, None),
    ],
)
def test_the_key_of_a_variable_goes_home_or_nowhere(
    written: str | None, base_url: str, sent: str | None
) -> None:
    environ = {"OPENAI_API_KEY": "of-the-variable"}
    section = {"base_url": base_url, "api_key": written}
    key = find_provider("chat provider", "openai").options_in(section, environ).api_key
    assert key == (None if sent is None else SecretStr(sent))


@pytest.mark.parametrize(
    ("provider", "reply", "path", "header", "sent"),
    [
        ("openai", openai, "/v1", "authorization", "Bearer of-the-file"),
        ("gemini", gemini, "/v1beta", "x-goog-api-key", "of-the-file"),
    ],
)
async def test_names_and_keys_come_from_a_file_of_variables(
    tmp_path: Path, provider: str, reply: Reply, path: str, header: str, sent: str
) -> None:
    name = provider.upper()
    (tmp_path / ".env").write_text(
        f"LLM_PROVIDER={provider}\n{name}_API_KEY=of-the-file\n{name}_MODEL=small\n"
    )
    with serving(reply) as served:
        config = tmp_path / "config.yaml"
        config.write_text(f"models:\n  {provider}:\n    base_url: {served.base_url}{path}\n")
        loaded = load_settings(config, {})
        assert loaded.settings is not None
        resources = await SharedResources.open(loaded.settings, loaded.environ)
        model = resources.chat_model(None, None)
        assert (await model.complete(said("hi"))).text == "Hello there."
        await resources.close()
    assert model.name == f"{provider}:small"
    assert served.asked[0].headers[header] == sent


def test_paths_of_models_start_at_their_folder(tmp_path: Path) -> None:
    assert absolute_model("models/small.gguf", tmp_path) == str(tmp_path / "models" / "small.gguf")
    assert absolute_model("/models/small.gguf", tmp_path) == "/models/small.gguf"
    assert absolute_model("gemma3:270m", tmp_path) == "gemma3:270m"
    assert absolute_model(None, tmp_path) is None
