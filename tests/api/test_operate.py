"""What an admin looks after: the audit, proposals that wait, the log, and metrics."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.models import NewKey
from server.adapters.registry import Adapters
from server.api.log_level import LOG_LEVELS
from server.api.requests import ApiState
from server.conversation.confirmations.pending_calls import PendingCall
from server.conversation.store import ConversationKey
from server.core.decision import Match
from server.core.turn import Caller
from server.errors import StoreUnavailable
from server.library.model import Domain, Library, Parameter
from server.settings.models import Settings
from tests.api.conftest import Edge
from tests.support.api import api_over, client_from
from tests.support.audit import audited, changes
from tests.support.deciding import table_adapter
from tests.tools.policy.chains import template

pytestmark = pytest.mark.anyio

CALLS = [
    ("GET", "/admin/audit"),
    ("POST", "/admin/audit/verify"),
    ("GET", "/admin/proposals"),
    ("GET", "/admin/log-level"),
    ("PUT", "/admin/log-level"),
]
WHISPER = template(
    "whisper",
    (Parameter("secret", "string"), Parameter("text", "string", required=False)),
    operation="echo",
    effect="write",
    confirm=True,
    sensitive_params=("secret",),
)


@pytest.fixture
async def admin(edge: Edge) -> dict[str, str]:
    raw, _ = await edge.keys.create(NewKey("arithmetic", user_id="ana", role="admin"))
    return {"X-API-Key": raw}


@pytest.fixture
def root_level() -> Iterator[None]:
    names = (None, "httpx", "httpcore", "alembic", "chromadb", "uvicorn.access")
    before = {name: logging.getLogger(name).level for name in names}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def refusal(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize(("method", "path"), CALLS)
async def test_only_an_admin_gets_in(edge: Edge, method: str, path: str) -> None:
    assert refusal(await edge.client.request(method, path)) == (401, "key_missing")
    headers = {"X-API-Key": edge.key}
    assert refusal(await edge.client.request(method, path, headers=headers)) == (403, "key_foreign")


async def make_entries(edge: Edge, admin: dict[str, str]) -> None:
    made = await edge.client.post("/admin/keys", json={"adapter": "arithmetic"}, headers=admin)
    await edge.client.post(f"/admin/keys/{made.json()['key_id']}/revoke", headers=admin)


async def test_the_audit_is_paged_from_its_newest_entry(edge: Edge, admin: dict[str, str]) -> None:
    await make_entries(edge, admin)
    pages, asked = list[list[tuple[int, str, str]]](), {"limit": "3"}
    while asked:
        page = (await edge.client.get("/admin/audit", params=asked, headers=admin)).json()
        pages.append([(e["number"], e["operation"], e["outcome"]) for e in page["entries"]])
        before = page["next_before"]
        asked = {"limit": "3", "before": str(before)} if before else {}
    assert pages == [
        [(4, "revoke", "success"), (3, "revoke", "started"), (2, "create", "success")],
        [(1, "create", "started")],
    ]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"outcome": "success"}, [4, 2]),
        ({"kind": "change", "user_id": "ana", "outcome": "started"}, [3, 1]),
        ({"kind": "call"}, []),
        ({"adapter": "arithmetic"}, [4, 2, 1]),
        ({"since": "2020-01-01T00:00Z", "outcome": "success", "limit": "1"}, [4]),
        ({"until": "2020-01-01T00:00Z"}, []),
    ],
)
async def test_entries_are_found_by_what_they_are(
    edge: Edge, admin: dict[str, str], asked: dict[str, str], found: list[int]
) -> None:
    await make_entries(edge, admin)
    page = (await edge.client.get("/admin/audit", params=asked, headers=admin)).json()
    assert [entry["number"] for entry in page["entries"]] == found


@pytest.mark.parametrize(
    ("asked", "refused"),
    [
        ({"since": "soon"}, (400, "request_invalid")),
        ({"limit": "0"}, (422, "fields_invalid")),
        ({"limit": "1001"}, (422, "fields_invalid")),
        ({"before": "x"}, (422, "fields_invalid")),
        ({"kind": "question"}, (422, "fields_invalid")),
        ({"user": "ana"}, (422, "fields_invalid")),
    ],
)
async def test_what_cannot_be_looked_for_is_refused(
    edge: Edge, admin: dict[str, str], asked: dict[str, str], refused: tuple[int, str]
) -> None:
    response = await edge.client.get("/admin/audit", params=asked, headers=admin)
    assert refusal(response) == refused


async def test_the_chain_is_checked(edge: Edge, admin: dict[str, str]) -> None:
    await make_entries(edge, admin)
    checked = await edge.client.post("/admin/audit/verify", headers=admin)
    assert checked.json() == {"entries": 4, "whole": True, "problems": []}


async def test_an_audit_that_is_off_is_not_there(edge: Edge, admin: dict[str, str]) -> None:
    async with client_from(api_over(replace(edge.state, audit=None)), "127.0.0.1") as client:
        for method, path in CALLS[:2]:
            response = await client.request(method, path, headers=admin)
            assert refusal(response) == (404, "audit_off")


async def test_where_the_audit_lies_is_told_to_nobody(
    edge: Edge, admin: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("the database at /srv/secret is away")

    monkeypatch.setattr(edge.state.audit, "search", away)
    response = await edge.client.get("/admin/audit", headers=admin)
    assert refusal(response) == (503, "store_unavailable")
    assert "/srv" not in response.text


def whispered(proposal_id: str, template_id: str = "whisper", library: str = "desk") -> PendingCall:
    now = datetime.now(UTC)
    return PendingCall(
        proposal_id,
        ConversationKey("0123456789ab", library, "pia", f"s-{proposal_id}"),
        library,
        template_id,
        "hash",
        {"secret": "swordfish", "text": "the swordfish is fresh"},
        {},
        Match(template_id, 0.9, 0.8, ""),
        "whisper",
        None,
        None,
        "template",
        "system",
        "",
        now,
        now,
    )


@pytest.fixture
async def desk(edge: Edge) -> ApiState:
    adapters = Adapters(("desk", "away"))
    library = Library(Domain("desk"), {WHISPER.id: WHISPER})
    adapters.opened(table_adapter("desk", library))
    return replace(edge.state, adapters=adapters)


async def listed(state: ApiState, admin: dict[str, str]) -> list[dict[str, Any]]:
    async with client_from(api_over(state), "127.0.0.1") as client:
        response = await client.get("/admin/proposals", headers=admin)
    assert response.status_code == 200, response.text
    assert "swordfish" not in response.text
    return list(response.json()["proposals"])


async def test_what_waits_for_a_yes_is_listed_without_secrets(
    edge: Edge, desk: ApiState, admin: dict[str, str]
) -> None:
    assert desk.proposals is not None
    held = await desk.proposals.hold(whispered("p1"))
    assert await listed(desk, admin) == [
        {
            "proposal_id": "p1",
            "adapter": "desk",
            "template_id": "whisper",
            "tool": WHISPER.execution.tool,
            "operation": "echo",
            "effect": "write",
            "arguments": {"secret": "[REDACTED]", "text": "the [REDACTED] is fresh"},
            "key_id": "0123456789ab",
            "user_id": "pia",
            "created_at": held.created_at.isoformat(timespec="seconds"),
            "expires_at": held.expires_at.isoformat(timespec="seconds"),
        }
    ]


@pytest.mark.parametrize(("template_id", "library"), [("gone", "desk"), ("whisper", "away")])
async def test_of_a_template_that_does_not_serve_no_argument_is_shown(
    desk: ApiState, admin: dict[str, str], template_id: str, library: str
) -> None:
    assert desk.proposals is not None
    await desk.proposals.hold(whispered("p1", template_id, library))
    (row,) = await listed(desk, admin)
    assert (row["template_id"], row["adapter"]) == (template_id, library)
    assert [row[name] for name in ("tool", "operation", "effect", "arguments")] == [None] * 4


async def test_only_what_waits_is_listed_newest_first(
    desk: ApiState, admin: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    proposals = desk.proposals
    assert proposals is not None
    held = [await proposals.hold(whispered(name)) for name in ("p1", "p2", "p3")]
    asked = Caller("0123456789ab", "desk", "pia")
    await proposals.decline(asked, held[1].place.session_id, "p2")
    assert [row["proposal_id"] for row in await listed(desk, admin)] == ["p3", "p1"]
    monkeypatch.setattr(proposals, "_now", lambda: held[2].expires_at)
    assert await listed(desk, admin) == []


@pytest.mark.usefixtures("root_level")
async def test_the_log_says_more_until_the_server_ends(
    edge: Edge, admin: dict[str, str], tmp_path: Path
) -> None:
    logging.getLogger().setLevel(logging.WARNING)
    before = await edge.client.get("/admin/log-level", headers=admin)
    changed = await edge.client.put("/admin/log-level", json={"level": "debug"}, headers=admin)
    levels = {"levels": list(LOG_LEVELS)}
    assert (before.json(), changed.json()) == (
        {"level": "warning"} | levels,
        {"level": "debug", "announced": True} | levels,
    )
    assert logging.getLogger().level == logging.DEBUG
    assert logging.getLogger("httpx").level == logging.WARNING
    settings = Settings(data_dir=tmp_path, adapters=())
    assert changes(settings, "log") == [("level", "success")]
    (event,) = audited(settings, tool="log", outcome="success")
    assert event["arguments"] == {"level": "debug", "before": "warning"}


@pytest.mark.usefixtures("root_level")
async def test_a_level_that_there_is_not_is_refused(edge: Edge, admin: dict[str, str]) -> None:
    before = logging.getLogger().level
    response = await edge.client.put("/admin/log-level", json={"level": "all"}, headers=admin)
    assert refusal(response) == (422, "fields_invalid")
    assert "'debug', 'info', 'warning' or 'error'" in response.json()["error"]["message"]
    assert logging.getLogger().level == before


@pytest.mark.parametrize("token", [None, "s3cret"])
async def test_an_admin_key_reads_metrics_from_anywhere(
    edge: Edge, admin: dict[str, str], token: str | None
) -> None:
    state = replace(edge.state, metrics_token=token)
    asked = {"key": admin, "other": {"X-API-Key": edge.key}, "wrong": {"X-API-Key": "orb_x"}}
    async with client_from(api_over(state), "192.0.2.7") as client:
        answers = {
            name: (await client.get("/metrics", headers=headers)).status_code
            for name, headers in asked.items()
        }
    assert answers == {"key": 200, "other": 403, "wrong": 401}
