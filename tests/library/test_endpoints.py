import pytest

from server.library.http_model import Endpoint, parse_endpoint
from server.library.placeholders import PlaceholderInvalid, parse_text


def filled(endpoint: Endpoint) -> tuple[str, str | None]:
    return endpoint.origin, endpoint.path.fill({"x": "1"}, str)


@pytest.mark.parametrize(
    ("endpoint", "base_url", "origin", "path"),
    [
        ("https://API.example.com/a/{x}/b", "", "https://api.example.com", "/a/1/b"),
        ("/a", "https://example.com", "https://example.com", "/a"),
        ("a/{{ x }}", "https://example.com/v2/", "https://example.com", "/v2/a/1"),
        ("http://127.0.0.1:8080", "https://example.com", "http://127.0.0.1:8080", "/"),
        ("http://[::1]:80/x", "", "http://[::1]:80", "/x"),
        ("/sp ace/ü", "http://h", "http://h", "/sp%20ace/%C3%BC"),
        ("/already%20quoted", "http://h", "http://h", "/already%20quoted"),
        ("/a#fragment?x=1", "http://h", "http://h", "/a"),
    ],
)
def test_an_endpoint_is_absolute_or_joins_the_base(
    endpoint: str, base_url: str, origin: str, path: str
) -> None:
    assert filled(parse_endpoint(endpoint, base_url)) == (origin, path)


def test_the_query_is_cut_into_names_and_texts() -> None:
    found = parse_endpoint("http://h/q?s={{ symbol | lower }}.us&f=a%2Cb+c&h&t={a}-{b}&=x&empty=")
    assert [(name, text and text.parts) for name, text in found.query] == [
        ("s", (*parse_text("{{ symbol | lower }}").parts, ".us")),
        ("f", ("a,b c",)),
        ("h", None),
        ("t", parse_text("{a}-{b}").parts),
        ("empty", ()),
    ]


def test_a_path_may_begin_with_a_placeholder() -> None:
    assert parse_endpoint("{x}/y", "http://h").path.fill({"x": "1"}, str) == "/1/y"


def test_a_placeholder_may_hold_what_separates_elsewhere() -> None:
    found = parse_endpoint("http://h/{{ '?&#'[0:1] }}?q={{ '&' }}")
    assert (found.path.fill({}, str), [name for name, _ in found.query]) == ("/?", ["q"])


@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [
        ("/relative", "does not begin with http"),
        ("ftp://host/x", "does not begin with http"),
        ("https://{host}/x", "placeholder cannot stand in the host"),
        ("https://api.{{ region }}.com/x", "placeholder cannot stand in the host"),
        ("https://me:secret@host/x", "use authentication"),
        ("https://ho st/x", "not a host"),
        ("https:///x", "not a host"),
        ("https://h/a/../b", "climbs"),
        ("https://h/./b", "climbs"),
        ("https://h/?{name}=1", "cannot name a query parameter"),
        ("https://h/?a{name}", "cannot name a query parameter"),
    ],
)
def test_what_could_lead_elsewhere_is_refused(endpoint: str, problem: str) -> None:
    with pytest.raises(PlaceholderInvalid, match=problem):
        parse_endpoint(endpoint)


def test_a_message_does_not_show_credentials() -> None:
    with pytest.raises(PlaceholderInvalid) as refused:
        parse_endpoint("https://me:hunter2@host/x")
    assert "hunter2" not in str(refused.value)
