"""A small shop's orders over HTTP: look them up, cancel, refund, return, exchange, complain.

Nothing is kept: each application begins with the same orders.
"""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from .orders_rows import (
    CANCELLED,
    DELIVERED,
    EXCHANGED,
    ORDERS,
    PLACED,
    REFUNDED,
    RETURNING,
    SHIPPING,
    Order,
)

_NUMBER: Final = re.compile(r"#?\s*(\d{1,6})")
_ARTICLES: Final = re.compile(r"^(?:the|my|a|an|some|those|these)\s+", re.IGNORECASE)


class _Refused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.answer = JSONResponse({"message": why}, status_code=status)


class Shop:
    """The orders of one application, by number."""

    def __init__(self) -> None:
        self.orders = {order.number: order for order in ORDERS}
        self.complaints: list[dict[str, Any]] = []

    def find(self, reference: str) -> Order:
        """The order of that number, or the one with that item."""
        number = _NUMBER.fullmatch(reference.strip())
        if number is not None:
            wanted = f"#{int(number[1]):03}"
            if wanted not in self.orders:
                raise _Refused(404, f"there is no order {wanted}")
            return self.orders[wanted]
        item = _ARTICLES.sub("", reference.strip()).casefold()
        found = [order for order in self.orders.values() if order.item == item]
        if not found:
            raise _Refused(404, f"there is no order of {item}")
        if len(found) > 1:
            numbers = " and ".join(order.number for order in found)
            raise _Refused(409, f"{item} were ordered more than once, in {numbers}: say which")
        return found[0]

    def cancel(self, order: Order, _asked: dict[str, Any]) -> Order:
        if order.state not in (PLACED, SHIPPING):
            raise _Refused(409, f"order {order.number} is {order.state} and cannot be cancelled")
        return order.turned(CANCELLED, f"cancelled while {order.state}")

    def refund(self, order: Order, _asked: dict[str, Any]) -> Order:
        if order.state in (PLACED, SHIPPING):
            why = f"order {order.number} is {order.state}: it can be cancelled, not refunded yet"
            raise _Refused(409, why)
        if order.state == REFUNDED:
            raise _Refused(409, f"order {order.number} is refunded already")
        return order.turned(REFUNDED, f"refunded {order.price:.2f} EUR")

    def give_back(self, order: Order, _asked: dict[str, Any]) -> Order:
        return _delivered(order, "returned").turned(RETURNING, "return label sent")

    def exchange(self, order: Order, asked: dict[str, Any]) -> Order:
        wanted = str(asked.get("wanted") or "the same again")
        return _delivered(order, "exchanged").turned(EXCHANGED, f"exchanged for {wanted}")

    def complain(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Write a complaint down; one about something unknown is taken as well."""
        about = str(asked.get("order") or "")
        with suppress(_Refused):
            about = self.find(about).number
        complaint = {
            "complaint": len(self.complaints) + 1,
            "about": about or None,
            "text": str(asked.get("text") or ""),
        }
        self.complaints.append(complaint)
        return complaint


def _delivered(order: Order, done: str) -> Order:
    if order.state != DELIVERED:
        why = f"order {order.number} is {order.state}; only what was delivered can be {done}"
        raise _Refused(409, why)
    return order


def routes() -> list[Route]:
    shop = Shop()

    def every(_request: Request) -> JSONResponse:
        return JSONResponse({"orders": [order.to_dict() for order in shop.orders.values()]})

    def one(request: Request) -> JSONResponse:
        try:
            return JSONResponse(shop.find(request.path_params["order"]).to_dict())
        except _Refused as refused:
            return refused.answer

    def complaints(_request: Request) -> JSONResponse:
        return JSONResponse({"complaints": shop.complaints})

    async def complain(request: Request) -> JSONResponse:
        try:
            return JSONResponse(shop.complain(await _asked(request)), status_code=201)
        except _Refused as refused:
            return refused.answer

    def changing(change: Callable[[Order, dict[str, Any]], Order], name: str) -> Route:
        async def respond(request: Request) -> JSONResponse:
            try:
                asked = await _asked(request)
                order = change(shop.find(request.path_params["order"]), asked)
            except _Refused as refused:
                return refused.answer
            shop.orders[order.number] = order
            return JSONResponse(order.to_dict())

        return Route(f"/orders/{{order}}/{name}", respond, methods=["POST"])

    return [
        Route("/orders", every, methods=["GET"]),
        Route("/orders/{order}", one, methods=["GET"]),
        Route("/complaints", complaints, methods=["GET"]),
        Route("/complaints", complain, methods=["POST"]),
        changing(shop.cancel, "cancellation"),
        changing(shop.refund, "refund"),
        changing(shop.give_back, "return"),
        changing(shop.exchange, "exchange"),
    ]


async def _asked(request: Request) -> dict[str, Any]:
    """The body, which may be empty."""
    if not await request.body():
        return {}
    try:
        asked = await request.json()
    except ValueError:
        asked = None
    if not isinstance(asked, dict):
        raise _Refused(400, "the body is not a JSON object")
    return asked
