"""`talk` holds a conversation: piped, at a terminal, and with a running server."""

import asyncio
import codecs
import os
import pty
import re
import select
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn
import yaml
from typer.testing import CliRunner, Result

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.chat_backend import ShownAnswer
from server.cli.main import command_line
from server.cli.options import configured
from tests.examples.running import ROOT, services
from tests.support.api import running
from tests.support.configuring import adapter, configure, write_library

pytestmark = pytest.mark.slow

CLARIFY = (
    "I am not sure what you would like: a refund, an exchange, a return, the status of an order, "
    "to cancel it, or to complain? And which order is it about?\n"
)
CANCEL = 'I understand you want to perform "Cancel Order" for "#001". Is this correct?\n'


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A configuration with the shop alone, switched on, and the address of its service."""
    folder = tmp_path_factory.mktemp("talk")
    (shipped,) = yaml.safe_load((ROOT / "config" / "adapters" / "retail.yaml").read_text())
    config = shipped["config"]
    for name in ("domain_config_path", "template_library_path", "intents", "reformulator"):
        config[name] = str(ROOT / config[name])
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump({"adapters": [shipped | {"enabled": True}]}))
    with services() as address:
        yield path, address


app = command_line("talk")


def options_of(shop: tuple[Path, str]) -> list[str]:
    return ["--config", str(shop[0]), "--data", str(shop[0].parent / "data")]


def piped(shop: tuple[Path, str], *lines: str, options: tuple[str, ...] = ()) -> Result:
    return CliRunner().invoke(
        app,
        ["talk", *options_of(shop), *options],
        input="".join(f"{line}\n" for line in lines),
        env={"DEMO_SERVICES_URL": shop[1]},
    )


def test_piped_questions_leave_answers_alone_on_standard_output(shop: tuple[Path, str]) -> None:
    kitchen = ("--session", "kitchen", "--trace")
    done = piped(
        shop, "I bought something", "", "It is about #001", "/nope", "QUIT", "x", options=kitchen
    )
    assert (done.exit_code, done.stdout) == (0, CLARIFY + CLARIFY)
    assert done.stderr.endswith("There is no /nope; /help says what there is.\n")
    assert "reformulate" in re.findall(r"^(\w+)  [\d.]+ ms$", done.stderr, re.M)
    # The session goes on where it was left, and can be forgotten.
    done = piped(shop, "cancel it", "/clear", "cancel it", options=kitchen[:2])
    assert done.stdout.startswith(f"{CANCEL}I need one more thing: **order**")
    assert done.stderr.endswith("Forgotten.\n")


def test_the_commit_event_of_a_yes_is_printed(shop: tuple[Path, str]) -> None:
    done = piped(shop, "Cancel order #007", "no", "Where is #002?", "1", "yes")
    event = (
        "[CONFIRMED] J01 Commit Boundary Event:\n"
        "  Intent : order_status\n"
        "  Target : #002\n"
        "  Status : COMMITTED\n"
    )
    assert "Order #002 is delivered" in done.stdout
    assert (done.stderr.count("[CONFIRMED]"), done.stderr.count(event)) == (1, 1)


def test_what_was_left_out_stands_below_an_answer(tmp_path: Path) -> None:
    configure(tmp_path, [adapter("sums", write_library(tmp_path / "library"))])
    options = ["--config", str(tmp_path / "config.yaml"), "--data", str(tmp_path / "data")]
    typed = "My kids are asleep, what is 15% of 200?\nWhat is 15% of 200?\n"
    done = CliRunner().invoke(app, ["talk", *options], input=typed)
    assert done.stdout == "15% of 200 is **30**\n" * 2
    assert done.stderr.count("I left out “") == 1


def test_what_an_answer_says_itself_is_not_said_twice() -> None:
    notes = {"notes": ["I left out “a”.", "I left out “b”."]}
    assert ShownAnswer(notes, content="30\nI left out “a”.").notes == ["I left out “b”."]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--session", "no spaces"), "error: --session: an id is of the form "),
        (("--url", "http://127.0.0.1:9"), "error: --url needs a key: --key KEY"),
        (("--adapter", "shop"), "error: there is no enabled adapter 'shop'; there are: retail"),
        (("--url", "u", "--key", "k", "--adapter", "retail"), "error: --adapter: the key decides"),
    ],
)
def test_a_wrong_option_is_a_message(
    shop: tuple[Path, str], options: tuple[str, ...], said: str
) -> None:
    done = piped(shop, options=options)
    assert (done.exit_code, done.stdout, done.stderr.startswith(said)) == (1, "", True)


class Terminal:
    """A process that believes a person is typing."""

    def __init__(self, arguments: list[str], environ: dict[str, str]) -> None:
        ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            arguments, cwd=ROOT, env=environ, stdin=theirs, stdout=theirs, stderr=theirs,
            start_new_session=True, preexec_fn=take_terminal,
        )  # fmt: skip
        os.close(theirs)
        self._file = ours
        self.seen = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()  # a read may end amid a character

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._file)

    def until(self, expected: str) -> str:
        """What came up to `expected`, which is taken away too."""
        limit = time.monotonic() + 120
        while expected not in self.seen:
            ready, _, _ = select.select([self._file], [], [], 1)
            assert time.monotonic() < limit, f"no {expected!r} in {self.seen!r}"
            if ready:
                self.seen += self._decoder.decode(os.read(self._file, 65536))
        before, _, self.seen = self.seen.partition(expected)
        return before

    def type(self, text: str) -> None:
        os.write(self._file, text.encode())

    def interrupted(self) -> int:
        """How it ended after Ctrl-C, which a person presses again when nothing happens.

        Python may be between looking for a signal and waiting for a key.
        """
        for _ in range(60):
            self.type("\x03")
            try:
                return self._process.wait(2)
            except subprocess.TimeoutExpired:
                continue
        raise AssertionError("it goes on after Ctrl-C")


def take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # tests may run where Ctrl-C is ignored


def test_at_a_terminal_there_is_a_prompt_a_choice_and_a_history(shop: tuple[Path, str]) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environ |= {"DEMO_SERVICES_URL": shop[1], "TERM": "xterm", "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "server", "talk", *options_of(shop)]
    with Terminal(command, environ) as terminal:
        terminal.until("Talking to retail. /help says what can be typed.")
        terminal.until("› ")
        terminal.type("Cancel order #001\n")
        terminal.until(CANCEL.strip())
        assert "\x1b[2m[1] Yes  [2] No\x1b[0m" in terminal.until("› ")
        terminal.type("\x1b[A")  # the arrow key brings it back
        terminal.until("Cancel order #001")
        assert terminal.interrupted() == 0
    kept = shop[0].parent / "data" / "talk_history"
    assert kept.read_text().splitlines() == ["Cancel order #001"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


@contextmanager
def served(shop: tuple[Path, str]) -> Iterator[tuple[str, str]]:
    """The shop on a server; yields its address and a key."""
    found = configured(shop[0], data=shop[0].parent / "served")
    ready, stop = threading.Event(), threading.Event()
    told: list[str] = []

    async def serve() -> None:
        async with running(found.settings, {"DEMO_SERVICES_URL": shop[1]}) as api:
            store = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
            key, _ = await store.create(NewKey("retail"))
            await store.close()
            config = uvicorn.Config(api, port=0, log_level="error", lifespan="off")
            server = uvicorn.Server(config)
            listening = config.bind_socket()
            listening.listen()
            task = asyncio.create_task(server.serve([listening]))
            told.extend((f"http://127.0.0.1:{listening.getsockname()[1]}", key))
            async with httpx.AsyncClient(base_url=told[0]) as client:
                while (await client.get("/ready")).status_code != 200:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            ready.set()
            await asyncio.to_thread(stop.wait)
            server.should_exit = True
            await task

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait(120)
    try:
        yield told[0], told[1]
    finally:
        stop.set()
        thread.join()


def test_a_running_server_answers_with_its_key(shop: tuple[Path, str]) -> None:
    with served(shop) as (address, key):
        waiting = ("--url", address, "--key", key)
        done = piped(shop, "It is about #001", "cancel it", "/trace", "/clear", options=waiting)
        assert done.stdout == CLARIFY + CANCEL
        assert '"intent": "cancel_order"' in done.stderr
        assert done.stderr.endswith("Forgotten.\n")
        refused = piped(shop, "hello", options=("--url", address, "--key", "wrong"))
        assert (refused.exit_code, refused.stdout) == (0, "")
        assert refused.stderr.startswith("error: ")
    gone = piped(shop, "hello", options=waiting)
    assert (gone.stdout, gone.stderr.startswith(f"error: {address} does not answer")) == ("", True)
