"""What an author says a template is not for: counter examples, and values it has no use for."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from server.adapters.local import ask_once, confirm_once, open_adapter
from server.core.coverage import Coverage, CoveredWord
from server.core.decision import Answer, Call, NoMatch, PendingConfirmation
from tests.support.configuring import DOMAIN, NOW, PERCENTAGE, adapter, configure, write_library

CLOCK: dict[str, Any] = NOW | {
    "nl_examples": [
        "What time is it?",
        "current time please",
        "tell me the time",
        "what does the clock say",
        "do you know what time it is now",
    ]
}
SHOP = "What time does the watch shop close?"


def ask(
    folder: Path,
    *texts: str,
    clock: Mapping[str, Any] = CLOCK,
    domain: Mapping[str, Any] = MappingProxyType({}),
    yes: bool = False,
) -> list[Answer]:
    """The answers of a library with a clock and a calculator, in one conversation each."""

    async def answers() -> list[Answer]:
        found = configure(folder, [adapter("sums", library)]).with_data_dir(folder / "data")
        settings, chosen = found.settings, found.adapter("sums")
        async with open_adapter(settings, found.environ, chosen, remembers=True) as opened:
            said = []
            for number, text in enumerate(texts):
                answer = await ask_once(settings, opened, text, f"s{number}")
                said.append(answer)
                if yes and isinstance(answer.decision, PendingConfirmation):
                    proposal = answer.decision.proposal_id
                    said.append(
                        await confirm_once(settings, opened, proposal, f"s{number}", accept=True)
                    )
            return said

    domain_yaml = {"domain": DOMAIN["domain"] | domain}
    library = write_library(folder / "library", [clock, PERCENTAGE], domain_yaml)
    return asyncio.run(answers())


def test_a_counter_example_and_what_is_like_it_run_nothing(tmp_path: Path) -> None:
    plain = CLOCK | {"nl_examples": [*CLOCK["nl_examples"], "what time does it say"]}
    clock = plain | {"counter_examples": [SHOP]}
    texts = (SHOP, "What time does the book shop close?", "tell me what time it is")
    same, like, other = (one.decision for one in ask(tmp_path, *texts, clock=clock))
    assert isinstance(same, NoMatch)
    assert (same.objection, same.why) == (
        "counter",
        f"it is like “{SHOP}”, a counter example of current_time",
    )
    assert isinstance(like, NoMatch)
    assert isinstance(other, Call)


def test_a_value_that_is_allowed_counts_for_nothing(tmp_path: Path) -> None:
    text = "tell me the time 12"
    (answer,) = ask(tmp_path, text, clock=CLOCK | {"unused_values": "allow"})
    assert isinstance(answer.decision, Call)
    words = {text[w.start : w.end]: (w.role, w.kind) for w in answer.decision.coverage.words}
    assert words["12"] == ("filler", "allowed")


def test_a_value_is_asked_about_and_the_call_runs_after_a_yes(tmp_path: Path) -> None:
    clock = CLOCK | {"unused_values": "ask"}
    asked, done, plain = ask(
        tmp_path, "tell me the time 12", "tell me the time", clock=clock, yes=True
    )
    assert isinstance(asked.decision, PendingConfirmation)
    assert asked.decision.question == "I have no use for “12”. Shall I go ahead without it?"
    assert "I have no use for “12”. Shall I go ahead without it?" in asked.content
    assert asked.metadata["proposal"]["origin"] == "template"
    assert isinstance(done.decision, Call)
    assert done.metadata["tool_execution"]["status"] == "success"
    assert isinstance(plain.decision, Call)


def test_a_value_is_refused_and_named(tmp_path: Path) -> None:
    clock = CLOCK | {"unused_values": "refuse"}
    refused, plain = ask(tmp_path, "tell me the time 12", "tell me the time", clock=clock)
    assert isinstance(refused.decision, NoMatch)
    assert refused.decision.unread == ("12",)
    assert "12" in refused.decision.why
    assert isinstance(plain.decision, Call)


@pytest.mark.parametrize(
    ("of_domain", "of_template", "comes_to"),
    [("refuse", None, NoMatch), ("refuse", "allow", Call), ("allow", "refuse", NoMatch)],
)
def test_the_template_wins_over_its_domain(
    tmp_path: Path, of_domain: str, of_template: str | None, comes_to: type
) -> None:
    clock = CLOCK | ({"unused_values": of_template} if of_template else {})
    domain = {"unused_values": of_domain}
    (answer,) = ask(tmp_path, "tell me the time 12", clock=clock, domain=domain)
    assert isinstance(answer.decision, comes_to)


def test_values_alone_are_allowed() -> None:
    text = "12 red"
    words = (CoveredWord(0, 2, "unread", None, "number"), CoveredWord(3, 6, "unread", None, "word"))
    coverage = Coverage(text, words)
    assert coverage.unused_values() == ("12",)
    assert [word.role for word in coverage.allow_values().words] == ["filler", "unread"]


DAY_ALONE: dict[str, Any] = {
    "id": "weekday",
    "description": "Tell the weekday of a date",
    "tool_type": "function",
    "nl_examples": ["Which weekday is tomorrow?", "which weekday is March 7", "weekday of 1 May"],
    "tool_name": "date_time",
    "tool_operation": "parse",
    "parameters": [{"name": "date_string", "type": "date", "required": True}],
    "response_template": "{{ weekday }}",
}


def test_a_time_that_a_date_has_no_room_for_is_left_out_aloud(tmp_path: Path) -> None:
    question = "which weekday is March 7, 2025 at 5pm"
    held = DAY_ALONE | {"confirm": True}
    for clock, shown in ((DAY_ALONE, "Friday"), (held, "I left out “5pm”.")):
        (answer,) = ask(tmp_path, question, clock=clock)
        assert shown in answer.content
        assert answer.metadata["notes"] == ["I left out “5pm”."]
    (refused,) = ask(tmp_path, question, clock=DAY_ALONE | {"unused_values": "refuse"})
    assert isinstance(refused.decision, NoMatch)
    (whole,) = ask(tmp_path, "which weekday is March 7, 2025", clock=DAY_ALONE)
    assert "notes" not in whole.metadata
