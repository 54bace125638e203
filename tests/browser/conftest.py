"""A server with a project of its own, and a Chromium that looks at its console."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.support.ports import free_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page

ROOT = Path(__file__).parents[2]
PROJECT = Path(__file__).parent / "project"
SHOTS = Path(os.environ.get("ORBIT_SCREENSHOTS") or ROOT / "data" / "screenshots")
REPAIRS = (
    ("Gazelle", "waiting", 45.0),
    ("Brompton", "finished", 120.5),
    ("Trek", "in progress", 80.0),
    ("Batavus", "finished", 30.0),
)


@dataclass
class Site:
    """A running server, and the folder of its project."""

    folder: Path
    url: str
    started: str
    """What `start` printed."""

    def run(self, *args: str) -> "subprocess.CompletedProcess[str]":
        return run(self.folder, *args)

    def key(self, adapter: str, role: str = "user") -> str:
        made = self.run("keys", "create", "--adapter", adapter, "--role", role)
        assert made.returncode == 0, made.stderr
        return made.stdout.split()[0]

    def link(self) -> str:
        """A new link that signs in as an admin, once."""
        made = self.run("console")
        assert made.returncode == 0, made.stderr
        return made.stdout.strip()


def run(folder: Path, *args: str) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ORBIT_")}
    return subprocess.run(
        [sys.executable, "-m", "server", *args, "--config", str(folder / "config/config.yaml")],
        cwd=ROOT,
        env=kept,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server in the background, with the project of a bicycle workshop."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(PROJECT, folder, dirs_exist_ok=True)
    with sqlite3.connect(folder / "workshop.db") as repairs:
        repairs.execute("CREATE TABLE repairs (id INTEGER PRIMARY KEY, bike, status, price REAL)")
        insert = "INSERT INTO repairs (bike, status, price) VALUES (?, ?, ?)"
        repairs.executemany(insert, REPAIRS)
    repairs.close()
    port = free_port()
    started = run(folder, "start", "--host", "127.0.0.1", "--port", str(port))
    assert started.returncode == 0, started.stderr
    yield Site(folder, f"http://127.0.0.1:{port}", started.stderr)
    run(folder, "stop")


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("there is no Chromium here")
    why = "playwright is not installed: ./bin/orbit.sh install browser"
    sync_api = pytest.importorskip("playwright.sync_api", reason=why)
    with sync_api.sync_playwright() as playwright:
        # Without its sandbox, since root may not have one.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Tab:
    """A page, and all that went wrong in it."""

    page: "Page"
    site: Site
    asked: list[str] = field(default_factory=list)
    """The address of every request."""
    faults: list[str] = field(default_factory=list)
    """Exceptions, errors on the console, and what the policy of the page refused."""

    def open(self, where: str = "") -> None:
        self.page.goto(f"{self.site.url}/{where}")

    def sign_in(self, adapter: str = "workshop", role: str = "user") -> None:
        """Sign in with a new key, as a person does."""
        self.open()
        self.page.get_by_test_id("key").fill(self.site.key(adapter, role))
        self.page.get_by_test_id("key").press("Enter")
        self.page.get_by_test_id("question").wait_for()

    def sign_in_by_link(self) -> None:
        self.page.goto("about:blank")  # a link that differs in its fragment alone loads nothing
        self.page.goto(self.site.link())
        self.page.get_by_test_id("question").wait_for()

    def ask(self, question: str) -> None:
        """Ask, and wait for the answer to be whole."""
        before = self.page.get_by_test_id("answer").count()
        self.page.get_by_test_id("question").fill(question)
        self.page.get_by_test_id("ask").click()
        self.page.get_by_test_id("answer").nth(before).wait_for()
        self.page.get_by_test_id("confidence").nth(before).wait_for()

    def wait_for_value(self, field: "Locator", value: str) -> None:
        from playwright.sync_api import expect

        expect(field).to_have_value(value)

    def shot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", full_page=False)


_EXPECTED = re.compile(r"Failed to load resource.*status of (401|403|404|409|422)")


def make_tab(context: "BrowserContext", site: Site) -> Tab:
    tab = Tab(context.new_page(), site)
    tab.page.on("request", lambda request: tab.asked.append(request.url))
    tab.page.on("pageerror", lambda error: tab.faults.append(str(error)))

    def note(message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning") and not _EXPECTED.search(message.text):
            tab.faults.append(message.text)

    tab.page.on("console", note)
    return tab


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: "pytest.CallInfo[None]"
) -> "Generator[None, pytest.TestReport, pytest.TestReport]":
    """What a page showed when its test failed stands in the report, and on a screenshot."""
    report = yield
    tab = item.funcargs.get("tab") if report.when == "call" and report.failed else None
    if isinstance(tab, Tab):
        tab.shot(f"failed-{item.name}")
        report.sections.append(("page", tab.page.locator("body").inner_text()))
        report.sections.append(("faults", "\n".join(tab.faults)))
    return report


@pytest.fixture
def tab(chromium: "Browser", site: Site) -> Iterator[Tab]:
    """A page of its own, as wide as a laptop's. Nothing may go wrong in it or leave the server."""
    context = chromium.new_context(viewport={"width": 1280, "height": 860}, locale="en-GB")
    tab = make_tab(context, site)
    yield tab
    hosts = {urlsplit(url).netloc for url in tab.asked if not url.startswith(("data:", "blob:"))}
    context.close()
    assert (tab.faults, hosts) == ([], {urlsplit(site.url).netloc})
