"""All rows of an answer that was cut: the link to them, and what comes of following it."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from secrets import token_urlsafe
from typing import Any, Final

from server.chat.adapter import Adapter
from server.chat.row_answers import is_shortened
from server.conversation.downloads import Download, DownloadStore
from server.core.decision import Answer, Call
from server.core.tools import RowTaker, Source, ToolResultStatus, is_row_result
from server.core.turn import Caller, Turn
from server.errors import (
    DownloadFailed,
    DownloadRefused,
    DownloadUnknown,
    OrbitError,
    RateLimited,
    StoreUnavailable,
    TurnTimedOut,
)
from server.library.model import Template
from server.library.templates import template_hash
from server.tools.policy.chain import CallOutcome
from server.tools.policy.checks import Proposal

_log = logging.getLogger(__name__)

CONTENT_TYPE: Final = "text/csv; charset=utf-8"


async def offer_download(
    adapter: Adapter, turn: Turn, answer: Answer, outcome: CallOutcome | None
) -> Answer:
    """The answer with a link to all of its rows, where it shows but some of them.

    `adapter` is the one that answered. There is none where arguments may not be written anywhere,
    where the call needs a yes, and while nothing can be stored.
    """
    store, ending = adapter.downloads, answer.decision
    if store is None or outcome is None or not isinstance(ending, Call):
        return answer
    if outcome.result.status is not ToolResultStatus.SUCCESS:
        return answer
    template, result = adapter.library.templates[ending.call.template_id], outcome.result.result
    if not is_row_result(result) or not is_shortened(result) or not _may_be_kept(adapter, template):
        return answer
    expires_at = datetime.now(UTC) + timedelta(seconds=adapter.csv.expires_after_s)
    download = Download(
        download_id=token_urlsafe(32),
        key_id=turn.caller.key_id,
        adapter=turn.caller.adapter,
        user_id=turn.caller.user_id or "",
        session_id=turn.session_id,
        library=adapter.name,
        template_id=template.id,
        template_hash=template_hash(template),
        arguments=outcome.call.arguments,
        intent=turn.intent.name if turn.intent is not None else None,
        expires_at=expires_at,
    )
    try:
        await store.keep(download)
    except StoreUnavailable as failure:
        _log.warning("an answer has no link to all of its rows: %s", failure)
        return answer
    return replace(answer, metadata={**answer.metadata, "download": _described(download)})


async def run_download(
    adapter: Adapter,
    store: DownloadStore,
    caller: Caller,
    download_id: str,
    request_id: str,
    taker: RowTaker,
) -> CallOutcome:
    """Run the call behind a link once more, under the policies that hold now.

    `adapter` is the one that the caller's key opens.

    Raises:
        DownloadUnknown: the caller has no such download, or its template has changed since.
        DownloadRefused, RateLimited: the caller may not run it, or not now.
        DownloadFailed, TurnTimedOut: the database could not give the rows, or not in time.
        StoreUnavailable: it cannot be looked up.
    """
    download = await store.find(caller, download_id)
    by = adapter if download.library == adapter.name else _other(adapter, download.library)
    template = by.library.templates.get(download.template_id)
    if template is None or template_hash(template) != download.template_hash:
        raise DownloadUnknown("what this link is for has changed since; ask again")
    sources = dict.fromkeys(download.arguments, Source("given"))
    proposal = Proposal(
        call=template.call(download.arguments, sources),
        caller=caller,
        request_id=request_id,
        intent=download.intent,
    )
    taker.limit(rows=by.csv.max_rows, size=by.csv.max_bytes)
    with by.leases.hold():
        outcome = await by.chain.carry_out(proposal, timeout_s=by.csv.timeout_s, taker=taker)
    failure = _failure_of(outcome)
    if failure is not None:
        raise failure
    return outcome


def _may_be_kept(adapter: Adapter, template: Template) -> bool:
    policy = template.policy
    return (
        adapter.chain.can_export(template.id) and not policy.sensitive_params and not policy.confirm
    )


def _described(download: Download) -> Mapping[str, Any]:
    return {
        "url": f"/downloads/{download.download_id}",
        "expires_at": download.expires_at.isoformat(timespec="seconds"),
        "content_type": CONTENT_TYPE,
    }


def _other(adapter: Adapter, name: str) -> Adapter:
    if adapter.resolve_adapter is None:
        raise DownloadUnknown("what this link is for is not here any more; ask again")
    return adapter.resolve_adapter(name)


def _failure_of(outcome: CallOutcome) -> OrbitError | None:
    """The failure that a refused or failed call is to who follows a link; None for neither."""
    refusal, result = outcome.refusal, outcome.result
    said = result.error_message or ""
    if refusal is not None and refusal.retry_after_s is not None:
        return RateLimited(said, retry_after_s=refusal.retry_after_s)
    if refusal is not None:
        return DownloadRefused(said)
    if result.status is ToolResultStatus.TIMEOUT:
        return TurnTimedOut(said)
    return None if result.status is ToolResultStatus.SUCCESS else DownloadFailed(said)
