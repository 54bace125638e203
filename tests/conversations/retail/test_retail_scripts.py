"""Whole conversations with the shop: each wish is proposed, and done after a yes alone."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
import yaml
from starlette.types import Receive, Scope, Send

from examples.services.app import create_app
from server.core.decision import (
    Answer,
    Call,
    ClarifyingQuestion,
    Courtesy,
    MissingArguments,
    PendingConfirmation,
    ProposalNotExecuted,
)
from server.evaluation.outcomes import Outcome, outcome_of
from server.evaluation.questions import load_questions
from server.evaluation.report import evaluate
from tests.conversation.shop import RETAIL
from tests.conversations.running import Talks

SCRIPTS: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("scripts.yaml").read_text(encoding="utf-8")
)
INTENT_OF = {
    "cancel_order": "cancel_order",
    "refund_order": "refund",
    "return_order": "return",
    "exchange_order": "exchange",
    "order_status": "order_status",
    "file_complaint": "complaint",
}


class Shop:
    """The service, which can begin anew while the adapter stays open."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        self._app = create_app()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


@contextmanager
def open_shop(shop: Shop) -> Iterator[str]:
    config = uvicorn.Config(shop, port=0, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    listening = config.bind_socket()
    listening.listen()
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def open_talks(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Talks, Shop, httpx.Client]]:
    shop = Shop()
    with open_shop(shop) as address, httpx.Client(base_url=address) as orders:
        talks = Talks(tmp_path_factory.mktemp("shop"), {"DEMO_SERVICES_URL": address})
        yield talks, shop, orders
        talks.close()


def meant(answer: Answer) -> dict[str, Any]:
    """What came of a message, in the words of the scripts."""
    match answer.decision:
        case PendingConfirmation(intent=intent, target=target):
            return {"proposes": {intent: target}}
        case ProposalNotExecuted(
            why="unclear", held=PendingConfirmation(intent=intent, target=target)
        ):
            return {"proposes": {intent: target}}
        case ProposalNotExecuted(why="declined"):
            return {"declines": True}
        case MissingArguments(match, missing):
            return {"asks": {INTENT_OF[match.template_id]: [one.name for one in missing]}}
        case ClarifyingQuestion():
            return {"asks_back": True}
        case Courtesy(kind):
            return {"courtesy": kind}
        case Call(call=call):
            told = answer.metadata["proposal"]
            assert INTENT_OF[call.template_id] == told["intent"]
            failed = answer.metadata["tool_execution"]["status"] != "success"
            does = {"does": {told["intent"]: told["target"]}}
            return does | ({"fails": True} if failed else {})
    raise AssertionError(f"not in any script: {answer.decision}")


@pytest.mark.parametrize("script", SCRIPTS, ids=[script["name"] for script in SCRIPTS])
def test_a_conversation(
    open_talks: tuple[Talks, Shop, httpx.Client], script: dict[str, Any]
) -> None:
    talks, shop, service = open_talks
    shop.begin_anew()
    for turn in script["turns"]:
        answer = talks.say("retail", script["name"], turn["say"])
        expected = {
            name: value for name, value in turn.items() if name not in ("say", "answer", "orders")
        }
        assert meant(answer) == expected, (turn["say"], answer.content)
        assert turn.get("answer", answer.content) == answer.content
        stands = {
            order: service.get(f"/orders/{order}").json()["state"]
            for order in turn.get("orders", {})
        }
        assert stands == turn.get("orders", {}), turn["say"]


def test_what_customers_say_first_is_understood(
    open_talks: tuple[Talks, Shop, httpx.Client],
) -> None:
    talks, shop, service = open_talks
    shop.begin_anew()
    before = service.get("/orders").json()
    templates = talks.adapter("retail").library.templates
    listed, problems = load_questions(RETAIL / "questions.yaml", templates, {})
    assert problems == ()

    async def ask(question: str) -> Outcome:
        answer = await asyncio.to_thread(talks.alone, "retail", question)
        assert answer.decision is not None
        return outcome_of(answer.decision, templates, latency_ms=0.0)

    figures = asyncio.run(evaluate(ask, listed)).to_dict()
    assert figures["questions"] >= 25
    assert (
        figures["template_accuracy"],
        figures["abstain_recall"],
        figures["argument_accuracy"],
        figures["wrong_call_rate"],
    ) == (1.0, 1.0, 1.0, 0.0)
    assert service.get("/orders").json() == before  # nobody has said yes
