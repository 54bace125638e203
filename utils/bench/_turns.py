"""Whole turns in this process, in which nothing beyond it is written or called."""

import os
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from threading import Thread
from typing import Any, Final
from uuid import uuid4

import uvicorn
import yaml

from examples.services.app import ADDRESSES, create_app
from server.adapters.local import open_adapter
from server.chat.adapter import Adapter
from server.chat.execute import execute_call, proposal_of
from server.chat.pipeline import run_turn
from server.cli.ports import listen
from server.core.decision import Answer, Call, Decision, Trace
from server.core.tools import ToolCall, ToolResult
from server.core.turn import Caller, Turn
from server.evaluation.outcomes import Rehearsal
from server.settings.loader import load_settings
from server.settings.models import Settings
from server.tools.policy.chain import CallOutcome, Runner

ROOT: Final = Path(__file__).resolve().parents[2]
AGENT: Final = "intent-agent-example"
OWN_ADDRESSES: Final = ("DECISIONS_API_URL", "ORDERS_API_URL")
"""Services of examples that stand in for no public one."""
_TIMEOUT_S: Final = 60.0
_PATIENT: Final = {
    "llama_cpp": {"timeout_s": 300, "max_tokens": 256, "context_tokens": 8192, "threads": 1}
}
"""A model that is asked has time to answer, and room for all functions of a library."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An adapter that is asked one question after the other, each in a conversation of its own."""

    adapter: Adapter
    role: str
    today: date | None = None
    """The day the questions are asked on, where it is not this one. Tools keep their own clock."""
    timeout_s: float = _TIMEOUT_S

    async def ask(self, text: str) -> Answer:
        return await run_turn(self.adapter, self._turn(text), timeout_s=self.timeout_s)

    def decide_for(self, template_id: str, text: str) -> Decision:
        """What a question would come to, had this template been chosen for it."""
        assert self.adapter.to_template is not None
        return self.adapter.to_template(template_id, self._turn(text), {})

    async def run(self, call: Call, text: str) -> CallOutcome:
        """Run a call as a turn would."""
        return await execute_call(
            self.adapter, proposal_of(self.adapter, self._turn(text), call), Trace()
        )

    def _turn(self, text: str) -> Turn:
        now = datetime.now(UTC)
        if self.today is not None:
            now = datetime.combine(self.today, time(12), UTC)
        caller = Caller("bench", self.adapter.name, "bench", self.role)
        return Turn(uuid4().hex, text, uuid4().hex, caller, now)


class RunsNothing:
    """Stands in for tools whose services are not there: every call ends without an answer."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:  # noqa: ARG002
        return ToolResult.of_no_call(call, "nothing is run here")

    async def aclose(self) -> None:
        await self._runner.aclose()


@asynccontextmanager
async def open_agent(data: Path) -> AsyncIterator[Opened]:
    """Open the agent that ships."""
    config = ROOT / "config" / "config.yaml"
    async with open_with_services(config, AGENT, data) as (adapter, settings):
        rehearsed = replace(adapter, chain=adapter.chain.rehearsed(Rehearsal))
        yield Opened(rehearsed, settings.access.roles.names[-1])


@asynccontextmanager
async def open_with_services(
    config: Path, name: str, data: Path, *, remembers: bool = False
) -> AsyncIterator[tuple[Adapter, Settings]]:
    """Open an adapter of a configuration, enabled or not, and give its settings as well.

    Its services are the stand-ins, on a port of their own, and everything that is kept stands in
    `data`.
    """
    with services() as address:
        # Each by its own name, so that none leads to the internet, whatever is set outside.
        names = (*ADDRESSES, *OWN_ADDRESSES)
        environ: Mapping[str, str] = {**os.environ, **dict.fromkeys(names, address)}
        settings, environ = read_settings(config, environ)
        settings = settings.model_copy(update={"data_dir": data})
        found = next(adapter for adapter in settings.adapters if adapter.name == name)
        found = found.model_copy(update={"enabled": True})
        async with open_adapter(
            settings, environ, found, remembers=remembers, learnt=True
        ) as adapter:
            # The library is what is measured: no model fills or words anything.
            yield replace(adapter, models=None), settings


@asynccontextmanager
async def open_library(
    folder: Path, data: Path, *, today: date | None = None, runs: bool = False, **more: Any
) -> AsyncIterator[Opened]:
    """Open the library of a folder with default settings.

    None of its calls leaves the process, unless it `runs` them. `more` are settings of the
    adapter. Everything that is kept stands in `data`.
    """
    settings, environ = read_settings(_write_config(folder, data, more), os.environ)
    timeout_s = 2 * settings.adapters[0].config.agent.model_timeout + _TIMEOUT_S
    async with open_adapter(settings, environ, settings.adapters[0], learnt=True) as adapter:
        chain = adapter.chain if runs else adapter.chain.rehearsed(RunsNothing)
        silent = replace(adapter, chain=chain, models=None)
        yield Opened(silent, settings.access.roles.names[-1], today, timeout_s)


def _write_config(folder: Path, data: Path, more: Mapping[str, Any]) -> Path:
    """Write a configuration of one adapter, and return where it stands."""
    config = {
        "domain_config_path": str((folder / "domain.yaml").absolute()),
        "template_library_path": [str(path.absolute()) for path in template_files(folder)],
        **more.get("config", {}),
    }
    listed = {"name": folder.absolute().name, **more, "config": config}
    data.mkdir(parents=True, exist_ok=True)
    path = data / "config.yaml"
    path.write_text(
        yaml.safe_dump({"data_dir": str(data), "models": _PATIENT, "adapters": [listed]}),
        encoding="utf-8",
    )
    return path


def template_files(folder: Path) -> Sequence[Path]:
    """The template libraries of a folder: its YAML but for the domain and the questions."""
    return sorted(
        path for path in folder.glob("*.yaml") if path.name not in ("domain.yaml", "questions.yaml")
    )


def read_settings(path: Path, environ: Mapping[str, str]) -> tuple[Settings, Mapping[str, str]]:
    """Read a configuration.

    Raises:
        SystemExit: it cannot be used.
    """
    loaded = load_settings(path, environ)
    if loaded.settings is None:
        raise SystemExit("\n".join(map(str, loaded.problems)))
    return loaded.settings, loaded.environ


@contextmanager
def services() -> Iterator[str]:
    """The stand-ins that ship, on loopback; yields their address."""
    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="error", lifespan="off"))
    listening = listen("127.0.0.1", 0)  # whoever comes before the server is up waits for it
    thread = Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
