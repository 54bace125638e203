"""`/admin/usage`: turns counted by key, adapter and day, for bills and for capacity."""

import asyncio
from datetime import date
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from server.api.auth import Admin
from server.api.csv_rows import csv_text, prefers_csv
from server.api.large_json import large_json_response
from server.api.requests import State
from server.api.schemas import EXAMPLES, refusals
from server.chat.downloads import CONTENT_TYPE
from server.errors import UsageOff
from server.telemetry.usage import UsageQuery, usage_table

_CSV: Final[dict[int | str, dict[str, Any]]] = {200: {"content": {"text/csv": {}}}}

router = APIRouter(
    prefix="/admin/usage",
    tags=["admin"],
    responses=refusals(
        401,
        (403, "Not an admin key."),
        (404, "Nothing is counted: telemetry.usage.enabled is off."),
        (503, "The counts cannot be read at the moment."),
    ),
)


class WantedUsage(BaseModel):
    """Which counts are asked for."""

    model_config = ConfigDict(extra="forbid")

    begin: str | None = Field(
        None, alias="from", max_length=10, description="First day, in UTC: `2025-03-04`."
    )
    end: str | None = Field(
        None, alias="to", max_length=10, description="Last day; today, when left out."
    )
    by: str | None = Field(
        None, max_length=40, description="One row for each of these: `day,key_id,adapter`."
    )


class Usage(BaseModel):
    """Counts of turns."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["usage"]]})

    begin: date = Field(alias="from")
    end: date = Field(alias="to")
    by: list[str]
    rows: list[dict[str, object]]


@router.get(
    "",
    response_model=Usage,
    responses=_CSV | refusals((400, "A day or a way to group is none."), 422),
    summary="Turns by key, adapter and day; as CSV where that is accepted",
)
async def report_usage(
    request: Request, state: State, _: Admin, asked: Annotated[WantedUsage, Query()]
) -> Response:
    """Of a key its id is told, and never the key. Without days, the last thirty."""
    if state.usage is None:
        raise UsageOff("nothing is counted: telemetry.usage.enabled is off")
    wanted = UsageQuery.read(asked.begin, asked.end, asked.by)
    found = await state.usage.report(wanted)
    if prefers_csv(request.headers.get("accept")):
        text = await asyncio.to_thread(csv_text, usage_table(wanted, found))
        headers = {
            "Content-Disposition": 'attachment; filename="usage.csv"',
            "Cache-Control": "no-store",
            "Vary": "Accept",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(text, media_type=CONTENT_TYPE, headers=headers)

    def described() -> dict[str, Any]:
        begin, end = wanted.begin.isoformat(), wanted.end.isoformat()
        rows = [row.to_dict() for row in found]
        return {"from": begin, "to": end, "by": list(wanted.by), "rows": rows}

    response = await large_json_response(request, described, stored=False)
    response.headers["Vary"] = "Accept, Accept-Encoding"
    return response
