"""An example's library, open, with every service on this machine."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path

import httpx
import uvicorn

from examples.services.app import create_app
from server.adapters.local import ask_once, confirm_once, open_adapter
from server.cli.options import Configured, configured
from server.core.decision import Answer, PendingConfirmation
from server.evaluation.outcomes import Outcome, outcome_of
from server.evaluation.questions import load_questions
from server.evaluation.report import Report, evaluate
from server.settings.adapters import AdapterSettings

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "intent-templates"
TODAY = date(2025, 6, 4)


def now() -> date:
    return datetime.now(UTC).date()


@contextmanager
def services(today: Callable[[], date] = lambda: TODAY) -> Iterator[str]:
    """The stand-ins on a port of their own; yields their address."""
    config = uvicorn.Config(create_app(today), port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    listening.listen()  # so that whoever comes before the server is up waits for it
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        httpx.get(address)  # answers as soon as it is up
        yield address
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


class Example:
    """An adapter of an example, opened as the server would open it."""

    def __init__(
        self, found: Configured, adapter: AdapterSettings, environ: Mapping[str, str]
    ) -> None:
        self._found = found
        self._runner = asyncio.Runner()
        self._opening = open_adapter(found.settings, {**found.environ, **environ}, adapter)
        self._adapter = self._runner.run(self._opening.__aenter__())

    def ask(self, question: str) -> Answer:
        """The answer to a question, and to the yes that it may need."""
        return self._runner.run(self._answer(question))

    def decide(self, question: str) -> Answer:
        """The answer to a question, which may be a proposal."""
        asking = ask_once(self._found.settings, self._adapter, question, session_id="test")
        return self._runner.run(asking)

    async def _answer(self, question: str) -> Answer:
        settings = self._found.settings
        answer = await ask_once(settings, self._adapter, question, session_id="test")
        if not isinstance(answer.decision, PendingConfirmation):
            return answer
        held = answer.decision.proposal_id
        return await confirm_once(settings, self._adapter, held, "test", accept=True)

    def evaluate(self, questions: Path) -> Report:
        """How well the library answers a file of questions; no call may fail."""
        listed, problems = load_questions(questions, self._adapter.library.templates, {})
        assert problems == ()

        async def ask(question: str) -> Outcome:
            answer = await self._answer(question)
            assert answer.decision is not None
            execution = answer.metadata.get("tool_execution", {"status": "success"})
            assert execution["status"] == "success", (question, execution)
            return outcome_of(answer.decision, self._adapter.library.templates, latency_ms=0.0)

        return self._runner.run(evaluate(ask, listed))

    def close(self) -> None:
        self._runner.run(self._opening.__aexit__(None, None, None))
        self._runner.close()


def agent(data: Path, address: str) -> Example:
    return _library("agent-template", ["tools.yaml", "http_tools.yaml"], data, address)


def jsonplaceholder(data: Path, address: str) -> Example:
    return _library("jsonplaceholder", ["templates.yaml"], data, address)


def _library(name: str, files: Sequence[str], data: Path, address: str) -> Example:
    """A library whose services are at `address`, as the adapter that ships would open it."""
    found = configured(ROOT / "config" / "config.yaml", data=data)
    adapter, folder = found.adapter("intent-agent-example"), EXAMPLES / name
    templates = tuple(folder / file for file in files)
    paths = {"domain_config_path": folder / "domain.yaml", "template_library_path": templates}
    config = adapter.config.model_copy(update=paths)
    changed = adapter.model_copy(update={"config": config})
    return Example(found, changed, {"DEMO_SERVICES_URL": address})
