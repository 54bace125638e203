"""What docs/models.md shows can be used, and what it lists is there."""

import re
from pathlib import Path

import pytest

from server import plugins
from server.core.chat_messages import Reply
from server.providers.chat.scripted import ScriptedChat
from server.providers.spec import find_provider
from server.settings.loader import load_settings
from tests.providers.chat.speaking import said

PAGE = (Path(__file__).parents[3] / "docs" / "models.md").read_text()
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.startswith("models:")])
def test_a_block_of_settings_loads(block: str, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(block)
    assert load_settings(tmp_path / "config.yaml", {}).problems == ()


@pytest.mark.anyio
async def test_the_script_speaks(tmp_path: Path) -> None:
    (block,) = [block for block in BLOCKS if block.startswith("replies:")]
    (tmp_path / "script.yaml").write_text(block)
    script = ScriptedChat(str(tmp_path / "script.yaml"))
    assert await script.complete(said("the weather")) == Reply("Good morning.", script.name)
    assert (await script.complete(said("the weather"))).text == "It rains."


def test_every_provider_and_its_default_is_listed() -> None:
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\| (?:`([^`]+)`|(SmolLM2)|)", PAGE, re.MULTILINE)
    listed = {name: model or other for name, model, other in rows}
    assert listed == {
        name: "SmolLM2"
        if name == "llama_cpp"
        else find_provider("chat provider", name).default_model or ""
        for name in plugins.known("chat provider")
    }
