"""`/admin/audit`: what was called, refused and changed, and whether the record of it is whole."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from server.api.auth import Admin
from server.api.error_responses import json_response
from server.api.large_json import large_json_response
from server.api.requests import ApiState, State
from server.api.schemas import EXAMPLES, refusals
from server.audit.reader import AuditReader, WantedEntries, utc_time
from server.errors import AuditOff

router = APIRouter(
    prefix="/admin/audit",
    tags=["admin"],
    responses=refusals(
        401,
        (403, "Not an admin key."),
        (404, "Nothing is kept: access.audit.sink is off."),
        (503, "The audit cannot be read at the moment."),
    ),
)

_Text = Annotated[str | None, Field(max_length=255)]


class AuditQuery(BaseModel):
    """Which entries are looked for; all of those that fit everything that is given."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(100, ge=1, le=1000, description="Entries to return at most.")
    before: int | None = Field(
        None, ge=1, description="Only older ones than this entry: `next_before` of the last page."
    )
    adapter: _Text = Field(None, description="Through that adapter.")
    user_id: _Text = Field(None, description="For that user.")
    key_id: _Text = Field(None, description="With that key.")
    template_id: _Text = Field(None, description="Calls of that template.")
    outcome: _Text = Field(None, description="That ended so.")
    kind: Literal["call", "change"] | None = Field(None, description="Only calls, or changes.")
    request_id: _Text = Field(None, description="Of that request.")
    since: _Text = Field(None, description="From that time on, as `2025-03-04T10:00Z`.")
    until: _Text = Field(None, description="Before that time.")

    def wanted(self) -> WantedEntries:
        """May raise RequestInvalid."""
        given = self.model_dump(exclude={"limit", "before"}, exclude_none=True)
        begin, end = (given.pop(name, None) for name in ("since", "until"))
        return WantedEntries(given, *(utc_time(each) if each else "" for each in (begin, end)))


class AuditEntries(BaseModel):
    """A page of the audit, newest entries first."""

    entries: list[dict[str, object]]
    next_before: int | None = Field(
        description="`before` of the next page, which may have more; null at the beginning."
    )


class AuditState(BaseModel):
    """Whether every entry is as it was written."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLES["audit_state"]]})

    entries: int = Field(description="How many there are.")
    whole: bool
    problems: list[str] = Field(description="What was altered, removed or put in, by number.")


@router.get(
    "",
    response_model=AuditEntries,
    responses=refusals((400, "A time is none."), 422),
    summary="Entries of the audit, newest first",
)
async def search_audit(
    request: Request, state: State, _: Admin, asked: Annotated[AuditQuery, Query()]
) -> Response:
    """Looks at 20,000 entries at most: a page may be short though `next_before` says more."""
    wanted = asked.wanted()
    found = await _audit_of(state).search(wanted, limit=asked.limit, before=asked.before)

    def described() -> dict[str, Any]:
        entries = [entry.to_dict() for entry in found.entries]
        return {"entries": entries, "next_before": found.next_before}

    return await large_json_response(request, described, stored=False)


@router.post(
    "/verify",
    response_model=AuditState,
    summary="Check that no entry was altered, removed or put in",
)
async def verify_audit(state: State, _: Admin) -> Response:
    """Takes as long as the audit is long; requests meanwhile are answered."""
    verdict = await _audit_of(state).verify()
    problems = list(verdict.problems)
    return json_response({"entries": verdict.entries, "whole": verdict.whole, "problems": problems})


def _audit_of(state: ApiState) -> AuditReader:
    if state.audit is None:
        raise AuditOff("nothing is kept: access.audit.sink is off")
    return state.audit
