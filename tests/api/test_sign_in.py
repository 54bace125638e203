"""The ways into the console: sample keys, and a one-time link of this machine's."""

import logging
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from server import __version__
from server.access.keys import KeyStore
from server.access.models import NewKey
from server.access.sign_in import LinkIssuer, SignInLinks
from server.access.wrong_keys import WrongKeys
from server.api.requests import ApiState
from server.errors import StoreUnavailable
from server.settings.models import Settings
from server.storage.files import load_or_create_secret
from tests.api.conftest import Edge
from tests.support.api import api_over, client_from, running
from tests.support.audit import audited, changes

pytestmark = pytest.mark.anyio

INVALID = (
    "this link is wrong, was used before, or is older than ten minutes: 'orbit console' "
    "prints a new one"
)
ELSEWHERE = "a link signs in on the server's own machine alone, and on its own page"


def opened(edge: Edge, tmp_path: Path, *limits: str) -> tuple[ApiState, LinkIssuer]:
    secret, _ = load_or_create_secret(tmp_path / "secret")
    issuer = LinkIssuer(secret)
    links = SignInLinks(issuer, edge.state.instance)
    return replace(edge.state, sign_in=links, wrong_keys=WrongKeys(limits)), issuer


def refusal(response: httpx.Response) -> tuple[int, str, str]:
    error = response.json()["error"]
    return response.status_code, error["code"], error["message"]


async def test_a_link_becomes_an_admin_key_for_twelve_hours(edge: Edge, tmp_path: Path) -> None:
    state, issuer = opened(edge, tmp_path)
    token = issuer.issue(state.instance)
    async with client_from(api_over(state), "127.0.0.1") as client:
        response = await client.post("/admin/sign-in", json={"link": token})
        again = await client.post("/admin/sign-in", json={"link": token})
        made = response.json()
        own = (await client.get("/key", headers={"X-API-Key": made["key"]})).json()
    assert (response.status_code, response.headers["cache-control"]) == (201, "no-store")
    lasts = datetime.fromisoformat(made["expires_at"]) - datetime.fromisoformat(made["created_at"])
    assert (made["adapter"], made["role"], made["label"], lasts) == (
        "arithmetic", "admin", "console", timedelta(hours=12),
    )  # fmt: skip
    assert (own["key_id"], own["admin"]) == (made["key_id"], True)
    assert refusal(again) == (401, "link_invalid", INVALID)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"sec-fetch-site": "same-origin", "origin": "null"}, 201),
        ({"origin": "http://localhost"}, 201),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"host": "rebound.example"}, 403),
        ({"x-forwarded-for": "192.0.2.7"}, 403),
        ({"forwarded": "for=192.0.2.7"}, 403),
    ],
)
async def test_a_link_is_for_this_machine_and_its_own_page(
    edge: Edge, tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    state, issuer = opened(edge, tmp_path, "1/hour")
    asked = {"link": issuer.issue(state.instance)}
    async with client_from(api_over(state), "127.0.0.1") as client:
        response = await client.post("/admin/sign-in", json=asked, headers=headers)
        wrong = [
            await client.post("/admin/sign-in", json={"link": "x"}, headers=headers)
            for _ in range(2 if status == 403 else 0)
        ]
    assert response.status_code == status
    if status == 403:  # and what other pages make a browser send keeps nobody from their own
        assert refusal(response) == (403, "key_foreign", ELSEWHERE)
        assert {refusal(each) for each in wrong} == {(403, "key_foreign", ELSEWHERE)}


async def test_no_link_signs_in_from_another_machine(edge: Edge, tmp_path: Path) -> None:
    state, issuer = opened(edge, tmp_path)
    asked = {"link": issuer.issue(state.instance)}
    async with client_from(api_over(state), "192.0.2.7") as client:
        response = await client.post("/admin/sign-in", json=asked)
    assert refusal(response) == (403, "key_foreign", ELSEWHERE)
    assert len(await edge.keys.list()) == 1


async def test_wrong_links_are_counted_as_wrong_keys_are(edge: Edge, tmp_path: Path) -> None:
    state, issuer = opened(edge, tmp_path, "2/hour")
    async with client_from(api_over(state), "127.0.0.1") as client:
        tried = [
            (await client.post("/admin/sign-in", json={"link": "guess"})).status_code
            for _ in range(3)
        ]
        good = await client.post("/admin/sign-in", json={"link": issuer.issue(state.instance)})
        newer, _ = await edge.keys.create(NewKey("arithmetic"))
        keyed = await client.get("/key", headers={"X-API-Key": newer})
    assert tried == [401, 401, 429]
    assert (good.status_code, keyed.status_code) == (429, 429)
    counted = state.metrics.text().decode()
    assert 'orbit_wrong_keys_total{outcome="unknown"} 2.0' in counted
    assert 'orbit_wrong_keys_total{outcome="throttled"} 3.0' in counted


async def test_it_is_audited_and_the_link_is_written_nowhere(
    edge: Edge, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    state, issuer = opened(edge, tmp_path)
    token = issuer.issue(state.instance)
    with caplog.at_level(logging.DEBUG):
        async with client_from(api_over(state), "127.0.0.1") as client:
            made = (await client.post("/admin/sign-in", json={"link": token})).json()
            await client.post("/admin/sign-in", json={"link": token})
    settings = Settings(data_dir=tmp_path, adapters=())
    assert changes(settings, "keys") == [("sign_in", "success")]
    (event,) = audited(settings, tool="keys", outcome="success")
    assert (event["role"], event["adapter"], event["arguments"]["key_id"]) == (
        "console link", "arithmetic", made["key_id"],
    )  # fmt: skip
    secret = made["key"].rpartition("_")[2]
    written = f"{event}{[(r.getMessage(), r.__dict__) for r in caplog.records]}"
    assert token not in written
    assert secret not in written
    assert made["key_id"] in written


async def test_keys_of_links_that_are_long_over_are_deleted_at_the_next(
    edge: Edge, tmp_path: Path
) -> None:
    ago = [timedelta(hours=-25), timedelta(hours=-23), timedelta(hours=1)]
    old, recent, active = [
        (await edge.keys.create(NewKey("arithmetic", label="console", expires_in=each)))[1].key_id
        for each in ago
    ]
    _, other = await edge.keys.create(NewKey("arithmetic", label="ci", expires_in=ago[0]))
    state, issuer = opened(edge, tmp_path)
    before = {key.key_id for key in await edge.keys.list()}
    async with client_from(api_over(state), "127.0.0.1") as client:
        made = [
            (
                await client.post("/admin/sign-in", json={"link": issuer.issue(state.instance)})
            ).json()
            for _ in range(2)
        ]
    left = {key.key_id for key in await edge.keys.list()}
    assert left == before - {old} | {each["key_id"] for each in made}
    assert {recent, active, other.key_id} < left
    settings = Settings(data_dir=tmp_path, adapters=())
    (event,) = audited(settings, tool="keys", operation="delete", outcome="success")
    assert event["arguments"] == {"key_ids": [old]}


async def test_where_no_key_can_be_made_the_link_stays_good(
    edge: Edge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("the database at /srv/secret is away")

    state, issuer = opened(edge, tmp_path)
    asked = {"link": issuer.issue(state.instance)}
    async with client_from(api_over(state), "127.0.0.1") as client:
        with monkeypatch.context() as database:
            database.setattr(edge.keys, "create", away)
            failed = await client.post("/admin/sign-in", json=asked)
        later = await client.post("/admin/sign-in", json=asked)
    assert (failed.status_code, later.status_code) == (503, 201)


async def test_sample_keys_are_told_to_this_machine_alone(edge: Edge) -> None:
    await edge.keys.create_sample("arithmetic", "arithmetic")
    ended = await edge.keys.create_sample("late", "late")
    await edge.keys.revoke(ended.key_id)
    here = await edge.client.get("/console/start")
    there = await edge.remote.get("/console/start")
    proxied = await edge.client.get("/console/start", headers={"x-real-ip": "192.0.2.7"})
    sample = {"adapter": "arithmetic", "key": "arithmetic"}
    start = {"version": __version__, "sample_keys": [sample], "languages": ["en", "he"]}
    assert here.json() == start
    assert there.json() == proxied.json() == start | {"sample_keys": []}
    assert here.headers["cache-control"] == "no-store"
    async with client_from(api_over(replace(edge.state, sample_keys=False)), "127.0.0.1") as off:
        assert (await off.get("/console/start")).json()["sample_keys"] == []


async def test_a_sample_key_that_opens_another_adapter_is_not_told(edge: Edge) -> None:
    await edge.keys.create_sample("late", "arithmetic")
    assert (await edge.client.get("/console/start")).json()["sample_keys"] == []


@pytest.mark.parametrize(
    ("config", "status", "code"),
    [
        ({}, 201, None),
        ({"console": {"enabled": False}}, 404, "not_found"),
        ({"access": {"roles": {"names": ["guest", "root"]}}}, 401, "link_invalid"),
    ],
)
async def test_a_server_takes_the_links_of_its_own_installation(
    tmp_path: Path, config: dict[str, object], status: int, code: str | None
) -> None:
    adapter = {"name": "shop", "config": {"domain_config_path": tmp_path / "domain.yaml",
               "template_library_path": (tmp_path / "tools.yaml",)}}  # fmt: skip
    settings = Settings.model_validate(
        {"data_dir": tmp_path / "state", "adapters": [adapter], **config}
    )
    async with running(settings, {}) as api, client_from(api, "127.0.0.1") as client:
        instance = (await client.get("/health")).json()["instance"]
        secret, _ = load_or_create_secret(settings.secret_path)
        asked = {"link": LinkIssuer(secret).issue(instance)}
        response = await client.post("/admin/sign-in", json=asked)
        start = await client.get("/console/start")
    assert response.status_code == status
    assert code is None or response.json()["error"]["code"] == code
    assert start.status_code == (404 if code == "not_found" else 200)
    keys = await KeyStore.open(settings.database_url, settings.secret_path)
    made = await keys.list()
    await keys.close()
    assert [(key.adapter, key.state(datetime.now(UTC))) for key in made] == (
        [("shop", "active")] if status == 201 else []
    )
