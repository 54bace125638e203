"""Who may look at files and change them: `console.authoring`."""

from dataclasses import replace

import pytest

from server.access.models import NewKey
from server.api.auth import Author
from server.settings.models import Authoring
from tests.api.conftest import Edge
from tests.support.api import api_over, client_from

pytestmark = pytest.mark.anyio

HERE, ELSEWHERE = "127.0.0.1", "192.0.2.7"
OF_ONE_MACHINE = (
    "files are shown and changed for a server and a client of one machine, since "
    "console.authoring is 'loopback': its operator can set it to 'always'"
)
NOBODY = (
    "files are shown and changed for nobody, since console.authoring is 'never': its operator "
    "can set it to 'always'"
)


@pytest.mark.parametrize(
    ("authoring", "listens_locally", "client", "headers", "refused"),
    [
        ("loopback", True, HERE, {}, None),
        ("loopback", True, HERE, {"x-forwarded-for": "192.0.2.7"}, OF_ONE_MACHINE),
        ("loopback", True, HERE, {"via": "1.1 gate"}, OF_ONE_MACHINE),
        ("loopback", True, HERE, {"host": "rebound.example"}, OF_ONE_MACHINE),
        ("loopback", True, ELSEWHERE, {}, OF_ONE_MACHINE),
        ("loopback", False, HERE, {}, OF_ONE_MACHINE),
        ("never", True, HERE, {}, NOBODY),
        ("always", False, ELSEWHERE, {"x-forwarded-for": "192.0.2.8"}, None),
    ],
)
async def test_files_are_edited_from_where_the_setting_allows_it(
    edge: Edge,
    authoring: Authoring,
    listens_locally: bool,
    client: str,
    headers: dict[str, str],
    refused: str | None,
) -> None:
    api = api_over(replace(edge.state, authoring=authoring, listens_locally=listens_locally))

    @api.get("/files")
    async def files(author: Author) -> str:
        return author.key_id

    raw, record = await edge.keys.create(NewKey("arithmetic", role="admin"))
    async with client_from(api, client) as asking:
        response = await asking.get("/files", headers={"X-API-Key": raw} | headers)
        ordinary = await asking.get("/files", headers={"X-API-Key": edge.key} | headers)
    assert (ordinary.status_code, ordinary.json()["error"]["code"]) == (403, "key_foreign")
    if refused is None:
        assert (response.status_code, response.json()) == (200, record.key_id)
    else:
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (403, "authoring_off")
        assert error["message"] == refused
