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
from server.cli.options import configured
from server.core.decision import Answer, PendingConfirmation
from server.evaluation.outcomes import Outcome, outcome_of
from server.evaluation.questions import load_questions
from server.evaluation.report import Report, evaluate

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
    """A library of an example, opened as the shipped adapter would open it."""

    def __init__(
        self, domain: Path, templates: Sequence[Path], data: Path, environ: Mapping[str, str]
    ) -> None:
        self._found = configured(ROOT / "config" / "config.yaml", data=data)
        adapter = self._found.adapter("intent-agent-example")
        paths = {"domain_config_path": domain, "template_library_path": tuple(templates)}
        library = adapter.config.model_copy(update=paths)
        self._runner = asyncio.Runner()
        self._opening = open_adapter(
            self._found.settings,
            {**self._found.environ, **environ},
            adapter.model_copy(update={"config": library}),
        )
        self._adapter = self._runner.run(self._opening.__aenter__())

    def ask(self, question: str) -> Answer:
        """The answer to a question, and to the yes that it may need."""
        return self._runner.run(self._answer(question))

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
    folder = EXAMPLES / "agent-template"
    files = [folder / "tools.yaml", folder / "http_tools.yaml"]
    return Example(folder / "domain.yaml", files, data, {"DEMO_SERVICES_URL": address})


def jsonplaceholder(data: Path, address: str) -> Example:
    folder = EXAMPLES / "jsonplaceholder"
    files = [folder / "templates.yaml"]
    return Example(folder / "domain.yaml", files, data, {"DEMO_SERVICES_URL": address})
