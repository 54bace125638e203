import httpx

from server.tools.http.engine import AnswerCache
from server.tools.http.request import FilledRequest
from server.tools.http.response import Received

ASKED = FilledRequest("GET", "http://h/x", (("q", "1"),), (("x-key", "alice"),))


def received(body: bytes = b"x") -> Received:
    return Received("h", 200, httpx.Headers(), body)


def test_an_answer_is_kept_until_its_time_is_over() -> None:
    now = 100.0
    cache = AnswerCache(clock=lambda: now)
    answer = received()
    cache.put(ASKED, answer, ttl_s=10)
    assert cache.get(ASKED) is answer
    now = 110.0
    assert cache.get(ASKED) is None


def test_another_key_never_sees_the_answer() -> None:
    cache = AnswerCache()
    cache.put(ASKED, received(), ttl_s=10)
    bob = FilledRequest("GET", "http://h/x", (("q", "1"),), (("x-key", "bob"),))
    assert cache.get(bob) is None


def test_the_oldest_answers_make_room() -> None:
    cache = AnswerCache()
    requests = [FilledRequest("GET", f"http://h/{n}") for n in range(5)]
    for request in requests:
        cache.put(request, received(b"x" * 10_000_000), ttl_s=10)
    assert [cache.get(request) is not None for request in requests] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_keeping_the_same_answer_again_counts_it_once() -> None:
    cache = AnswerCache()
    for _ in range(9):
        cache.put(ASKED, received(b"x" * 10_000_000), ttl_s=10)
    assert cache.get(ASKED) is not None
