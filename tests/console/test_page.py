"""The console's page and its files, as a browser gets them."""

import gzip
import json
import re
from collections.abc import AsyncIterator
from importlib.resources import files
from pathlib import Path
from typing import get_args

import httpx
import pytest

from server.retrievers.requests import Kind
from server.settings.models import ConsoleSettings, Settings
from tests.support.api import client_from, running

pytestmark = pytest.mark.anyio

STATIC = Path(str(files("server.console").joinpath("static")))
NAMES = sorted(str(each.relative_to(STATIC)) for each in STATIC.rglob("*.*"))


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with running(Settings(data_dir=tmp_path), {}) as api, client_from(api, "::1") as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/console", "/console/static/main.js", "/?q=1"])
async def test_everything_comes_with_the_headers_that_keep_a_page_to_itself(
    browser: httpx.AsyncClient, path: str
) -> None:
    response = await browser.get(path)
    assert response.status_code == 200
    policy = dict(
        part.strip().split(" ", 1)
        for part in response.headers["content-security-policy"].split(";")
    )
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    kept = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
    kept |= {"x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin"}
    kept |= {"cache-control": "no-cache", "vary": "Accept-Encoding"}
    assert {name: response.headers[name] for name in kept} == kept
    assert "set-cookie" not in response.headers


async def test_both_addresses_have_the_same_page(browser: httpx.AsyncClient) -> None:
    pages = [await browser.get(path) for path in ("/", "/console")]
    written = (STATIC / "index.html").read_text("utf-8")
    assert {page.text for page in pages} == {written.replace("{{ command }}", "orbit")}
    assert {page.headers["content-type"] for page in pages} == {"text/html; charset=utf-8"}


async def test_every_file_is_served_as_what_it_is(browser: httpx.AsyncClient) -> None:
    types = {
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "json": "application/json",
        "svg": "image/svg+xml",
    }
    for name in NAMES:
        response = await browser.get(f"/console/static/{name}")
        if name == "index.html":
            assert response.status_code == 404  # the page has its own addresses
            continue
        assert (response.status_code, response.content) == (200, (STATIC / name).read_bytes())
        assert response.headers["content-type"] == types[name.rpartition(".")[2]]


@pytest.mark.parametrize(
    ("accepted", "is_zipped"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip; q=1.0", True),
        ("gzip;q=0", False),
        ("gzip;q=0.0, br", False),
        ("identity", False),
        ("", False),
    ],
)
async def test_a_file_is_compressed_where_that_is_accepted(
    browser: httpx.AsyncClient, accepted: str, is_zipped: bool
) -> None:
    request = browser.build_request("GET", "/console/static/main.js")
    request.headers["accept-encoding"] = accepted
    response = await browser.send(request, stream=True)
    body = b"".join([chunk async for chunk in response.aiter_raw()])
    assert response.headers.get("content-encoding") == ("gzip" if is_zipped else None)
    content = (STATIC / "main.js").read_bytes()
    assert (gzip.decompress(body) if is_zipped else body) == content
    assert (len(body) < len(content)) == is_zipped


async def test_what_has_not_changed_is_not_sent_again(browser: httpx.AsyncClient) -> None:
    first = await browser.get("/console/static/main.js")
    tag = first.headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = await browser.get("/console/static/main.js", headers={"if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
        assert again.headers["content-security-policy"]
    for other in ('"other"', tag.strip('"')):
        changed = await browser.get("/console/static/main.js", headers={"if-none-match": other})
        assert changed.status_code == 200
    plain = await browser.get("/console/static/main.js", headers={"accept-encoding": "identity"})
    assert plain.headers["etag"] != tag  # other bytes


async def test_the_head_alone_can_be_asked_for(browser: httpx.AsyncClient) -> None:
    got, head = await browser.get("/"), await browser.head("/")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == got.headers["etag"]


@pytest.mark.parametrize(
    "path",
    [
        "../page.py",
        "%2e%2e/page.py",
        "..%2fpage.py",
        "..%5cpage.py",
        "views/../../page.py",
        "/etc/passwd",
        "%2fetc/passwd",
        "main.js/",
        "main.js%00.css",
        "views",
        "",
    ],
)
async def test_no_path_leads_elsewhere(browser: httpx.AsyncClient, path: str) -> None:
    request = browser.build_request("GET", "/")
    request.url = request.url.copy_with(raw_path=f"/console/static/{path}".encode())
    response = await browser.send(request)
    assert response.status_code == 404
    assert response.json()["error"]["code"] == "not_found"


async def test_nothing_can_be_sent_to_the_page(browser: httpx.AsyncClient) -> None:
    assert (await browser.post("/")).status_code == 405


@pytest.mark.parametrize("path", ["/", "/console", "/console/static/main.js"])
async def test_a_server_without_the_console_has_no_page(tmp_path: Path, path: str) -> None:
    settings = Settings(data_dir=tmp_path, console=ConsoleSettings(enabled=False))
    async with running(settings, {}) as api, client_from(api, "::1") as client:
        assert (await client.get(path)).status_code == 404


async def test_requests_for_it_are_counted_by_pattern(browser: httpx.AsyncClient) -> None:
    for path in ("/", "/console/static/main.js", "/console/static/none.js"):
        await browser.get(path)
    counted = (await browser.get("/metrics")).text
    assert 'route="/console/static/{path:path}",status="200"} 1.0' in counted
    assert 'route="/console/static/{path:path}",status="404"} 1.0' in counted
    assert 'route="/",status="200"} 1.0' in counted
    assert "main.js" not in counted


async def test_the_calls_of_the_page_are_documented_and_the_page_is_none(
    browser: httpx.AsyncClient,
) -> None:
    paths = (await browser.get("/openapi.json")).json()["paths"]
    assert "/key" in paths
    assert not [path for path in paths if path in ("/", "/console") or "static" in path]


def test_what_the_page_loads_first_is_small() -> None:
    """The first view is at most 150 kB over the wire, whatever its modules load in turn."""
    loaded = _loaded_by("main.js") | _loaded_by("views/ask.js")
    loaded |= {"index.html", "theme.js", "icon.svg", "style.css", "views/ask.css"}
    loaded |= {"locales/en/shell.json", "locales/en/ask.json"}
    sizes = {name: len(gzip.compress((STATIC / name).read_bytes())) for name in loaded}
    assert sum(sizes.values()) < 150_000


def _loaded_by(name: str) -> set[str]:
    found, waiting = set[str](), [name]
    while waiting:
        current = waiting.pop()
        if current in found:
            continue
        found.add(current)
        text = (STATIC / current).read_text("utf-8")
        for target in re.findall(r'from "(\.[^"]+)"', text):
            path = (STATIC / current).parent / target
            waiting.append(str(path.resolve().relative_to(STATIC.resolve())))
    return found


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".js")])
def test_what_a_module_imports_is_there(name: str) -> None:
    assert all((STATIC / each).is_file() for each in _loaded_by(name))


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith((".js", ".html"))])
def test_no_file_makes_markup_of_text_or_loads_from_elsewhere(name: str) -> None:
    text = (STATIC / name).read_text("utf-8")
    sinks = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert not re.search(sinks, text)
    assert not re.search(r"""(src|href|from|import)\s*[=(]?\s*["'](https?:)?//""", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|<style|javascript:", text)


LOCALES = sorted((STATIC / "locales" / "en").glob("*.json"))
LANGUAGES = sorted(folder.name for folder in (STATIC / "locales").iterdir())


async def test_every_language_can_be_chosen_and_is_told(browser: httpx.AsyncClient) -> None:
    told = (await browser.get("/console/start")).json()["languages"]
    names = re.search(r"LANGUAGES = \{(.*)\}", (STATIC / "i18n.js").read_text("utf-8"))
    assert names is not None
    assert LANGUAGES == sorted(told) == sorted(re.findall(r"(\w+):", names[1]))


def test_the_first_paint_and_the_page_know_the_same_languages_from_right_to_left() -> None:
    lists = [
        re.search(r'\["ar"[^]]*\]', (STATIC / name).read_text("utf-8"))
        for name in ("i18n.js", "theme.js")
    ]
    assert len({found[0] for found in lists if found}) == 1
    assert None not in lists


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each != "en"])
@pytest.mark.parametrize("english", LOCALES, ids=lambda path: path.stem)
def test_every_text_is_there_in_each_language(english: Path, language: str) -> None:
    here = json.loads(english.read_text("utf-8"))
    other = json.loads((STATIC / "locales" / language / english.name).read_text("utf-8"))
    assert set(here) == set(other)
    prefix = ("common.", "error.", "nav.", "shell.", "signin.", "state.", "theme.", "unit.")
    own = prefix if english.stem == "shell" else (f"{english.stem}.",)
    assert all(key.startswith(own) for key in here)
    for key, text in here.items():
        assert _names_in(text) == _names_in(other[key]), key


def test_what_stands_in_the_way_is_said_in_words() -> None:
    texts = json.loads((STATIC / "locales" / "en" / "ask.json").read_text("utf-8"))
    assert [kind for kind in get_args(Kind) if f"ask.objection.{kind}" not in texts] == []


def _names_in(text: str | dict[str, str]) -> set[str]:
    whole = text if isinstance(text, str) else text["other"]
    return set(re.findall(r"\{(\w+)\}", whole))
