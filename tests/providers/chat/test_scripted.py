"""Replies that were written down."""

import json
from pathlib import Path

import pytest

from server.core.chat_messages import FunctionCall, Reply
from server.errors import ProviderRejected, ProviderTimedOut, ProviderUnavailable
from server.providers.chat.scripted import ScriptedChat
from tests.providers.chat.speaking import broken_off, heard, said

pytestmark = pytest.mark.anyio

SCRIPT = """
replies:
  - Good morning.
  - when: weather
    text: It rains.
  - when: price
    calls: [{name: get_price, arguments: {symbol: XYZ}}]
  - when: break
    text: I was about to
    fails: unavailable
  - when: slow
    fails: timed_out
"""


async def test_a_file_answers_in_order_and_by_what_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT)
    model = ScriptedChat(str(path))
    name = f"scripted:{path}"
    hello = Reply("Good morning.", name)
    assert await model.complete(said("hello")) == hello
    assert await model.complete(said("the weather?")) == Reply("It rains.", name)
    assert await model.complete(said("hello again")) == hello
    assert (await model.complete(said("the price?"))).calls == (
        FunctionCall("get_price", {"symbol": "XYZ"}),
    )
    with pytest.raises(ProviderTimedOut):
        await model.complete(said("slow"))


async def test_a_stream_may_break_off(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"replies": [{"text": "I was about to", "fails": "unavailable"}]}))
    assert await broken_off(ScriptedChat(str(path)), "go") == (
        ["I", " was", " about", " to"],
        ProviderUnavailable,
    )


async def test_a_stream_says_the_same_words() -> None:
    pieces, reply = await heard(ScriptedChat(["two  spaces "]), "hi")
    assert ("".join(pieces), reply) == ("two  spaces ", Reply("two  spaces ", "scripted"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is no such file"),
        ("replies: []", "replies"),
        ("replies:\n  - tekst: hi", "text, calls, cut, when, delay_s and fails"),
        ("- hi", "at the top"),
    ],
)
async def test_a_script_that_cannot_be_used_says_where(
    tmp_path: Path, text: str | None, message: str
) -> None:
    path = tmp_path / "script.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ProviderUnavailable) as raised:
        await ScriptedChat(str(path)).complete(said("hi"))
    assert str(raised.value).startswith(f"script {path} cannot be used: ")
    assert message in str(raised.value)


async def test_a_script_without_a_reply_says_so() -> None:
    with pytest.raises(ProviderRejected, match="scripted has no reply to that"):
        await ScriptedChat(None).complete(said("hi"))
