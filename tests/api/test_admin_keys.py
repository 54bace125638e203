"""`/admin/keys`: keys made, listed, ended and replaced over HTTP, by admins alone."""

import logging
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.core.turn import Caller
from server.errors import KeyRevoked, StoreUnavailable
from server.settings.loader import load_settings
from server.settings.models import Settings
from tests.api.conftest import Edge
from tests.support.api import running
from tests.support.audit import audited, changes

pytestmark = pytest.mark.anyio

ROLES = "guest, user, premium, admin"

CONFIG = """
data_dir: state
access: {roles: {names: [guest, clerk, admin]}}
adapters:
  - {name: shop, config: &config {domain_config_path: domain.yaml,
     template_library_path: tools.yaml}}
  - {name: closed, enabled: false, config: *config}
"""


@dataclass(frozen=True)
class Office:
    """An admin with a key, and the edge that they ask."""

    edge: Edge
    raw: str
    key_id: str

    async def ask(self, method: str, path: str = "", body: Any = None) -> httpx.Response:
        url, headers = f"/admin/keys{path}", {"X-API-Key": self.raw}
        if body is None:
            return await self.edge.client.request(method, url, headers=headers)
        return await self.edge.client.request(method, url, headers=headers, json=body)

    async def make(self, **asked: Any) -> Any:
        made = await self.ask("POST", body={"adapter": "arithmetic"} | asked)
        assert made.status_code == 201, made.text
        return made.json()

    async def listed(self) -> dict[str, Any]:
        rows = (await self.ask("GET")).json()["keys"]
        return {row["key_id"]: row for row in rows}


@pytest.fixture
async def office(edge: Edge) -> Office:
    raw, record = await edge.keys.create(NewKey("arithmetic", user_id="ana", role="admin"))
    return Office(edge, raw, record.key_id)


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    error = response.json()["error"]
    assert set(error) - {"details"} == {"code", "message", "request_id"}
    return response.status_code, error["code"], error["message"]


CALLS = [
    ("GET", ""),
    ("POST", ""),
    ("POST", "/0123456789ab/revoke"),
    ("POST", "/0123456789ab/rotate"),
]


@pytest.mark.parametrize(("method", "path"), CALLS)
async def test_only_an_admin_gets_in(edge: Edge, method: str, path: str) -> None:
    url = f"/admin/keys{path}"
    none = await edge.client.request(method, url)
    assert refusal(none)[:2] == (401, "key_missing")
    ordinary = await edge.client.request(method, url, headers={"X-API-Key": edge.key})
    assert refusal(ordinary) == (
        403,
        "key_foreign",
        "this needs a key of role 'admin'; this one is of role 'user'",
    )
    assert len(await edge.keys.list()) == 1


async def test_what_was_asked_for_a_key_is_what_it_opens(office: Office) -> None:
    asked = {
        "user_id": "pia",
        "role": "premium",
        "limits": ["60/minute", "5 / Seconds"],
        "label": "kiosk",
        "expires": "30d",
    }
    response = await office.ask("POST", body={"adapter": "arithmetic"} | asked)
    assert (response.status_code, response.headers["cache-control"]) == (201, "no-store")
    made = response.json()
    assert re.fullmatch(rf"orb_{made['key_id']}_[A-Za-z0-9]{{43}}", made["key"])
    created = datetime.fromisoformat(made["created_at"])
    assert made == {
        "key": made["key"],
        "key_id": made["key_id"],
        "state": "active",
        "adapter": "arithmetic",
        "user_id": "pia",
        "role": "premium",
        "limits": ["60/minute", "5/second"],
        "label": "kiosk",
        "sample": False,
        "created_at": made["created_at"],
        "expires_at": (created + timedelta(days=30)).isoformat(),
        "last_used_at": None,
        "revoked_at": None,
    }
    assert await office.edge.keys.authenticate(made["key"]) == Caller(
        made["key_id"], "arithmetic", "pia", "premium", ("60/minute", "5/second")
    )


async def test_changes_to_keys_are_audited_without_any_key(office: Office, tmp_path: Path) -> None:
    made = await office.make(user_id="pia", limits=["60/minute"], label="kiosk")
    fresh = (await office.ask("POST", f"/{made['key_id']}/rotate", {"grace": "1h"})).json()
    await office.ask("POST", f"/{fresh['key_id']}/revoke")
    await office.ask("POST", "/0123456789ab/revoke")
    settings = Settings(data_dir=tmp_path, adapters=())
    assert changes(settings, "keys") == [
        ("create", "success"), ("rotate", "success"), ("revoke", "success"), ("revoke", "error"),
    ]  # fmt: skip
    events = audited(settings, kind="change", tool="keys")
    assert {(e["key_id"], e["user_id"], e["role"]) for e in events} == {
        (office.key_id, "ana", "admin")
    }
    ended = [(e["adapter"], e["arguments"]) for e in events if e["outcome"] == "success"]
    pia = {"user_id": "pia", "role": "user"}
    assert ended == [
        ("arithmetic", pia | {"limits": ["60/minute"], "label": "kiosk", "key_id": made["key_id"]}),
        ("arithmetic",
         pia | {"key_id": made["key_id"], "grace": "1h", "new_key_id": fresh["key_id"]}),
        ("arithmetic", pia | {"key_id": fresh["key_id"]}),
    ]  # fmt: skip
    for raw in (made["key"], fresh["key"], office.raw):
        assert raw.rpartition("_")[2] not in str(events)


async def test_a_key_is_not_made_while_that_cannot_be_written_down(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(event: object) -> None:
        raise StoreUnavailable("the audit at /srv/secret is away")

    trail = office.edge.state.changes.trail
    assert trail is not None
    before = len(await office.listed())
    with monkeypatch.context() as audit:
        audit.setattr(trail, "write", away)
        response = await office.ask("POST", body={"adapter": "arithmetic"})
    message = "changes are written down when they are made, and that cannot be now"
    assert refusal(response) == (503, "store_unavailable", message)
    assert len(await office.listed()) == before


async def test_a_key_asked_for_in_few_words_is_an_ordinary_one(office: Office) -> None:
    made = await office.make()
    asked = await office.edge.client.post(
        "/chat", json={"message": "What is 15% of 200?"}, headers={"X-API-Key": made["key"]}
    )
    assert asked.json()["content"] == "15% of 200 is **30**"
    assert await office.edge.keys.authenticate(made["key"]) == Caller(made["key_id"], "arithmetic")


async def test_every_key_is_listed_and_no_raw_one(office: Office) -> None:
    made = await office.make(label="kiosk")
    sample = await office.edge.keys.create_sample("arithmetic", "arithmetic")
    response = await office.ask("GET")
    assert response.status_code == 200
    rows = {row["key_id"]: row for row in response.json()["keys"]}
    assert rows[made["key_id"]] == {name: made[name] for name in made if name != "key"}
    assert (rows[sample.key_id]["sample"], len(rows)) == (True, 4)
    assert rows[office.key_id]["last_used_at"] is not None
    for raw in (made["key"], office.raw, office.edge.key):
        assert raw not in response.text
        assert raw.rpartition("_")[2] not in response.text


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"adapter": "nobody"},
            "there is no adapter 'nobody'; there are: arithmetic, broken, late",
        ),
        ({"role": "root"}, f"'root' is not among the roles {ROLES}"),
        ({"role": ""}, f"'' is not among the roles {ROLES}"),
        (
            {"limits": ["60/minute", "lots"]},
            "'lots' is not a rate limit: write a count above 0 and one of second, minute, hour, "
            "day, such as '60/minute'",
        ),
        (
            {"expires": "soon"},
            "'soon' is not a lifetime: write a number and a unit (h, d, w or y), such as '30d'",
        ),
        ({"expires": "101y"}, "a lifetime of '101y' is out of range: 1h to 100y"),
        ({"user_id": " "}, "the user is empty: leave it out for a key without a user"),
        (
            {"label": "kiosk\n0123456789ab  active"},
            "the label holds characters that cannot be shown, such as line breaks",
        ),
        (
            {"user_id": "ana\u0000"},
            "the user holds characters that cannot be shown, such as line breaks",
        ),
    ],
)
async def test_what_no_key_can_be_is_named(
    office: Office, asked: dict[str, Any], message: str
) -> None:
    refused = await office.ask("POST", body={"adapter": "arithmetic"} | asked)
    assert refusal(refused) == (400, "request_invalid", message)
    assert len(await office.listed()) == 2


@pytest.mark.parametrize(
    ("path", "asked", "message"),
    [
        ("", {}, "adapter: is missing"),
        (
            "",
            {"adapter": "arithmetic", "key": "mine"},
            "key: unknown field; known are adapter, user_id, role, limits, label, expires",
        ),
        ("", {"adapter": "arithmetic", "limits": "60/minute"}, "limits: input should be a valid "),
        ("", {"adapter": "arithmetic", "label": "x" * 256}, "label: string should have at most"),
        ("", {"adapter": "arithmetic", "limits": ["1/day"] * 11}, "limits: list should have at "),
        ("/0123456789ab/revoke", {"myself": "yes"}, "myself: input should be a valid boolean"),
        ("/0123456789ab/revoke", [], "body: expected an object with the field 'myself'"),
        ("/0123456789ab/rotate", {"grase": "1h"}, "grase: unknown field; known are grace"),
    ],
)
async def test_a_body_of_another_form_is_refused(
    office: Office, path: str, asked: Any, message: str
) -> None:
    status, code, said = refusal(await office.ask("POST", path, asked))
    assert (status, code, said[: len(message)]) == (422, "fields_invalid", message)
    assert len(await office.listed()) == 2


async def test_a_revoked_key_is_refused_at_once(office: Office) -> None:
    made = await office.make()
    await office.edge.keys.authenticate(made["key"])  # so that it is remembered
    ended = await office.ask("POST", f"/{made['key_id']}/revoke")
    assert ended.status_code == 200
    used = {"last_used_at": (await office.listed())[made["key_id"]]["last_used_at"]}
    assert ended.json() | used == (await office.listed())[made["key_id"]]
    assert ended.json()["state"] == "revoked"
    with pytest.raises(KeyRevoked):
        await office.edge.keys.authenticate(made["key"])
    again = await office.ask("POST", f"/{made['key_id']}/revoke", {})
    assert again.json() == ended.json() | used


async def test_the_key_that_asks_ends_only_when_that_is_said(office: Office) -> None:
    path = f"/{office.key_id}/revoke"
    for body in (None, {}, {"myself": False}):
        assert refusal(await office.ask("POST", path, body)) == (
            409,
            "key_is_own",
            f"{office.key_id} is the key that asks: another admin key may end it, or send "
            '{"myself": true} if it shall end itself',
        )
    assert (await office.ask("POST", path, {"myself": True})).json()["state"] == "revoked"
    assert refusal(await office.ask("GET"))[:2] == (401, "key_revoked")


async def test_rotating_ends_the_old_key_and_shows_the_new_one_once(office: Office) -> None:
    old = await office.make(user_id="pia", role="premium", label="kiosk")
    response = await office.ask("POST", f"/{old['key_id']}/rotate")
    assert (response.status_code, response.headers["cache-control"]) == (200, "no-store")
    new = response.json()
    same = ("adapter", "user_id", "role", "limits", "label", "sample", "expires_at", "state")
    assert [new[name] for name in same] == [old[name] for name in same]
    assert await office.edge.keys.authenticate(new["key"]) == Caller(
        new["key_id"], "arithmetic", "pia", "premium"
    )
    with pytest.raises(KeyRevoked):
        await office.edge.keys.authenticate(old["key"])


async def test_with_grace_the_old_key_goes_on_for_a_while(office: Office) -> None:
    old = await office.make()
    new = (await office.ask("POST", f"/{old['key_id']}/rotate", {"grace": "1h"})).json()
    ends = datetime.fromisoformat((await office.listed())[old["key_id"]]["expires_at"])
    begins = datetime.fromisoformat(new["created_at"])
    assert ends - begins == timedelta(hours=1)
    assert (await office.edge.keys.authenticate(old["key"])).key_id == old["key_id"]
    wrong = await office.ask("POST", f"/{old['key_id']}/rotate", {"grace": "a bit"})
    assert refusal(wrong)[:2] == (400, "request_invalid")
    assert (await office.listed())[old["key_id"]]["state"] == "active"


async def test_an_admin_may_rotate_the_key_that_asks(office: Office) -> None:
    new = (await office.ask("POST", f"/{office.key_id}/rotate")).json()
    assert refusal(await office.ask("GET"))[:2] == (401, "key_revoked")
    assert (await Office(office.edge, new["key"], new["key_id"]).listed())[new["key_id"]]


async def test_a_revoked_or_a_sample_key_is_not_rotated(office: Office) -> None:
    made = await office.make()
    await office.ask("POST", f"/{made['key_id']}/revoke")
    sample = await office.edge.keys.create_sample("arithmetic", "arithmetic")
    before = await office.listed()
    assert refusal(await office.ask("POST", f"/{made['key_id']}/rotate")) == (
        409,
        "key_unchangeable",
        f"key {made['key_id']} is revoked: make a new one instead",
    )
    assert refusal(await office.ask("POST", f"/{sample.key_id}/rotate")) == (
        409,
        "key_unchangeable",
        f"{sample.key_id} is a sample key, which stays as documented: revoke it",
    )
    unused = {"last_used_at": None}
    after = await office.listed()
    assert {i: row | unused for i, row in after.items()} == {
        i: row | unused for i, row in before.items()
    }


@pytest.mark.parametrize("verb", ["revoke", "rotate"])
async def test_an_id_that_no_key_has_is_not_found(office: Office, verb: str) -> None:
    assert refusal(await office.ask("POST", f"/0123456789ab/{verb}")) == (
        404,
        "key_not_found",
        "there is no key with the id '0123456789ab'",
    )
    for odd in ("%00", "nobody", "x" * 300, "%F0%9F%94%91", "0123456789AB"):
        assert refusal(await office.ask("POST", f"/{odd}/{verb}")) == (
            404,
            "key_not_found",
            "there is no key of that id: no key has an id of that form",
        )


@pytest.mark.parametrize("verb", ["revoke", "rotate"])
async def test_a_whole_key_in_an_address_is_refused_and_not_repeated(
    office: Office, verb: str
) -> None:
    made = await office.make()
    refused = await office.ask("POST", f"/{made['key']}/{verb}")
    assert refusal(refused) == (
        400,
        "request_invalid",
        f"this is a whole key: name it by its id alone, {made['key_id']}",
    )
    assert (await office.listed())[made["key_id"]]["state"] == "active"


async def test_changes_are_logged_by_id_and_no_raw_key_ever_is(
    office: Office, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        made = await office.make(role="premium")
        new = (await office.ask("POST", f"/{made['key_id']}/rotate")).json()
        await office.ask("POST", f"/{new['key_id']}/revoke")
    told = [r.getMessage() for r in caplog.records if r.name == "server.api.routes.keys"]
    who, what = f"key {office.key_id} (user 'ana')", "(adapter 'arithmetic', role 'premium')"
    assert told == [
        f"{who} made key {made['key_id']} {what}",
        f"{who} rotated {made['key_id']} into key {new['key_id']} {what}",
        f"{who} revoked key {new['key_id']} {what}",
    ]
    measured = (await office.edge.client.get("/metrics")).text
    assert 'route="/admin/keys/{key_id}/rotate"' in measured
    for raw in (made["key"], new["key"], office.raw):
        secret = raw.rpartition("_")[2]
        assert secret not in measured
        assert all(secret not in f"{r.getMessage()} {r.__dict__}" for r in caplog.records)


async def test_a_server_knows_the_adapters_and_roles_of_its_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG)
    settings = load_settings(config, {}).settings
    assert settings is not None
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    raw, _ = await keys.create(NewKey("shop", role="admin"))
    await keys.close()
    async with running(settings, {}) as api:
        transport = httpx.ASGITransport(api)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            answers = [
                await client.post("/admin/keys", headers={"X-API-Key": raw}, json=asked)
                for asked in (
                    {"adapter": "shop", "role": "clerk"},
                    {"adapter": "shop", "role": "premium"},
                    {"adapter": "closed", "role": "clerk"},
                )
            ]
    assert answers[0].status_code == 201
    assert refusal(answers[1])[2] == "'premium' is not among the roles guest, clerk, admin"
    assert refusal(answers[2])[2] == "there is no adapter 'closed'; there are: shop"


async def test_the_calls_stand_in_the_openapi_document(edge: Edge) -> None:
    document = (await edge.client.get("/openapi.json")).json()
    paths = document["paths"]
    admin = {path: set(paths[path]) for path in paths if path.startswith("/admin/keys")}
    assert admin == {
        "/admin/keys": {"get", "post"},
        "/admin/keys/{key_id}/revoke": {"post"},
        "/admin/keys/{key_id}/rotate": {"post"},
    }
    create = paths["/admin/keys"]["post"]
    schema = create["responses"]["403"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/ErrorResponse"}
    assert document["components"]["schemas"]["ErrorResponse"]["required"] == ["error"]
    asked = create["requestBody"]["content"]["application/json"]["schema"]
    assert asked["required"] == ["adapter"]
    assert create["security"] == [{"HTTPBearer": []}, {"APIKeyHeader": []}]
