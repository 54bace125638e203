"""What is sensitive in a call is in no answer, trace, audit, log or error."""

import asyncio
import json
import logging
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.core.decision import Call, Decision, Match, MissingArguments, MissingParameter, Trace
from server.core.redaction import REDACTED
from server.core.tools import Source, ToolCall
from server.core.turn import Caller, Turn
from tests.tools.policy.chains import LIBRARY, bench

# Letters alone: words of the surroundings would be found in an answer by chance.
SECRETS = st.text("äβχ字éÑ \"'\\{}%&", min_size=6, max_size=60).filter(
    lambda text: len(text.strip()) >= 6
)


class Deciding:
    """Decides as it is told, and writes what it read into the trace as a retriever does."""

    def __init__(self, decision: Decision, said: str) -> None:
        self._decision, self._said = decision, said

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        with trace.stage("match") as details:
            details["compared_as"] = [self._said, self._said.casefold()]
        with trace.stage("extract") as details:
            details["found"] = [{"template_id": "echo", "arguments": {"secret": self._said}}]
        return self._decision

    async def close(self) -> None:
        return None


class Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(logging.Formatter().format(record))


def everything_said(folder: Path, decision: Decision, question: str) -> str:
    """Answer, trace, audit and log of one turn."""

    async def run() -> str:
        desk = bench(folder)
        adapter = Adapter(
            "desk", LIBRARY, Deciding(decision, question), desk.chain,
            tool_timeout_s=5, verbose=True,
        )  # fmt: skip
        turn = Turn("r", question, "s", Caller("k", "desk", "ana"), datetime.now(UTC))
        answer = await run_turn(adapter, turn, timeout_s=5)
        events = await desk.events()
        await desk.trail.close()
        parts = [answer.to_dict("s"), answer.trace.to_list(), events]
        return json.dumps(parts, ensure_ascii=False, default=str)

    kept, root = Kept(), logging.getLogger("server")
    level = root.level
    root.addHandler(kept)
    root.setLevel(logging.DEBUG)
    try:
        return asyncio.run(run()) + "\n".join(kept.lines)
    finally:
        root.removeHandler(kept)
        root.setLevel(level)


def call(name: str, secret: str) -> Call:
    arguments = {
        "secret": secret,
        "profile": {"card": [secret, {"more": secret}], "name": "Ana"},
        "text": f"and {secret} again",
    }
    sources = {name: Source("recognizer", (0, 5), secret) for name in arguments}
    operation = LIBRARY.templates[name].execution.operation
    return Call(Match(name, 0.9, 0.9, ""), ToolCall(name, "desk", operation, arguments, sources))


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(SECRETS, st.sampled_from(["echo", "fail", "refused", "ask"]))
def test_it_is_nowhere(secret: str, way: str) -> None:
    decision: Decision = call("fail" if way == "fail" else "echo", secret)
    assert isinstance(decision, Call)
    if way == "refused":
        wrong: dict[str, Any] = {**decision.call.arguments, "unknown": secret}
        decision = replace(decision, call=replace(decision.call, arguments=wrong))
    if way == "ask":
        missing = (MissingParameter("secret", problem=f"{secret!r} is too short"),)
        decision = MissingArguments(
            decision.match, missing, decision.call.arguments, decision.call.sources
        )
    with TemporaryDirectory() as folder:
        said = everything_said(Path(folder), decision, secret)
    assert REDACTED in said
    for spelling in {secret, secret.strip(), repr(secret)[1:-1], json.dumps(secret)[1:-1]}:
        assert spelling not in said
