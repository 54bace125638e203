"""The judge of a cluster finds each thing that must not be."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from server.audit.entry import to_row
from server.audit.writer import open_sink
from server.settings.models import Settings
from tests.audit.test_audit import EVENT
from tests.support.configuring import adapter, configure, write_library
from tests.tools.http.upstream import Asked, Upstream
from utils.cluster.judge import Verdict, judge_answers, judge_limits, judge_writes
from utils.cluster.load import Attempt, Journal, Kind, Outcome
from utils.cluster.services import Shop
from utils.cluster.trouble import Event

BOTH = frozenset[Kind]({"question", "yes"})
KILLED = Event("kill -9 of one", 10.0, 10.0, BOTH)
STOPPED = Event("two stopped", 9.5, 11.0, BOTH, is_quiet=True)
ORDER = 7


def attempt(begun: float, outcome: Outcome, *, client: str = "a", took: float = 0.1) -> Attempt:
    return Attempt(client, "question", begun, begun + took, outcome)


CALM = [attempt(at, "right", client=client) for client in "ab" for at in (9.0, 10.5, 11.0, 30.0)]


@pytest.mark.parametrize(
    ("more", "missed"),
    [
        ([], set()),
        ([attempt(10.1, "refused"), attempt(14.9, "broken")], set()),
        ([attempt(11.0, "wrong")], {"wrong answers"}),
        ([attempt(15.1, "refused")], {"slowest recovery"}),
        ([attempt(9.2, "broken")], {"either, without any cause"}),
        ([attempt(9.9, "right", client="c"), attempt(15.0, "right", client="c")],
         {"slowest recovery"}),
    ],
)  # fmt: skip
def test_answers(more: list[Attempt], missed: set[str]) -> None:
    journal = Journal(attempts=sorted([*CALM, *more], key=lambda each: each.begun))
    assert names_missed(judge_answers(journal, [KILLED], 0.0)) == missed


@pytest.mark.parametrize(
    ("at", "missed"),
    [(9.6, {"either, while a replica was stopped as for an upgrade"}), (10.2, set())],
)
def test_a_kill_while_another_is_stopped(at: float, missed: set[str]) -> None:
    journal = Journal(attempts=sorted([*CALM, attempt(at, "broken")], key=lambda each: each.begun))
    assert names_missed(judge_answers(journal, [KILLED, STOPPED], 0.0)) == missed


@pytest.mark.parametrize(
    ("answered", "holds"), [(1000, True), (991, True), (1009, True), (989, False), (1011, False)]
)
def test_limits(answered: int, holds: bool) -> None:
    assert judge_limits("a limit", 1000, answered).holds is holds


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Of a server whose audit has one cancelled order."""
    library = write_library(tmp_path / "library")
    found = configure(tmp_path, [adapter("shop", library)]).settings
    found = found.model_copy(update={"data_dir": tmp_path})
    sink, _ = open_sink(found) or pytest.fail("there is an audit")
    event = replace(EVENT, template_id="cancel_order", arguments={"order": ORDER})
    sink.append([to_row(replace(event, outcome=each)) for each in ("started", "success")])
    sink.close()
    return found


@pytest.mark.parametrize(
    ("spoil", "missed"),
    [
        (lambda done, shop: None, set()),
        (lambda done, shop: done.update({8: 0.1}), {"lost"}),
        (lambda done, shop: cancel(shop, ORDER), {"made twice"}),
        (
            lambda done, shop: cancel(shop, 9),
            {"made, and not in the audit", "made, and no commit was told"},
        ),
        (lambda done, shop: shop.kernel.asked.clear(), {"made, and no commit was told"}),
        (lambda done, shop: tell(shop, ORDER, "another"), {"told as more commits than were begun"}),
    ],
)
def test_writes(
    spoil: Callable[[dict[int, float], Shop], None], missed: set[str], settings: Settings
) -> None:
    shop, journal = Shop(Upstream(""), Upstream("")), Journal(done={ORDER: 0.1})
    cancel(shop, ORDER)
    tell(shop, ORDER, "one")
    spoil(journal.done, shop)
    assert names_missed(judge_writes(journal, shop, settings)) == missed


def cancel(shop: Shop, order: int) -> None:
    headers = {"idempotency-key": f"cancel-{order}"}
    shop.service.asked.append(Asked("POST", f"/orders/{order}/cancel", headers, b""))


def tell(shop: Shop, order: int, id_: str) -> None:
    body = b'{"target": "%d", "id": "%s"}' % (order, id_.encode())
    shop.kernel.asked.append(Asked("POST", "/commit", {}, body))


def names_missed(verdict: Verdict) -> set[str]:
    return {figure.name for figure in verdict.figures if not figure.holds}
