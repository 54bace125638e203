"""How much of the server one plain question passes through.

    .venv/bin/python -m utils.bench.hops [--question "What is 15% of 200?"] [--list] [--json]

Sends a question to `POST /chat` of a server in this process, everything optional off and
everything warm, and counts the functions of `server/` that are entered, the files they
stand in, the calls between them, and the climbs: calls from a package to one that stands
above it. Comprehensions are part of the function they stand in, and are not counted.
"""

import argparse
import asyncio
import dis
import json
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import httpx

from server.access.models import NewKey
from server.app import create_app
from server.settings.loader import load_settings

ROOT = Path(__file__).resolve().parents[2]
SERVER = str(ROOT / "server")
ADAPTER = "intent-agent-example"
QUESTION = "What is 15% of 200?"

LAYERS = (
    "errors",
    "core",
    "settings",
    "metrics",
    "plugins",
    "storage",
    "access",
    "audit",
    "providers",
    "text",
    "library",
    "matching",
    "extraction",
    "intents",
    "guards",
    "tools",
    "conversation",
    "retrievers",
    "llm",
    "chat",
    "adapters",
    "evaluation",
    "authoring",
    "api",
    "app",
    "cli",
)
"""Packages from the ground up, as the contract on imports has them."""


_RESUME = dis.opmap["RESUME"]


class Recorder:
    """Counts what is entered between `start` and `stop`, in this thread."""

    def __init__(self) -> None:
        self.functions: Counter[tuple[str, str]] = Counter()
        self.calls = 0
        self.climbs: Counter[tuple[str, str]] = Counter()
        self._callers: dict[int, str] = {}

    def start(self) -> None:
        threading.setprofile(self._enter)
        sys.setprofile(self._enter)

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _enter(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        if not _is_ours(code) or _goes_on(frame):
            return
        place = _place(code)
        self.functions[place] += 1
        self.calls += 1
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(SERVER):
            caller = caller.f_back
        if caller is not None and _level(caller.f_code) < _level(code):
            self.climbs[(_place(caller.f_code)[0], place[0])] += 1


def _goes_on(frame: FrameType) -> bool:
    """Whether a coroutine or a generator goes on, which was entered before."""
    at = max(frame.f_lasti, 0)
    code = frame.f_code.co_code
    return code[at] == _RESUME and code[at + 1] != 0


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(SERVER) and code.co_name not in {
        "<listcomp>",
        "<setcomp>",
        "<dictcomp>",
        "<genexpr>",
        "<lambda>",
        "<module>",
    }


def _place(code: CodeType) -> tuple[str, str]:
    return code.co_filename.removeprefix(SERVER + "/"), code.co_qualname


def _level(code: CodeType) -> int:
    package = _place(code)[0].split("/")[0].removesuffix(".py")
    return LAYERS.index(package) if package in LAYERS else 0


async def record(question: str) -> Recorder:
    """What one warm question enters."""
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as data:
        loaded = load_settings(ROOT / "config" / "config.yaml", {})
        assert loaded.settings is not None, loaded.problems
        settings = loaded.settings.model_copy(update={"data_dir": Path(data)})
        app = create_app(settings, loaded.environ)
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost"
            ) as client:
                key, _ = await app.state.api.keys.create(NewKey(ADAPTER))
                async with asyncio.timeout(60):
                    while app.state.api.adapters.status(ADAPTER).state == "opening":  # noqa: ASYNC110
                        await asyncio.sleep(0.05)
                headers = {"Authorization": f"Bearer {key}"}
                for _ in range(3):
                    warm = await client.post("/chat", json={"message": question}, headers=headers)
                    warm.raise_for_status()
                recorder = Recorder()
                recorder.start()
                try:
                    await client.post("/chat", json={"message": question}, headers=headers)
                finally:
                    recorder.stop()
                return recorder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--list", action="store_true", help="every function, by file")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = asyncio.run(record(options.question))
    files = {file for file, _ in found.functions}
    figures = {
        "question": options.question,
        "functions": len(found.functions),
        "files": len(files),
        "calls": found.calls,
        "climbs": sum(found.climbs.values()),
    }
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    print("\n".join(f"{name:10} {value}" for name, value in figures.items()))
    for (caller, callee), times in found.climbs.items():
        print(f"  climbs: {caller} -> {callee} ({times})")
    if options.list:
        for file in sorted(files):
            print(file)
            for (where, name), times in sorted(found.functions.items()):
                if where == file:
                    print(f"    {name} {times if times > 1 else ''}".rstrip())


if __name__ == "__main__":
    main()
