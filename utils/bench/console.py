"""What the console costs in a real Chromium: its first view, and what is done in a large library.

    .venv/bin/python -m utils.bench.console [--templates 1000] [--rounds 5] [--json]

Starts a server of its own with the agent that ships and a library made up here, ten examples a
template. The first view goes from an empty cache to the sign-in page, and from the key to Ask
with its examples; bytes are counted as they come over the wire. Of each interaction it tells the
slowest event from input to the next frame (0 where none took 16 ms, which is the least that
browsers tell), the longest task that kept the page from answering (0 below 50 ms), and where
something is fetched, how long until it was there. Needs Chromium and the extra `browser`.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import yaml

from utils.bench._machine import describe_machine, percentiles
from utils.bench.chat import ROOT, make_key, start, stop

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

AGENT, LARGE = "intent-agent-example", "large"
EXAMPLES = 10
_VERBS = (
    *("show", "list", "find", "count", "cancel", "refund", "move", "rename", "close", "open"),
    *("track", "export", "archive", "restore", "merge", "split", "price", "ship", "return"),
    *("rate", "print", "check", "renew", "share", "weigh"),
)
_THINGS = (
    *("order", "invoice", "ticket", "customer", "product", "parcel", "shipment", "report"),
    *("account", "contract", "budget", "project", "task", "meeting", "room", "vehicle", "route"),
    *("driver", "warehouse", "supplier", "payment", "coupon", "review", "message", "alarm"),
    *("sensor", "device", "backup", "license", "session", "employee", "shift", "salary"),
    *("vacation", "lesson", "course", "exam", "student", "teacher", "library"),
)
_WAYS = (
    *("{} the {}", "please {} my {}", "can you {} an {}?", "I want to {} this {}", "{} {} now"),
    *("help me {} our {}", "{} that {} for me", "could somebody {} every {}"),
    *("time to {} the last {}", "would you {} the first {} from yesterday?"),
)
_OBSERVE = """() => {
  window.seen = { tasks: [], events: [] };
  const note = (into, wanted) => (list) =>
    list.getEntries().filter(wanted).forEach((entry) => into.push(entry.duration));
  new PerformanceObserver(note(window.seen.tasks, () => true)).observe({ type: "longtask" });
  new PerformanceObserver(note(window.seen.events, (entry) => entry.interactionId > 0))
    .observe({ type: "event", durationThreshold: 16 });
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="orbit-bench-") as folder, chromium() as browser:
        config = write_project(Path(folder), options.templates)
        place = ["--config", str(config), "--data", str(Path(folder) / "data")]
        _, process, url = start(place)
        try:
            agent, large = make_key(place, AGENT), make_key(place, LARGE)
            first_view(browser, url, agent)  # the server reads and compresses its files once
            views = [first_view(browser, url, agent) for _ in range(options.rounds)]
            figures = {
                "machine": describe_machine(),
                "chromium": browser.version,
                "first_view": summed_up(views),
                "first_view_large": summed_up([first_view(browser, url, large)]),
                "templates": options.templates,
                "interactions": interactions(browser, url, large, options.rounds),
            }
        finally:
            stop(process)
    print(json.dumps(figures, indent=2) if options.json else as_text(figures))


@contextmanager
def chromium() -> "Iterator[Browser]":
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        sys.exit("playwright is not installed: ./bin/orbit.sh install browser")
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        sys.exit("there is no Chromium here: install the system's package `chromium`")
    with sync_playwright() as playwright:
        # Without its sandbox, since root may not have one.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


def write_project(folder: Path, templates: int) -> Path:
    """A configuration with the agent that ships and a library of `templates` templates."""
    retriever = "retrievers.implementations.intent"
    ships = ROOT / "examples" / "intent-templates" / "agent-template"
    adapters = [
        {
            "name": AGENT,
            "implementation": f"{retriever}.IntentAgentRetriever",
            "config": {
                "domain_config_path": str(ships / "domain.yaml"),
                "template_library_path": [str(ships / "tools.yaml")],
            },
        },
        {
            "name": LARGE,
            "implementation": f"{retriever}.IntentHTTPRetriever",
            "config": {
                "domain_config_path": "domain.yaml",
                "template_library_path": ["templates.yaml"],
            },
        },
    ]
    domain = {
        "domain_name": LARGE,
        "description": "Many things that can be done",
        "api_config": {"base_url": "https://large.example"},
    }
    written = {
        "config.yaml": {"adapters": adapters},
        "domain.yaml": domain,
        "templates.yaml": {"templates": [template(number) for number in range(templates)]},
    }
    for name, content in written.items():
        (folder / name).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return folder / "config.yaml"


def template(number: int) -> dict[str, Any]:
    verb, thing = _VERBS[number % len(_VERBS)], _THINGS[number // len(_VERBS) % len(_THINGS)]
    more = number // (len(_VERBS) * len(_THINGS))
    name, said = (f"{verb}_{thing}", thing) if not more else (f"{verb}_{thing}_{more}", f"{thing}s")
    return {
        "id": name,
        "description": f"{verb.capitalize()} one {thing}, for the account that asks",
        "tool_type": "query",
        "nl_examples": [way.format(verb, said) for way in _WAYS[:EXAMPLES]],
        "method": "POST" if number % 4 == 3 else "GET",
        "endpoint": f"/{name}",
        "tags": [thing],
    }


def first_view(browser: "Browser", url: str, key: str) -> dict[str, float]:
    """From an empty cache to the sign-in page, and from the key to Ask with its examples."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    received = count_bytes(context, page)
    begin = perf_counter()
    page.goto(url)
    page.get_by_test_id("key").wait_for()
    sign_in_s, sign_in_bytes = perf_counter() - begin, sum(received)
    page.get_by_test_id("key").fill(key)
    begin = perf_counter()
    page.get_by_test_id("key").press("Enter")
    page.get_by_test_id("question").wait_for()
    page.locator(".starts li").first.wait_for()
    ask_s = perf_counter() - begin
    page.wait_for_load_state("networkidle")
    files = page.evaluate(
        "performance.getEntriesByType('resource')"
        ".filter((each) => each.name.includes('/console/static/')).length"
    )
    context.close()
    return {
        "sign_in_ms": sign_in_s * 1000,
        "ask_ms": ask_s * 1000,
        "whole_ms": (sign_in_s + ask_s) * 1000,
        "sign_in_kb": sign_in_bytes / 1000,
        "whole_kb": sum(received) / 1000,
        "files": files,
    }


def count_bytes(context: "BrowserContext", page: "Page") -> list[int]:
    """The bytes of each answer as they come over the wire, headers included."""
    received: list[int] = []
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda told: received.append(told["encodedDataLength"]))
    return received


def summed_up(views: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """The middle and the worst of each figure."""
    told = {name: percentiles([view[name] for view in views]) for name in views[0]}
    return {
        name: {"p50": round(each["p50"], 1), "max": round(each["max"], 1)}
        for name, each in told.items()
    }


@dataclass
class Step:
    """One thing that a person does, and what is there when it is done."""

    name: str
    do: Callable[["Page"], None]
    shown: str | None = None
    """What is waited for: it is fetched from the server first."""


def steps() -> list[Step]:
    def press(key: str, times: int, on: str) -> Callable[["Page"], None]:
        def pressed(page: "Page") -> None:
            page.locator(on).first.focus()
            for _ in range(times):
                page.keyboard.press(key, delay=20)

        return pressed

    def write(text: str, into: str) -> Callable[["Page"], None]:
        def typed(page: "Page") -> None:
            page.locator(into).first.fill("")
            page.locator(into).first.press_sequentially(text, delay=40)

        return typed

    def click(what: str) -> Callable[["Page"], None]:
        return lambda page: page.locator(what).first.click()

    def choose(what: str) -> Callable[["Page"], None]:
        def chosen(page: "Page") -> None:
            page.locator(what).first.select_option(index=1)
            page.locator(what).first.select_option(index=0)

        return chosen

    search, canvas = ".library-filters input", ".map-canvas.over"
    return [
        Step("open the library", click("[data-testid=library]"), ".list-option"),
        Step("search", write("refund the last order", search)),
        Step("clear the search", press("Backspace", 21, search)),
        Step("filter by effect", choose(".library-filters select")),
        Step("open a template", click(".list-option >> nth=3")),
        Step("go through the list", press("ArrowDown", 20, ".list-view")),
        Step("open the map", click("#tab-map"), ".map-legend .list-option"),
        Step("go from point to point", press("ArrowRight", 20, canvas)),
        Step("zoom the map", press("+", 6, canvas)),
        Step("choose a template of the map", click(".map-legend .list-option >> nth=5")),
        Step("open the collisions", click("#tab-collisions"), ".pair, .library-collisions .empty"),
        Step("open the words", click("#tab-words")),
        Step("look a word up", write("order", ".library-word input"), ".use-list"),
        Step("go back to Ask", click("[data-testid=nav-ask]"), "[data-testid=question]"),
        Step("complete a question", write("refund the", "[data-testid=question]")),
    ]


def interactions(browser: "Browser", url: str, key: str, rounds: int) -> list[dict[str, Any]]:
    """The middle and the worst of all rounds for each step."""
    found: dict[str, list[dict[str, float | None]]] = {step.name: [] for step in steps()}
    for _ in range(rounds):
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.goto(url)
        page.get_by_test_id("key").fill(key)
        page.get_by_test_id("key").press("Enter")
        page.locator(".starts li").first.wait_for()
        page.evaluate(_OBSERVE)
        for step in steps():
            found[step.name].append(timed(page, step))
        page.context.close()
    return [
        {"step": name} | {figure: _middle_and_worst(all_of, figure) for figure in all_of[0]}
        for name, all_of in found.items()
    ]


def timed(page: "Page", step: Step) -> dict[str, float | None]:
    page.evaluate("() => { seen.tasks.length = 0; seen.events.length = 0; }")
    begin = perf_counter()
    step.do(page)
    shown_ms = None
    if step.shown:
        page.locator(step.shown).first.wait_for()
        shown_ms = round((perf_counter() - begin) * 1000, 1)
    page.wait_for_timeout(400)  # pauses of the page are over, and all entries are there
    seen = page.evaluate("seen")
    return {
        "event_ms": max(seen["events"], default=0),
        "long_task_ms": max(seen["tasks"], default=0),
        "shown_ms": shown_ms,
    }


def _middle_and_worst(rounds: list[dict[str, float | None]], figure: str) -> list[float] | None:
    known = [value for each in rounds if (value := each[figure]) is not None]
    told = percentiles(known) if known else None
    return [told["p50"], told["max"]] if told else None


def as_text(figures: dict[str, Any]) -> str:
    machine = figures["machine"]
    lines = [
        f"{machine['processor']}, {machine['cores']} cores, load {machine['load_1min']}, "
        f"Chromium {figures['chromium']}",
    ]
    for name in ("first_view", "first_view_large"):
        lines.append(name.replace("_", " "))
        lines += [
            f"  {figure:<12} p50 {each['p50']:>8} max {each['max']:>8}"
            for figure, each in figures[name].items()
        ]
    lines.append(f"interactions, {figures['templates']} templates: p50 and max in ms")
    for each in figures["interactions"]:
        told = (f"{name[:-3]} {pair[0]:.0f} {pair[1]:.0f}" for name, pair in figures_of(each))
        lines.append(f"  {each['step']:<30} {', '.join(told)}")
    return "\n".join(lines)


def figures_of(step: dict[str, Any]) -> list[tuple[str, list[float]]]:
    return [(name, pair) for name, pair in step.items() if isinstance(pair, list)]


if __name__ == "__main__":
    main()
