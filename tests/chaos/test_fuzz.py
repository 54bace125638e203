"""Whatever comes over the wire: an answer or a named refusal, and never a fault of the server."""

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from server.access.models import NewKey
from tests.chaos.claims import Claims
from tests.chaos.fuzzing import Fuzzed, Fuzzer, Keys
from tests.chaos.process import ROOT, Server
from tests.chaos.shop import new_key
from tests.chaos.wire import NoAnswer, Wire
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

pytestmark = pytest.mark.anyio

EXAMPLES = ROOT / "examples"
LIBRARIES = EXAMPLES / "intent-templates"
CLIENTS = 8
ADAPTERS = ("agent", "sums", "decisions", "guarded")
INSIDE = re.compile(r"Traceback|/server/\w+\.py|sqlite:///|site-packages")
"""What no answer may show of the server."""


def _adapters(folder: Path) -> list[dict[str, Any]]:
    agent = {
        "domain_config_path": str(LIBRARIES / "agent-template" / "domain.yaml"),
        "template_library_path": str(LIBRARIES / "agent-template" / "tools.yaml"),
    }
    decisions = {
        "domain_config_path": str(LIBRARIES / "gov-decisions" / "domain.yaml"),
        "template_library_path": str(LIBRARIES / "gov-decisions" / "templates.yaml"),
        "intents": str(EXAMPLES / "intent-packs" / "gov-decisions-he"),
        "http": {"private_hosts": ["127.0.0.1", "localhost"]},
    }
    guards = {"packs": str(EXAMPLES / "guards" / "litecoin" / "guard.yaml")}
    return [
        {"name": "agent", "config": agent},
        adapter("sums", write_library(folder / "sums", [{**PERCENTAGE, "confirm": True}, NOW])),
        {
            "name": "decisions",
            "implementation": "retrievers.implementations.intent.IntentHTTPRetriever",
            "config": decisions,
        },
        {"name": "guarded", "config": agent, "guards": guards},
    ]


def _questions() -> list[str]:
    files = [
        *LIBRARIES.glob("agent-template/questions*.yaml"),
        LIBRARIES / "gov-decisions" / "questions.yaml",
    ]
    rows = [row for file in files for row in yaml.safe_load(file.read_text())["questions"]]
    asked = [text for row in rows if isinstance(text := row.get("question", row.get("ask")), str)]
    return [*asked, *["What is 15% of 200?"] * (len(asked) // 8)]


async def test_fuzzed_requests(
    full: bool, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    count = 50_000 if full else 2_000
    configure(tmp_path, _adapters(tmp_path), access={"wrong_keys": []}, metrics={"enabled": True})
    server = Server(tmp_path / "config.yaml", tmp_path / "data")
    users = [await new_key(server, NewKey(name)) for name in ADAPTERS]
    admin = await new_key(server, NewKey("agent", role="admin"))
    fuzzer = Fuzzer(17, Keys(users, admin), _questions())
    fuzzing = Fuzzing(Claims(server), fuzzer)
    server.start()
    try:
        assert await server.ready(), server.said()
        with fuzzing.claims.watching():
            await fuzzing.run(count // 2)
            fuzzing.claims.remember_memory()
            await fuzzing.run(count - count // 2)
        fuzzing.claims.check()
    finally:
        server.kill()
    record_property("fuzzed requests", f"{count}: {dict(sorted(fuzzing.statuses.items()))}")
    assert {200, 400, 401, 404, 405, 409, 422} <= fuzzing.statuses.keys()


class Fuzzing:
    """Clients that send what a fuzzer makes, and judge what comes back."""

    def __init__(self, claims: Claims, fuzzer: Fuzzer) -> None:
        self.claims = claims
        self.statuses: Counter[int] = Counter()
        self._fuzzer = fuzzer
        self._left = 0

    async def run(self, count: int) -> None:
        self._left = count
        await asyncio.gather(*(self._client() for _ in range(CLIENTS)))

    async def _client(self) -> None:
        wire = Wire(self.claims.server.port)
        while self._left > 0:
            self._left -= 1
            fuzzed = self._fuzzer.request()
            try:
                answer = await wire.ask(fuzzed.wire, no_body=fuzzed.no_body, last=fuzzed.malformed)
            except NoAnswer:
                self.statuses[0] += 1
                if not fuzzed.malformed:
                    self._problem(fuzzed, "no answer")
            except (TimeoutError, ValueError, IndexError) as odd:
                self._problem(fuzzed, f"{type(odd).__name__} {odd}")
                await wire.close()
            else:
                self._judge(fuzzed, answer)
        await wire.close()

    def _judge(self, fuzzed: Fuzzed, answer: httpx.Response) -> None:
        self.statuses[answer.status_code] += 1
        answer.request = httpx.Request(fuzzed.kind, "http://localhost")
        if answer.status_code >= 500:
            self._problem(fuzzed, answer.text)
        elif fuzzed.no_body:
            pass
        elif answer.status_code >= 400:
            self.claims.note(answer)
        elif answer.headers.get("content-type", "").startswith("text/event-stream"):
            self._judge_stream(fuzzed, answer.text)
        elif fuzzed.kind == "question":
            self._take_proposal(answer.json(), fuzzed.key)
        if shown := INSIDE.search(answer.text):
            self._problem(fuzzed, f"shows {shown[0]}")

    def _judge_stream(self, fuzzed: Fuzzed, text: str) -> None:
        lines = [line for line in text.split("\n") if line.startswith("data: ")]
        try:
            events = [json.loads(line[6:]) for line in lines if line != "data: [DONE]"]
        except ValueError as odd:
            self._problem(fuzzed, f"{odd}: {text}")
            return
        if not events or any(
            event.get("error", {}).get("code") == "internal_error" for event in events
        ):
            self._problem(fuzzed, text)

    def _take_proposal(self, answer: dict[str, Any], key: str) -> None:
        proposal = answer["metadata"].get("proposal")
        if proposal is not None:
            self._fuzzer.proposals.append((key, answer["session_id"], proposal["proposal_id"]))

    def _problem(self, fuzzed: Fuzzed, what: str) -> None:
        if len(self.claims.problems) < 20:
            self.claims.problems.append(f"{fuzzed.kind}: {fuzzed.wire[:1500]!r}: {what[:600]}")
