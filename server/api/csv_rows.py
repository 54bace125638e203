"""Rows as CSV (RFC 4180), sent as the database gives them."""

import asyncio
import csv
import io
import re
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from server.adapters.manager import cancel_tasks
from server.api.error_responses import error_response
from server.chat.downloads import CONTENT_TYPE
from server.core.json import to_json
from server.core.suggestions import format_value
from server.errors import OrbitError

_FORMULA: Final = frozenset("=+-@\t\r")
"""With these a spreadsheet takes a text for a formula, and runs it."""
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)


def csv_text(rows: Sequence[Sequence[Any]]) -> str:
    """Rows as lines of CSV, in which no text is a formula to a spreadsheet."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\r\n").writerows([list(map(_cell, row)) for row in rows])
    return written.getvalue()


def prefers_csv(accept: str | None) -> bool:
    """Whether an Accept header asks for CSV, and rather than for JSON."""
    wanted = {"text/csv": 0.0, "application/json": 0.0}
    for part in (accept or "").split(",")[:20]:
        kind, *options = (each.strip().lower() for each in part.split(";"))
        weights = [each[2:] for each in options if each.startswith("q=")]
        try:
            quality = float(weights[0]) if weights else 1.0
        except ValueError:
            continue
        if kind in wanted:
            wanted[kind] = max(wanted[kind], quality)
    return wanted["text/csv"] > wanted["application/json"]


class CsvResponse(Response):
    """What `work` comes to: rows as CSV where it hands any over, else the response it returns.

    A client that reads slowly is waited for, so that rows do not gather here. What cannot be sent
    whole, since there is more than its limits allow or the database failed on the way, ends without
    the end of its body: no client takes it for whole.
    """

    def __init__(
        self,
        work: Callable[["CsvResponse"], Awaitable[Response | None]],
        request_id: str,
        *,
        name: str = "rows",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._work = work
        self._max_rows = self._max_bytes = sys.maxsize
        self._request_id = request_id
        self._name = name
        self._more_headers = headers or {}
        self._send: Send | None = None
        self.begun = False
        self.cut = False
        self._rows = self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._send = send
        disconnect = asyncio.ensure_future(_disconnected(receive))
        work = asyncio.ensure_future(self._work(self))
        try:
            await asyncio.wait({work, disconnect}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                return  # the client left
            response = await self._ended(work)
        finally:
            await cancel_tasks([disconnect, work])
        if response is not None:
            await response(scope, receive, send)
        elif not self.cut:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def limit(self, *, rows: int, size: int) -> None:
        self._max_rows, self._max_bytes = rows, size

    async def begin(self, columns: Sequence[str]) -> None:
        head = {
            "content-type": CONTENT_TYPE,
            "content-disposition": f'attachment; filename="{_file_name(self._name)}.csv"',
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
            **self._more_headers,
        }
        headers = [(name.encode(), value.encode()) for name, value in head.items()]
        assert self._send is not None  # noqa: S101  rows come while it is being sent
        self.begun = True
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._write(csv_text([columns]))

    async def take(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        room = self._max_rows - self._rows
        text = csv_text([list(row.values()) for row in rows[:room]])
        if len(rows) > room or self._bytes + len(text.encode()) > self._max_bytes:
            self.cut = True
            return False
        self._rows += len(rows)
        await self._write(text)
        return True

    async def _write(self, text: str) -> None:
        assert self._send is not None  # noqa: S101  as above
        body = text.encode("utf-8", "replace")
        self._bytes += len(body)
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    async def _ended(self, work: "asyncio.Future[Response | None]") -> Response | None:
        """The response to send in place of rows; None where rows were sent."""
        failure = work.exception()
        if failure is None and not self.begun:
            return work.result()
        if failure is None:
            return None
        if self.begun:
            self.cut = True
            return None
        if isinstance(failure, OrbitError):
            return error_response(failure, self._request_id)
        raise failure


async def _disconnected(receive: Receive) -> None:
    """Return once the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, int | float | Decimal):
        return format_value(value)
    if isinstance(value, Mapping | list | tuple):
        value = to_json(value)
    text = str(value)
    if text[:1] in _FORMULA and text and _NUMBER.fullmatch(text) is None:
        return f"'{text}"
    return text


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:80] or "rows"
