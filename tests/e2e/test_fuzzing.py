"""Whatever is sent to `/chat`: an answer or a named error, never a fault of ours."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.cli.options import Configured, configured
from tests.support.api import running

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


class Served:
    """The shipped configuration, running in an event loop of its own for many examples."""

    def __init__(self, found: Configured) -> None:
        self._runner = asyncio.Runner()
        self._running = running(found.settings, found.environ)
        api = self._runner.run(self._running.__aenter__())
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://localhost")
        self._runner.run(self._until_ready())
        self._key = self._runner.run(self._make_key(found))

    def post(self, content: bytes) -> httpx.Response:
        headers = {"X-API-Key": self._key}
        return self._runner.run(self._client.post("/chat", content=content, headers=headers))

    def close(self) -> None:
        self._runner.run(self._client.aclose())
        self._runner.run(self._running.__aexit__(None, None, None))
        self._runner.close()

    async def _until_ready(self) -> None:
        while (await self._client.get("/ready")).json()["status"] != "ready":  # noqa: ASYNC110
            await asyncio.sleep(0.05)

    async def _make_key(self, found: Configured) -> str:
        keys = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
        raw, _ = await keys.create(NewKey("intent-agent-example"))
        await keys.close()
        return raw


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data = tmp_path_factory.mktemp("fuzzing")
    served = Served(configured(ROOT / "config" / "config.yaml", data=data))
    yield served
    served.close()


FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

QUESTIONS = st.one_of(
    st.text(max_size=200),
    st.builds(
        "{} {} {}".format,
        st.sampled_from(
            ["What is", "Sort this data by price descending:", "days between", "add", "divide"]
        ),
        st.one_of(
            st.text(max_size=80),
            st.decimals().map(str),
            st.floats().map(str),
            st.dates().map(str),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner),
                max_leaves=20,
            ).map(json.dumps),
        ),
        st.sampled_from(["", "of 0", "by 0", "and 1e999999", "% of 9" * 40, "\x00", "{{ 7*7 }}"]),
    ),
)


@FUZZ
@given(st.binary(max_size=300))
def test_any_bytes_get_a_named_error(served: Served, body: bytes) -> None:
    response = served.post(body)
    assert response.status_code in (200, 400, 422)
    assert "Traceback" not in response.text


@FUZZ
@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["message", "x"]), inner),
        max_leaves=5,
    )
)
def test_any_json_gets_an_answer_or_a_named_error(served: Served, body: Any) -> None:
    response = served.post(json.dumps(body).encode())
    assert response.status_code in (200, 400, 422)
    assert ("error" in response.json()) == (response.status_code != 200)


@FUZZ
@given(QUESTIONS)
def test_any_question_gets_an_answer(served: Served, question: str) -> None:
    response = served.post(json.dumps({"message": question}).encode())
    if response.status_code == 200:
        answer = response.json()
        assert set(answer) == {"content", "metadata", "confidence", "session_id"}
        assert answer["content"].strip()
        assert 0 <= answer["confidence"] <= 1
    else:
        assert response.status_code == 400
        assert response.json()["error"]["code"] == "request_invalid"
