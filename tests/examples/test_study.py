"""The study assistant over HTTP, with keys of different roles."""

import json
import sqlite3
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import yaml

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.settings.loader import load_settings
from server.settings.models import Settings
from tests.support.api import running
from tests.support.audit import audited

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
TABLE = yaml.safe_load((ROOT / "tests" / "attacks" / "table.yaml").read_text(encoding="utf-8"))


@dataclass
class Study:
    client: httpx.AsyncClient
    keys: dict[str, str]
    settings: Settings
    database: Path

    async def ask(self, message: str, key: str = "user", **headers: str) -> httpx.Response:
        return await self.client.post(
            "/chat",
            json={"message": message},
            headers={"Authorization": f"Bearer {self.keys[key]}", **headers},
        )

    async def confirm(self, held: dict[str, Any], key: str) -> httpx.Response:
        proposal_id = held["metadata"]["proposal"]["proposal_id"]
        body = {"session_id": held["session_id"], "proposal_id": proposal_id, "accept": True}
        headers = {"Authorization": f"Bearer {self.keys[key]}"}
        return await self.client.post("/chat/confirm", json=body, headers=headers)

    async def said(self, message: str, key: str = "user") -> tuple[str, str]:
        """Content, and outcome: of the policy where it refused, else of the tool."""
        metadata = (answer := (await self.ask(message, key)).json())["metadata"]
        status = metadata.get("tool_execution", {}).get("status", "none")
        return answer["content"], metadata.get("policy", {}).get("outcome", status)

    def audit(self) -> list[dict[str, Any]]:
        return audited(self.settings, kind="call")


@pytest.fixture
async def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Study]:
    database = tmp_path / "study.db"
    monkeypatch.setenv("STUDY_DATABASE", str(database))
    loaded = load_settings(ROOT / "config" / "config.yaml", {})
    assert loaded.settings is not None
    (adapter,) = [a for a in loaded.settings.adapters if a.name == "study"]
    enabled = adapter.model_copy(update={"enabled": True})
    settings = loaded.settings.model_copy(
        update={"data_dir": tmp_path / "data", "adapters": (enabled,)}
    )
    async with running(settings, {}) as api:
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for _ in range(600):
                if (await client.get("/ready")).status_code == 200:
                    break
                await anyio.sleep(0.1)
            store = await KeyStore.open(settings.database_url, settings.secret_path)
            wanted = {
                "guest": NewKey("study", role="guest"),
                "user": NewKey("study", user_id="ana", role="user"),
                "other": NewKey("study", user_id="bob", role="user"),
                "premium": NewKey("study", user_id="pia", role="premium"),
                "slow": NewKey("study", user_id="sam", limits=("2/minute",)),
            }
            keys = {name: (await store.create(new))[0] for name, new in wanted.items()}
            await store.close()
            yield Study(client, keys, settings, database)


async def test_it_refuses_limits_validates_runs_audits_and_redacts(study: Study) -> None:
    made = "Can you make me some flashcards about N4 grammar?"
    assert await study.said(made) == (
        "Made 5 flashcards: **N4 grammar** (number 1).", "success"
    )  # fmt: skip
    assert (await study.said(made, "guest"))[1] == "auth_required"
    assert await study.said("Change my goals and put first: keigo, verbs") == (
        "I didn't do that: the role 'user' may not do that.", "role_forbids"
    )  # fmt: skip
    secret = "Change my goals and put first: zebrafish, quokkas"
    held = await study.ask(secret, "premium")
    assert held.json()["metadata"]["proposal"]["arguments"] == {"prioritized_topics": "[REDACTED]"}
    answer = await study.confirm(held.json(), "premium")
    assert answer.json()["content"] == "Your priorities have 2 topics now."
    # Only who has to confirm sees what would run.
    assert "zebrafish" in held.json()["content"]
    assert "zebrafish" not in str(held.json()["metadata"]) + answer.text
    assert (await study.said("Make me 21 flashcards about grammar"))[1] in (
        "arguments_invalid", "none"
    )  # fmt: skip
    assert await study.said("Show me my history") == (
        "The last 1:\n- flashcards: N4 grammar", "success"
    )  # fmt: skip
    assert (await study.said("Show me my history", "other"))[0] == "Nothing has been studied yet."
    assert (await study.said("Hello there"))[1] == "none"
    entries = study.audit()
    told = [(e["template_id"], e["user_id"], e["intent"], e["outcome"]) for e in entries]
    assert told[:6] == [
        ("create_study_flashcards", "ana", "CREATE_FLASHCARDS", "started"),
        ("create_study_flashcards", "ana", "CREATE_FLASHCARDS", "success"),
        ("create_study_flashcards", None, "CREATE_FLASHCARDS", "auth_required"),
        ("recalibrate_study_priorities", "ana", "UPDATE_GOALS", "role_forbids"),
        ("recalibrate_study_priorities", "pia", "UPDATE_GOALS", "confirmation_required"),
        ("recalibrate_study_priorities", "pia", "UPDATE_GOALS", "started"),
    ]
    assert "zebrafish" not in json.dumps(entries)
    with sqlite3.connect(study.database) as connection:
        assert connection.execute("SELECT user_id, topics FROM priorities").fetchall() == [
            ("pia", '["zebrafish", "quokkas"]')
        ]
    connection.close()


async def test_a_tools_limit_is_an_answer_that_says_when_to_come_back(study: Study) -> None:
    for _ in range(5):
        assert (await study.said("Give me an exam for N2"))[1] == "success"
    answer = await study.ask("Give me an exam for N2")
    metadata = answer.json()["metadata"]
    assert (answer.status_code, metadata["tool_execution"]["status"]) == (200, "error")
    assert metadata["policy"]["outcome"] == "rate_limited"
    assert 3500 < metadata["policy"]["retry_after_s"] <= 3600
    assert (await study.said("Give me an exam for N2", "other"))[1] == "success"


async def test_a_keys_limit_is_429_with_the_standard_headers(study: Study) -> None:
    first = await study.ask("Show my history", "slow")
    assert first.headers["ratelimit-policy"] == '"2/minute";q=2;w=60'
    assert (first.headers["ratelimit-limit"], first.headers["ratelimit-remaining"]) == ("2", "1")
    await study.ask("Show my history", "slow")
    refused = await study.ask("Show my history", "slow")
    assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.headers["ratelimit-remaining"] == "0"
    assert (await study.ask("Show my history", "user")).status_code == 200


async def test_no_prompt_reaches_a_tool_beyond_its_users_role(study: Study) -> None:
    for row in TABLE["prompts"]:
        assert (await study.ask(row["ask"])).status_code == 200
    ran = [e["template_id"] for e in study.audit() if e["outcome"] in ("started", "success")]
    assert not {row["never"] for row in TABLE["prompts"]} & set(ran)
    if study.database.exists():
        with sqlite3.connect(study.database) as connection:
            assert connection.execute("SELECT COUNT(*) FROM priorities").fetchone() == (0,)
        connection.close()


async def test_what_was_said_and_cannot_be_is_asked_about(study: Study) -> None:
    assert [
        await study.said("Make me some flashcards about N9 grammar"),
        await study.said("Test my knowledge of keigo at level 7"),
        await study.said("Make me -3 flashcards about verbs"),
    ] == [
        ("The levels are N1 to N5. Which one?", "none"),
        ("The levels are N1 to N5. Which one?", "none"),
        ("How many should there be?", "none"),
    ]


NO_REQUESTS = [
    "Cancel the flashcards about verbs", "Call off the grammar exam", "Discard the quiz on keigo",
    "Forget the flashcards on N3 grammar, I've changed my mind", "Remove all my flashcards",
    "I didn't ask for flashcards about grammar", "No more flashcards on verbs, please",
    "Rather than a quiz on verbs, just talk to me", "Hold off on the quiz about particles",
    "The flashcards on verbs you made yesterday were great", "Flashcards about verbs are boring",
    "I got 7 out of 10 in yesterday's quiz about counters", "My friend makes flashcards by hand",
    "You made me a quiz about verbs yesterday", "Can I share my flashcards about keigo with Ana?",
    "Show me the flashcards I made yesterday", "What if I wanted ten flashcards about counters?",
    "If I asked for a quiz, what would you do?", "Would flashcards help me with keigo?",
    "What are flashcards good for?", "フラッシュカードは作らないで",
]  # fmt: skip


async def test_only_a_request_makes_something(study: Study) -> None:
    for message in NO_REQUESTS:
        assert (await study.said(message, "premium"))[1] == "none", message
    assert study.audit() == []


@pytest.mark.parametrize(
    "message",
    [
        "10 N4 flashcards on verbs", "I'd like five cards about greetings",
        "get me a quiz on particles",
        "can I get a quick 4-question quiz on verbs",
        "could you prepare flashcards about train travel?",
        "I passed N4, so make flashcards about N3 grammar", "a dozen N5 cards on verbs please",
    ],
)  # fmt: skip
async def test_every_form_of_request_is_one(study: Study, message: str) -> None:
    assert (await study.said(message))[1] in ("success", "error")


async def test_what_takes_a_model_says_so(study: Study) -> None:
    for message in (
        "explain the te form", "translate good morning", "plan my week", "let's practice",
    ):  # fmt: skip
        content, outcome = await study.said(message)
        assert (outcome, "`inference_model_provider`" in content) == ("none", True), message


async def test_fewer_than_were_asked_for_are_explained(study: Study) -> None:
    content, _ = await study.said("Make me 20 flashcards about verbs")
    assert content == (
        "Made 6 flashcards: **N5 verbs** (number 1). "
        "There are only 6 on verbs, and 20 were asked for."
    )


async def test_topics_are_free_text_of_one_to_a_hundred_characters(study: Study) -> None:
    long = "the names of the stations" + " and of the towns beside them" * 4
    asked = await study.ask(f"Make me flashcards about {long}")
    (missing,) = asked.json()["metadata"]["missing"]
    assert (missing["name"], "100" in missing["problem"]) == ("topic", True)
    short = await study.ask("Make me flashcards about train travel")
    ran = short.json()["metadata"]["tool_execution"]["parameters"]
    assert ran["topic"] == "train travel"


async def test_what_no_rule_names_is_known_by_meaning_and_done(study: Study) -> None:
    assert await study.said("how many days in a row have I kept it up") == (
        "You have studied on 0 days.", "success"
    )  # fmt: skip
