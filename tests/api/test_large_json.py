"""Large answers: by gzip where it is taken, and not again to who has them."""

import gzip
import json
from dataclasses import replace

import httpx
import pytest

from server.core.http_headers import takes_gzip
from tests.api.conftest import Edge
from tests.api.test_library import open_library
from tests.support.deciding import PERCENTAGE

pytestmark = pytest.mark.anyio

LIBRARY = "/adapters/arithmetic/library"
MANY = replace(PERCENTAGE, nl_examples=tuple(f"What is {number}% of 200?" for number in range(200)))


async def raw(edge: Edge, path: str, **headers: str) -> tuple[httpx.Response, bytes]:
    sent = {"X-API-Key": edge.key} | {name.replace("_", "-"): v for name, v in headers.items()}
    request = edge.client.build_request("GET", path, headers=sent)
    response = await edge.client.send(request, stream=True)
    return response, b"".join([chunk async for chunk in response.aiter_raw()])


async def test_it_is_zipped_where_that_is_taken(edge: Edge) -> None:
    open_library(edge, MANY)
    plain, content = await raw(edge, LIBRARY, accept_encoding="identity")
    zipped, shorter = await raw(edge, LIBRARY, accept_encoding="br, gzip")
    assert "content-encoding" not in plain.headers
    assert zipped.headers["content-encoding"] == "gzip"
    assert gzip.decompress(shorter) == content
    assert json.loads(content)["templates"][0]["id"] == PERCENTAGE.id
    assert len(shorter) < len(content) / 4
    for response in (plain, zipped):
        assert response.headers["vary"] == "Accept-Encoding"
        assert response.headers["cache-control"] == "private, no-cache"


async def test_what_is_small_is_not_zipped(edge: Edge) -> None:
    open_library(edge, PERCENTAGE)
    small, content = await raw(edge, LIBRARY, accept_encoding="gzip")
    assert "content-encoding" not in small.headers
    assert json.loads(content)["templates"]


async def test_each_form_has_its_own_tag_and_is_not_sent_again(edge: Edge) -> None:
    open_library(edge, MANY)
    tags = {}
    for form in ("identity", "gzip"):
        first, _ = await raw(edge, LIBRARY, accept_encoding=form)
        tags[form] = first.headers["etag"]
        again, body = await raw(edge, LIBRARY, accept_encoding=form, if_none_match=tags[form])
        assert (again.status_code, body, again.headers["etag"]) == (304, b"", tags[form])
        assert again.headers["vary"] == "Accept-Encoding"
    assert tags["identity"] != tags["gzip"]
    other, body = await raw(edge, LIBRARY, accept_encoding="gzip", if_none_match=tags["identity"])
    assert (other.status_code, other.headers["etag"]) == (200, tags["gzip"])


async def test_an_answer_to_a_question_is_as_it_is(edge: Edge) -> None:
    headers = {"X-API-Key": edge.key, "Accept-Encoding": "gzip"}
    answer = await edge.client.post("/chat", json={"message": "hello"}, headers=headers)
    assert (answer.status_code, answer.headers.get("content-encoding")) == (200, None)


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip; q=1.0", True),
        ("gzip;q=0", False),
        ("gzip;q=0.0", False),
        ("identity", False),
        ("", False),
    ],
)
def test_who_takes_gzip_says_so(accepted: str, taken: bool) -> None:
    assert takes_gzip({"accept-encoding": accepted}) is taken
