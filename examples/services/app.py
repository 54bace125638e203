"""All stand-ins as one application: the paths of the real services do not overlap.

Point the examples at it with one variable:

    ./bin/orbit.sh demo-services --port 8900
    DEMO_SERVICES_URL=http://127.0.0.1:8900 ./bin/orbit.sh start
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from . import (
    currencies,
    decisions,
    faults,
    nominatim,
    notifications,
    orders,
    placeholder_data,
    places,
    stocks,
    weather,
)

ADDRESSES = {
    "WEATHER_API_URL": "https://api.open-meteo.com",
    "GEOCODING_API_URL": "https://geocoding-api.open-meteo.com",
    "PLACES_API_URL": "https://nominatim.openstreetmap.org",
    "CURRENCY_API_URL": "https://api.frankfurter.dev",
    "STOCKS_API_URL": "https://stooq.com",
    "NOTIFICATIONS_API_URL": "https://ntfy.sh",
    "TASKS_API_URL": "https://jsonplaceholder.typicode.com",
    "PLACEHOLDER_API_URL": "https://jsonplaceholder.typicode.com",
}
"""The services that are stood in for, by the variable that names each in the examples."""


class _Trouble:
    """Makes every answer late, or a failure."""

    def __init__(self, app: ASGIApp, delay_s: float, fail_with: int | None) -> None:
        self._app = app
        self._delay_s = delay_s
        self._fail_with = fail_with

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answering = self._app
        if scope["type"] == "http":
            await asyncio.sleep(self._delay_s)
            if self._fail_with is not None:
                answering = JSONResponse({"message": "on request"}, status_code=self._fail_with)
        await answering(scope, receive, send)


def create_app(
    today: Callable[[], date] = lambda: datetime.now(UTC).date(),
    *,
    delay_s: float = 0.0,
    fail_with: int | None = None,
) -> Starlette:
    """Return the application; the same day always gives the same answers.

    `delay_s` makes every answer wait, and `fail_with` is a status for all of them.
    """

    def index(_request: Request) -> JSONResponse:
        return JSONResponse({"stands_in_for": ADDRESSES})

    return Starlette(
        routes=[
            Route("/", index, methods=["GET"]),
            *places.routes(),
            *nominatim.routes(),
            *weather.routes(today),
            *currencies.routes(today),
            *stocks.routes(today),
            *notifications.routes(),
            *placeholder_data.routes(),
            *decisions.routes(),
            *orders.routes(),
            *faults.routes(),
        ],
        middleware=[Middleware(_Trouble, delay_s=delay_s, fail_with=fail_with)],
    )
