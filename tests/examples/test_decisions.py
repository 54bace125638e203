"""The example about government decisions answers in Hebrew, over HTTP, with its own encoder."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
import yaml

from server.access.keys import KeyStore
from server.access.models import NewKey
from server.adapters.local import ask_once, open_adapter
from server.cli.options import Configured, configured
from server.evaluation.outcomes import Outcome, outcome_of
from server.evaluation.questions import load_questions
from server.evaluation.report import Report, evaluate
from tests.examples.running import EXAMPLES, ROOT, services
from tests.support.api import running

QUESTIONS = EXAMPLES / "gov-decisions" / "questions.yaml"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with services() as found:
        yield found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Configured:
    """A configuration with the adapter as it ships, switched on, and no other."""
    folder = tmp_path_factory.mktemp("decisions")
    shipped = yaml.safe_load((ROOT / "config" / "adapters" / "intent.yaml").read_text())
    (adapter,) = (one for one in shipped if one["name"] == "gov-decisions")
    config = adapter["config"]
    config["domain_config_path"] = str(ROOT / config["domain_config_path"])
    config["template_library_path"] = [str(ROOT / p) for p in config["template_library_path"]]
    config["intents"] = str(ROOT / config["intents"])
    written = {"adapters": [adapter | {"enabled": True, "config": config}]}
    (folder / "config.yaml").write_text(yaml.safe_dump(written, allow_unicode=True))
    return configured(folder / "config.yaml", data=folder / "data")


async def over_http(found: Configured, environ: Mapping[str, str], *questions: str) -> list[Any]:
    """The bodies of `/chat` for each question, and of `/intents/detect` for the first."""
    async with running(found.settings, environ) as api:
        transport = httpx.ASGITransport(api, client=("127.0.0.1", 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            while (await client.get("/ready")).json()["status"] != "ready":  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            keys = await KeyStore.open(found.settings.database_url, found.settings.secret_path)
            raw, _ = await keys.create(NewKey("gov-decisions"))
            await keys.close()
            client.headers["X-API-Key"] = raw
            bodies = [
                (await client.post("/chat", json={"message": question})).json()
                for question in questions
            ]
            asked = {"message": questions[0]}
            return [*bodies, (await client.post("/intents/detect", json=asked)).json()]


def test_a_count_is_a_number_and_a_comparison_a_table(found: Configured, address: str) -> None:
    environ = {**found.environ, "DEMO_SERVICES_URL": address}
    count, table, vague, detected = asyncio.run(
        over_http(
            found,
            environ,
            "כמה החלטות יש בנושא בריאות?",
            "השווה בין ממשלה 36 ל-37",
            "נתח את ההחלטה הקודמת",
        )
    )
    assert count["content"] == "נמצאו **110** החלטות בנושא בריאות."
    topic = {"kind": "intent", "span": [20, 26], "text": "בריאות"}
    assert count["metadata"]["arguments"] == {"topic": topic}
    assert count["metadata"]["intent"] == {"method": "keyword", **detected}
    assert detected["entities"] == {"operation": "count", "topic": "בריאות"}
    assert table["content"].splitlines() == [
        "| | החלטות | ראשונה | אחרונה | נושא עיקרי |",
        "|---|---|---|---|---|",
        "| 36 | 188 | 2021-06-13 | 2022-12-26 | קורונה |",
        "| 37 | 264 | 2022-12-29 | 2025-02-25 | תחבורה ציבורית |",
    ]
    assert vague["content"].startswith("איני זוכר תשובות קודמות.")
    assert vague["metadata"]["template_id"] is None


def test_an_analysis_goes_as_far_as_fields_do_and_says_so(found: Configured, address: str) -> None:
    environ = {**found.environ, "DEMO_SERVICES_URL": address}
    analysis, left_out, many, *_ = asyncio.run(
        over_http(
            found,
            environ,
            "נתח את החלטה 574 של ממשלה 36",
            "כמה החלטות שנדחו יש בנושא מים?",
            "תן לי 500 החלטות בנושא מים",
        )
    )
    lines = analysis["content"].splitlines()
    assert [line[:3] for line in lines if line.startswith("- ")] == [
        "- ✓", "- ✓", "- ✗", "- ✓", "- ✗", "- ✓"
    ]  # fmt: skip
    assert "4 מתוך 6 דרישות מתקיימות." in lines
    assert "`inference_model_provider`" in lines[-1]
    assert left_out["content"] == "נמצאו **85** החלטות בנושא מים.\n”שנדחו” הושמט."
    assert many["metadata"]["tool_execution"]["result"]["count"] == 85


def report(found: Configured, address: str) -> Report:
    environ = {**found.environ, "DEMO_SERVICES_URL": address}

    async def run() -> Report:
        adapter = found.adapter("gov-decisions")
        async with open_adapter(found.settings, environ, adapter) as opened:
            listed, problems = load_questions(QUESTIONS, opened.library.templates, environ)
            assert problems == ()

            async def ask(question: str) -> Outcome:
                answer = await ask_once(found.settings, opened, question, "test")
                return outcome_of(
                    answer.decision,
                    opened.library.templates,
                    latency_ms=0.0,
                    answer=answer.content,
                )

            return await evaluate(ask, listed)

    return asyncio.run(run())


def test_people_are_understood(found: Configured, address: str) -> None:
    figures = report(found, address).to_dict()
    assert figures["questions"] >= 38
    assert (
        figures["template_accuracy"],
        figures["argument_accuracy"],
        figures["answer_accuracy"],
    ) == (1.0, 1.0, 1.0)
    assert figures["wrong_call_rate"] <= 0.03
