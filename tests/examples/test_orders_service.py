"""The shop of the retail example: orders have a state, and what is done to them changes it."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from examples.services.app import create_app


@pytest.fixture
def shop() -> TestClient:
    return TestClient(create_app())


def state(shop: TestClient, order: str) -> str:
    return str(shop.get(f"/orders/{order}").json()["state"])


def test_it_begins_with_the_same_orders_every_time(shop: TestClient) -> None:
    orders = shop.get("/orders").json()["orders"]
    assert orders[0] == {
        "number": "#001",
        "item": "running jacket",
        "price": 89.90,
        "state": "being shipped",
        "placed": "2025-05-30",
        "history": [],
    }
    shop.post("/orders/001/cancellation")
    assert TestClient(create_app()).get("/orders").json()["orders"] == orders


@pytest.mark.parametrize(
    "reference", ["%23001", "001", "1", "running jacket", "the Running Jacket"]
)
def test_an_order_is_found_by_number_or_by_what_was_ordered(
    shop: TestClient, reference: str
) -> None:
    assert shop.get(f"/orders/{reference}").json()["number"] == "#001"


@pytest.mark.parametrize(
    ("path", "order", "after", "done"),
    [
        ("cancellation", "%23001", "cancelled", "cancelled while being shipped"),
        ("refund", "%23002", "refunded", "refunded 64.50 EUR"),
        ("return", "%23003", "on its way back", "return label sent"),
        ("exchange", "%23005", "being exchanged", "exchanged for a black one"),
    ],
)
def test_what_is_done_changes_the_order(
    shop: TestClient, path: str, order: str, after: str, done: str
) -> None:
    answer = shop.post(f"/orders/{order}/{path}", json={"wanted": "a black one"})
    assert (answer.status_code, answer.json()["history"]) == (200, [done])
    assert state(shop, order) == after


@pytest.mark.parametrize(
    ("path", "order", "status", "why"),
    [
        ("cancellation", "2", 409, "order #002 is delivered and cannot be cancelled"),
        ("refund", "1", 409, "order #001 is being shipped: it can be cancelled, not refunded yet"),
        ("return", "4", 409, "order #004 is waiting to be packed; only what was delivered can "
         "be returned"),
        ("exchange", "headphones", 409, "headphones were ordered more than once, in #006 and "
         "#008: say which"),
        ("refund", "999", 404, "there is no order #999"),
        ("refund", "green umbrella", 404, "there is no order of green umbrella"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_a_reason(
    shop: TestClient, path: str, order: str, status: int, why: str
) -> None:
    before = shop.get("/orders").json()
    answer = shop.post(f"/orders/{order}/{path}")
    assert (answer.status_code, answer.json()) == (status, {"message": why})
    assert shop.get("/orders").json() == before


def test_nothing_is_done_twice(shop: TestClient) -> None:
    for path, order, already in [
        ("cancellation", "001", "order #001 is cancelled and cannot be cancelled"),
        ("refund", "002", "order #002 is refunded already"),
    ]:
        assert shop.post(f"/orders/{order}/{path}").status_code == 200
        assert shop.post(f"/orders/{order}/{path}").json() == {"message": already}


def test_complaints_are_written_down(shop: TestClient) -> None:
    def complain(**asked: Any) -> Any:
        return shop.post("/complaints", json=asked).json()["about"]

    assert (complain(order="#002", text="late"), complain(order="headphones"), complain()) == (
        "#002",
        "headphones",
        None,
    )
    assert shop.get("/complaints").json()["complaints"][0] == {
        "complaint": 1, "about": "#002", "text": "late"
    }  # fmt: skip


def test_a_body_that_is_no_object_is_refused(shop: TestClient) -> None:
    assert shop.post("/complaints", content=b"[1]").status_code == 400
