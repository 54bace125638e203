"""What a filled request looks like, and what no value can do to it."""

from datetime import date
from decimal import Decimal
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.errors import ArgumentsInvalid
from server.library.http_auth import HttpAuth
from server.library.http_model import HttpRequest, HttpService
from server.library.placeholders import parse_text
from server.tools.http.request import FilledRequest, fill_request
from tests.tools.http.calls import request

UNICODE = st.text(st.characters(codec="utf-8"))


def fill(asking: HttpRequest, arguments: dict[str, object], **service: object) -> FilledRequest:
    return fill_request(asking, HttpService(**service), arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("London", "/London/x"),
        ("New York", "/New%20York/x"),
        ("a/b?c#d&e%f", "/a%2Fb%3Fc%23d%26e%25f/x"),
        ("..%2f..", "/..%252f../x"),
        ("Zürich 東京", "/Z%C3%BCrich%20%E6%9D%B1%E4%BA%AC/x"),
        ("a\r\nHost: evil", "/a%0D%0AHost%3A%20evil/x"),
        (7, "/7/x"),
        (7.0, "/7/x"),
        (Decimal("2.50"), "/2.50/x"),
        (True, "/true/x"),
        (date(2025, 3, 4), "/2025-03-04/x"),
        ([1, 2], "/1%2C2/x"),
    ],
)
def test_a_value_in_a_path_stays_in_its_segment(value: object, path: str) -> None:
    filled = fill(request("GET", "https://h/{v}/x"), {"v": value})
    assert httpx.URL(filled.url).raw_path == path.encode()


@pytest.mark.parametrize(
    ("path", "arguments"),
    [
        ("/{a}/x", {"a": ".."}),
        ("/{a}/x", {"a": "."}),
        ("/{a}{b}/x", {"a": ".", "b": "."}),
        ("/{a}/x", {"a": ""}),
        ("/{a}/x", {}),
        ("/{a}/x", {"a": None}),
        ("/{a}/x", {"a": "\ud800"}),
        ("/{a}/x", {"a": float("inf")}),
    ],
)
def test_a_value_that_would_change_the_path_is_refused(
    path: str, arguments: dict[str, object]
) -> None:
    with pytest.raises(ArgumentsInvalid):
        fill(request("GET", f"https://h{path}"), arguments)


@given(UNICODE, UNICODE)
def test_no_value_changes_host_depth_or_parameters(one: str, two: str) -> None:
    asking = request("GET", "https://h.example/a/{one}/b", query={"q": "{{ two }}", "k": "v"})
    try:
        url = httpx.URL(fill(asking, {"one": one, "two": two}).url)
    except ArgumentsInvalid:
        assert one in ("", ".", "..")
        return
    assert (url.host, url.path.count("/") - one.count("/"), url.fragment) == ("h.example", 3, "")
    query = parse_qsl(url.query.decode("ascii"), keep_blank_values=True, strict_parsing=True)
    assert query == [("q", two), ("k", "v")]


def test_optional_parameters_without_value_are_not_sent() -> None:
    asking = request(
        "GET",
        "https://h/x?a={a}&b={{ b }}&c=c-{c}&flag",
        headers={"X-B": "{b}", "X-K": "k"},
    )
    filled = fill(asking, {"a": "1", "b": None})
    assert (filled.url, filled.headers) == ("https://h/x?a=1&flag", (("x-k", "k"),))


def test_a_list_in_the_query_repeats_its_name() -> None:
    asking = request("GET", "https://h/x", query={"id": "{ids}", "joined": "{{ ids | join(',') }}"})
    filled = fill(asking, {"ids": [1, 2]})
    assert urlsplit(filled.url).query == "id=1&id=2&joined=1%2C2"


def test_the_authors_own_commas_stay() -> None:
    filled = fill(request("GET", "https://h/x?f=a,b:c&n={n}"), {"n": "a,b"})
    assert urlsplit(filled.url).query == "f=a,b:c&n=a%2Cb"


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\x00b", "\x7f"])
def test_no_value_begins_another_header(value: str) -> None:
    with pytest.raises(ArgumentsInvalid, match="header"):
        fill(request("GET", "https://h/x", headers={"X-V": "{v}"}), {"v": value})


def test_a_header_speaks_ascii() -> None:
    filled = fill(request("GET", "https://h/x", headers={"X-V": "{v}"}), {"v": "Zürich 100%"})
    assert filled.headers == (("x-v", "Z%C3%BCrich 100%"),)


def test_a_json_body_keeps_types_and_leaves_out_what_has_no_value() -> None:
    body = {
        "title": "{title}",
        "text": "Due {{ due }}!",
        "n": "{{ n }}",
        "exact": "{{ exact }}",
        "done": "{done}",
        "tags": ["{tag}", "fixed", "{missing}"],
        "none": "{missing}",
        "mixed": "a {missing}",
        "literal": None,
        "deep": {"count": 3, "list": "{list}"},
    }
    arguments = {
        "title": 'a "quoted"\n',
        "due": date(2025, 1, 2),
        "n": 3,
        "exact": Decimal("0.10"),
        "done": False,
        "tag": "x",
        "list": [1, {"a": True}],
    }
    filled = fill(request("POST", "https://h/x", json=body), arguments)
    assert httpx.Response(200, content=filled.content).json() == {
        "title": 'a "quoted"\n',
        "text": "Due 2025-01-02!",
        "n": 3,
        "exact": 0.1,
        "done": False,
        "tags": ["x", "fixed"],
        "literal": None,
        "deep": {"count": 3, "list": [1, {"a": True}]},
    }
    assert filled.headers == (("content-type", "application/json"),)


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, "text", 5, False])
def test_a_body_that_is_one_placeholder_sends_the_value_itself(value: object) -> None:
    filled = fill(request("PUT", "https://h/x", json="{{ data }}"), {"data": value})
    assert httpx.Response(200, content=filled.content).json() == value


def test_a_form_is_encoded_as_a_form() -> None:
    asking = request("POST", "https://h/x", form={"q": "{q}", "n": 2, "l": "{l}", "no": "{no}"})
    filled = fill(asking, {"q": "a&b=c", "l": ["x", "y"]})
    assert (filled.content, filled.headers) == (
        b"q=a%26b%3Dc&n=2&l=x&l=y",
        (("content-type", "application/x-www-form-urlencoded"),),
    )


def test_text_is_sent_as_it_reads() -> None:
    filled = fill(request("POST", "https://h/x", text="Hi {name}"), {"name": "Zoë"})
    assert (filled.content, filled.headers) == (
        "Hi Zoë".encode(),
        (("content-type", "text/plain; charset=utf-8"),),
    )


@pytest.mark.parametrize(
    ("auth", "query", "headers"),
    [
        (HttpAuth(), "", {}),
        (HttpAuth("bearer", secret="t0p"), "", {"authorization": "Bearer t0p"}),
        (HttpAuth("basic", username="me", secret="pä"), "", {"authorization": "Basic bWU6cMOk"}),
        (HttpAuth("api_key", secret="k"), "", {"x-api-key": "k"}),
        (HttpAuth("api_key", secret="k&y", name="appid", place="query"), "appid=k%26y", {}),
    ],
)
def test_calls_are_signed_as_the_service_wants(
    auth: HttpAuth, query: str, headers: dict[str, str]
) -> None:
    filled = fill(request("GET", "https://h/x"), {}, auth=auth)
    assert (urlsplit(filled.url).query, dict(filled.headers)) == (query, headers)


def test_nothing_secret_shows_in_a_repr() -> None:
    auth = HttpAuth("api_key", secret="hunter2", name="k", place="query")
    asking = request("GET", "https://h/x", headers={"X-Token": "hunter2"})
    shown = repr((auth, asking, HttpService(auth=auth), fill(asking, {}, auth=auth)))
    assert "hunter2" not in shown


def test_an_expression_that_fails_is_an_invalid_argument() -> None:
    with pytest.raises(ArgumentsInvalid, match="n / 0"):
        fill(request("GET", "https://h/x?n={{ n / 0 }}"), {"n": 1})


def test_a_literal_percent_sign_in_a_path_stays() -> None:
    asking = HttpRequest("GET", "https://h", parse_text("/a%20b"))
    assert fill(asking, {}).url == "https://h/a%20b"
