"""Pages of each style, and where they end."""

from dataclasses import replace
from typing import Any

import pytest

from server.errors import ToolFailed
from server.library.http_auth import HttpAuth
from server.library.http_model import Pagination
from server.responses.mapping import ResponseMapping
from tests.tools.http.calls import FAST, ask
from tests.tools.http.upstream import Answering, Asked, calculated, reply

ROWS = list(range(7))
PAGE = Pagination("page", "page", "size", 3)
OFFSET = Pagination("offset", "from", "limit", 3, start=0)
CURSOR = Pagination("cursor", "after", next="next")
LINK = Pagination("link")


def by_page(asked: Asked) -> bytes:
    query = dict(asked.query)
    size = int(query["size"])
    start = (int(query["page"]) - 1) * size
    return reply({"rows": ROWS[start : start + size]})


def by_offset(asked: Asked) -> bytes:
    query = dict(asked.query)
    start = int(query["from"])
    return reply({"rows": ROWS[start : start + int(query["limit"])], "total": len(ROWS)})


def by_cursor(asked: Asked) -> bytes:
    start = int(dict(asked.query).get("after", 0))
    following = start + 3
    return reply({"rows": ROWS[start:following], "next": following if following < 7 else None})


def by_link(asked: Asked) -> bytes:
    start = int(dict(asked.query).get("after", 0))
    following = start + 3
    link = f'</x?after={following}>; rel="next"' if following < 7 else "</x>; rel=first"
    return reply({"rows": ROWS[start:following]}, link=link)


def pages(answer: Any, paging: Pagination, **more: Any) -> tuple[list[int], bool, Any, list[str]]:
    mapping = ResponseMapping(items="rows", total="total")
    result, asked = ask(
        calculated(answer), "GET", "/x?q={q}", {"q": 1}, mapping=mapping, pagination=paging, **more
    )
    return result["result"], result["complete"], result["total"], [a.target for a in asked]


@pytest.mark.parametrize(
    ("answer", "paging", "targets"),
    [
        (by_page, PAGE, [f"/x?q=1&size=3&page={n}" for n in (1, 2, 3)]),
        (by_offset, OFFSET, [f"/x?q=1&limit=3&from={n}" for n in (0, 3, 6)]),
        (by_cursor, CURSOR, ["/x?q=1", "/x?q=1&after=3", "/x?q=1&after=6"]),
        (by_link, LINK, ["/x?q=1", "/x?after=3&q=1", "/x?after=6&q=1"]),
    ],
)
def test_all_pages_are_gathered(answer: Any, paging: Pagination, targets: list[str]) -> None:
    assert pages(answer, paging) == (ROWS, True, 7, targets)


@pytest.mark.parametrize(
    ("answer", "paging"), [(by_page, PAGE), (by_cursor, CURSOR), (by_link, LINK)]
)
def test_pages_end_at_the_bound_and_say_so(answer: Any, paging: Pagination) -> None:
    rows, complete, total, targets = pages(answer, replace(paging, max_pages=2))
    assert (rows, complete, total, len(targets)) == (ROWS[:6], False, None, 2)


def test_items_end_at_the_bound_and_say_so() -> None:
    rows, complete, total, targets = pages(by_offset, replace(OFFSET, max_items=4))
    assert (rows, complete, total, len(targets)) == (ROWS[:4], False, 7, 2)


def test_a_bound_that_is_just_met_is_complete() -> None:
    rows, complete, _, _ = pages(by_page, replace(PAGE, max_pages=3))
    assert (rows, complete) == (ROWS, True)


@pytest.mark.parametrize(
    ("answer", "paging"),
    [
        (lambda asked: reply({"rows": [1], "next": "same"}), CURSOR),
        (lambda asked: reply({"rows": [1]}, link='</x?q=1>; rel="next"'), LINK),
    ],
)
def test_a_service_that_leads_in_a_circle_is_left(answer: Any, paging: Pagination) -> None:
    rows, *_ = pages(answer, paging)
    assert len(rows) <= 2


@pytest.mark.parametrize("link", ["<http://evil.example/x>", "<//localhost:1/x>"])
def test_a_next_page_on_another_host_is_refused(link: str) -> None:
    with pytest.raises(ToolFailed, match="next page on another host"):
        pages(lambda asked: reply({"rows": [1]}, link=f'{link}; rel="next"'), LINK)


def test_a_key_in_the_query_goes_with_every_page() -> None:
    service = replace(FAST, auth=HttpAuth("api_key", secret="k1", name="key", place="query"))
    *_, targets = pages(by_link, LINK, service=service)
    assert all("key=k1" in target for target in targets)


def test_one_thing_has_no_further_pages() -> None:
    answering: Answering = calculated(lambda asked: reply({"a": 1}))
    result, asked = ask(answering, "GET", "/x", pagination=PAGE)
    assert (result["result"], len(asked)) == ({"a": 1}, 1)
