"""The shop with a model behind its rules, which the environment alone names."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from server.adapters.local import ask_once, open_adapter
from server.core.decision import Answer
from server.settings.loader import load_settings
from tests.examples.running import ROOT, services
from tests.support.loopback import Answer as Served
from tests.support.loopback import Reply, serving
from tests.support.ollama_server import words
from tests.support.openai_server import openai, refusal

pytestmark = pytest.mark.slow

CANCEL = '{"verb": " Cancel-Order ", "object": "#004"}'


@contextmanager
def shop_at(folder: Path, reply: Reply) -> Iterator[tuple[Path, str]]:
    """The shop's configuration, a model's service, and its name and key in `.env`."""
    (shipped,) = yaml.safe_load((ROOT / "config" / "adapters" / "retail.yaml").read_text())
    config = shipped["config"]
    for name in ("domain_config_path", "template_library_path", "intents", "reformulator"):
        config[name] = str(ROOT / config[name])
    (folder / ".env").write_text("LLM_PROVIDER=openai\nOPENAI_API_KEY=of-the-file\n")
    with serving(reply) as model, services() as address:
        section = {"openai": {"base_url": f"{model.base_url}/v1", "max_retries": 0}}
        written = {"models": section, "adapters": [shipped | {"enabled": True}]}
        (folder / "config.yaml").write_text(yaml.safe_dump(written))
        yield folder / "config.yaml", address
        keys = {asked.headers["authorization"] for asked in model.asked}
        assert keys <= {"Bearer of-the-file"}


def said_to(config: Path, address: str, text: str) -> Answer:
    loaded = load_settings(config, {"DEMO_SERVICES_URL": address})
    assert loaded.settings is not None, loaded.problems
    settings = loaded.settings.model_copy(update={"data_dir": config.parent / "data"})

    async def ask() -> Answer:
        async with open_adapter(
            settings, loaded.environ, settings.adapters[0], remembers=True
        ) as adapter:
            return await ask_once(settings, adapter, text, "s", continues=True)

    return asyncio.run(ask())


def test_a_provider_and_its_key_in_the_env_file_are_enough(tmp_path: Path) -> None:
    with shop_at(tmp_path, lambda asked: openai(asked, words(CANCEL))) as (config, address):
        answer = said_to(config, address, "Please get rid of it for me, that #004 thing")
    proposal = answer.metadata["proposal"]
    assert (proposal["status"], proposal["intent"], proposal["target"]) == (
        "held",
        "cancel_order",
        "#004",
    )


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (lambda asked: refusal("no such model", 404), "openai:gpt-4o-mini failed: "),
        (lambda asked: Served("nonsense", 500), "openai:gpt-4o-mini failed: "),
        (
            lambda asked: openai(asked, words("I would cancel it.")),
            "openai:gpt-4o-mini failed: openai:gpt-4o-mini did not keep to the schema",
        ),
    ],
    ids=["refuses", "breaks", "chats"],
)
def test_a_model_that_fails_says_so(tmp_path: Path, reply: Reply, why: str) -> None:
    with shop_at(tmp_path, reply) as (config, address):
        answer = said_to(config, address, "Please get rid of it for me")
    assert answer.content.startswith("I could not read this to the end: the model that helps me")
    assert "a refund, an exchange, a return" in answer.content
    assert answer.metadata["why"].startswith(why)


def test_a_shop_that_is_down_is_in_the_way_of_no_proposal(tmp_path: Path) -> None:
    with shop_at(tmp_path, lambda asked: openai(asked, words(CANCEL))) as (config, _):
        answer = said_to(config, "http://127.0.0.1:9", "Cancel order #999")
    assert answer.metadata["proposal"]["target"] == "#999"
