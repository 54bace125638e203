"""Looking after a guard while it runs: over HTTP, by command, and after a restart."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from server.guards.changes import Change
from server.guards.store import GuardStore
from tests.guards.desk import FOLDER, Desk, open_desk, settings_in
from tests.support.audit import changes

pytestmark = pytest.mark.anyio
GUARD = "/litecoin-help"


async def change(desk: Desk, kind: str, **more: Any) -> Any:
    response = await desk.manage("POST", f"{GUARD}/changes", {"kind": kind, **more})
    assert response.status_code == 201, response.text
    return response.json()


async def test_changes_hold_at_once_and_after_a_restart(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        assert await desk.guard("tell me about the zebra protocol") is None
        pattern = {"category": "competitor_attack", "text": "zebra protocol"}
        made = await change(desk, "add_pattern", **pattern)
        assert made["by"].startswith("key ")
        await change(desk, "allow_question", text="Will Litecoin go up?")
        await change(desk, "set_threshold", category="price_speculation", number=0.9999)
        expected = {
            "tell me about the zebra protocol": ("competitor_attack", "regex"),
            "will  LITECOIN go up?": None,
            "Should I hold my bags?": None,
        }
        for question, verdict in expected.items():
            assert await desk.guard(question) == verdict, question
    async with open_desk(settings_in(data)) as desk:
        for question, verdict in expected.items():
            assert await desk.guard(question) == verdict, question
        await change(desk, "remove_pattern", **pattern)
        await change(desk, "forget_question", text="Will Litecoin go up?")
        await change(desk, "reset_threshold", category="price_speculation")
        assert await desk.guard("tell me about the zebra protocol") is None
        assert await desk.guard("Will Litecoin go up?") == ("price_speculation", "regex")
        assert await desk.guard("Should I hold my bags?") == ("price_speculation", "semantic")
        kinds = [
            row["kind"] for row in (await desk.manage("GET", f"{GUARD}/changes")).json()["changes"]
        ]
        assert kinds == [
            "add_pattern",
            "allow_question",
            "set_threshold",
            "remove_pattern",
            "forget_question",
            "reset_threshold",
        ]
    assert changes(settings_in(data), "guards") == [(kind, "success") for kind in kinds]


async def test_an_example_teaches_and_a_similar_question_can_be_allowed(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        question = "which zoo animals are kept in vienna"
        example = {"category": "competitor_attack", "text": "Which animals are kept in the zoo?"}
        assert await desk.guard(question) is None
        await change(desk, "add_example", **example)
        exact = await desk.guard("Which animals are kept in the zoo?")
        assert exact == ("competitor_attack", "semantic")
        await change(desk, "allow_question", text="Will Litecoin go up?", number=0.8)
        assert await desk.guard("Will litecoin go up now?") is None


async def test_a_change_can_be_tried_first(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        tried = await desk.manage(
            "POST",
            f"{GUARD}/try",
            {
                "question": "What is MWEB?",
                "change": {"kind": "add_pattern", "category": "competitor_attack", "text": "mweb"},
            },
        )
        outcomes = {when: verdict["outcome"] for when, verdict in tried.json().items()}
        assert outcomes == {"now": "allow", "then": "block"}
        assert await desk.guard("What is MWEB?") is None
        assert (await desk.manage("GET", f"{GUARD}/changes")).json() == {"changes": []}


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (
            {"kind": "add_pattern", "category": "nonsense", "text": "x"},
            400,
            "there is no category 'nonsense'; there are: price_speculation, competitor_attack",
        ),
        (
            {"kind": "add_pattern", "category": "general_chat", "text": "(?=x)"},
            400,
            "pattern cannot be used: ",
        ),
        (
            {"kind": "add_pattern", "category": "general_chat", "text": "x*"},
            400,
            "this pattern matches the empty text",
        ),
        (
            {"kind": "remove_example", "category": "general_chat", "text": "x"},
            400,
            "category 'general_chat' has no example 'x'",
        ),
        ({"kind": "forget_question", "text": "x"}, 400, "this question is not on the allow-list"),
        ({"kind": "explode"}, 422, "kind: "),
        ({"kind": "set_threshold", "category": "general_chat", "number": 2}, 422, "number: "),
    ],
)
async def test_a_change_that_cannot_be_made_says_why(
    data: Path, body: Any, status: int, said: str
) -> None:
    async with open_desk(settings_in(data)) as desk:
        response = await desk.manage("POST", f"{GUARD}/changes", body)
        assert response.status_code == status
        assert response.json()["error"]["message"].startswith(said)
        assert (await desk.manage("GET", f"{GUARD}/changes")).json() == {"changes": []}


async def test_only_an_admin_may(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        for path in ("", GUARD, f"{GUARD}/decisions", f"{GUARD}/changes"):
            response = await desk.manage("GET", path, key=desk.key)
            assert (response.status_code, response.json()["error"]["code"]) == (403, "key_foreign")
        assert (await desk.manage("GET", "/nowhere")).status_code == 404


async def test_counts_and_decisions_are_kept_and_redacted(data: Path) -> None:
    async with open_desk(settings_in(data)) as desk:
        await desk.ask("Should I buy now? write to jane@example.org or +43 660 1234567")
        await desk.ask("What is MWEB?")
    async with open_desk(settings_in(data)) as desk:
        described = (await desk.manage("GET", GUARD)).json()
        counted = {(r["category"], r["outcome"]): r["count"] for r in described["counts"]}
        assert counted == {
            ("price_speculation", "block"): 1,
            ("technical_support", "allow"): 1,
        }
        (row,) = (await desk.manage("GET", f"{GUARD}/decisions")).json()["decisions"]
        assert row["question"] == "Should I buy now? write to [email] or [number]"


async def test_no_preview_is_kept_when_they_are_off(data: Path) -> None:
    settings = settings_in(data)
    logging = settings.logging.model_copy(update={"question_preview_chars": 0})
    async with open_desk(settings.model_copy(update={"logging": logging})) as desk:
        await desk.ask("Should I buy now?")
        (row,) = (await desk.manage("GET", f"{GUARD}/decisions")).json()["decisions"]
        assert row["question"] == ""


async def test_what_another_process_changes_is_taken_up(data: Path) -> None:
    settings = settings_in(data)
    async with open_desk(settings) as desk:
        assert await desk.guard("What is MWEB?") is None
        store = await GuardStore.open(settings.database_url)
        change = Change("litecoin-help", "add_pattern", "competitor_attack", "mweb", by="a test")
        await store.add_change(change)
        await store.close()
        with anyio.fail_after(20):
            while await desk.guard("What is MWEB?") is None:  # noqa: ASYNC110
                await anyio.sleep(0.02)


async def test_a_question_is_led_to_a_template(data: Path) -> None:
    pack = data / "pack.yaml"
    pack.write_text(
        "name: leading\n"
        "categories:\n"
        "  price:\n"
        "    action: route\n"
        "    patterns: ['go up']\n"
        "    route_to: {template: how_litecoin_works}\n"
        "  odd:\n"
        "    action: flag\n"
        "    patterns: ['mweb']\n"
    )
    async with open_desk(settings_in(data, packs=(pack,))) as desk:
        led = (await desk.ask("Will Litecoin go up?")).json()["metadata"]
        assert (led["template_id"], led["guard"]["outcome"]) == ("how_litecoin_works", "route")
        flagged = (await desk.ask("What is MWEB?")).json()["metadata"]
        assert (flagged["template_id"], flagged["guard"]["outcome"]) == ("what_is_mweb", "flag")


async def test_a_question_is_led_to_another_adapter(data: Path) -> None:
    pack = data / "pack.yaml"
    pack.write_text(
        "name: leading\n"
        "categories:\n"
        "  price: {action: route, patterns: ['go up'], route_to: {adapter: desk-two}}\n"
    )
    settings = settings_in(data, packs=(pack,))
    (first,) = settings.adapters
    guards = first.guards.model_copy(update={"packs": (FOLDER / "guard.yaml",)})
    second = first.model_copy(update={"name": "desk-two", "guards": guards}).at(first.where)
    both = settings.model_copy(update={"adapters": (first, second)})
    async with open_desk(both) as desk:
        # The other adapter's guard judges as well, and it has the last word.
        assert await desk.guard("Will Litecoin go up?") == ("price_speculation", "regex")
        led = (await desk.ask("how does MWEB go up and down")).json()["metadata"]
        assert led["guard"]["outcome"] == "route"
