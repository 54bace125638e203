"""Whole conversations, each as a script: what is said, what that means, and what is remembered."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.core.decision import (
    Answer,
    Call,
    Cancelled,
    Clarify,
    ClarifyingQuestion,
    Courtesy,
    MissingArguments,
    NoMatch,
    PendingConfirmation,
    ProposalNotExecuted,
)
from server.core.json import to_json
from server.core.turn import ConversationContext
from tests.conversations.running import Talks
from tests.examples.running import services

SCRIPTS: list[dict[str, Any]] = [
    {**script, "name": f"{file.stem}: {script['name']}"}
    for file in sorted(Path(__file__).parent.glob("*.yaml"))
    for script in yaml.safe_load(file.read_text(encoding="utf-8"))
]


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talks]:
    folder = tmp_path_factory.mktemp("conversations")
    with services() as address:
        environ = {"DEMO_SERVICES_URL": address, "STUDY_DATABASE": str(folder / "study.db")}
        found = Talks(folder, environ)
        yield found
        found.close()


def meant(answer: Answer) -> dict[str, Any]:
    """What a message was taken for, in the words of the scripts."""
    decision = answer.decision
    told: dict[str, Any]
    match decision:
        case Call(match, call):
            told = {"call": match.template_id, **_arguments(call.arguments, answer)}
        case PendingConfirmation(match, call):
            told = {"hold": match.template_id, **_arguments(call.arguments, answer)}
        case ProposalNotExecuted(why):
            told = {"not_run": why}
        case MissingArguments(match, missing, arguments):
            told = {"ask": match.template_id, "missing": [one.name for one in missing]}
            told |= _arguments(arguments, answer)
        case Clarify(options):
            told = {"offer": [option.template_id for option in options]}
        case NoMatch():
            told = {"nothing": True}
        case ClarifyingQuestion():
            told = {"ask_back": True}
        case Courtesy(kind):
            told = {"courtesy": kind}
        case Cancelled():
            told = {"dropped": True}
        case _:
            raise AssertionError(f"not in any script: {decision}")
    contributed = answer.metadata.get("conversation", {}).get("as")
    return told | ({"as": contributed} if contributed else {})


def _arguments(arguments: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """The arguments, without defaults, and which of them were said before."""
    sources = answer.metadata["arguments"]
    kinds = {name: source["kind"] for name, source in sources.items()}
    given = {name: value for name, value in arguments.items() if kinds[name] != "default"}
    reused = [name for name in arguments if kinds[name] == "conversation"]
    told = {"arguments": json.loads(to_json(given))} if given else {}
    return told | ({"reused": reused} if reused else {})


def state(context: ConversationContext) -> dict[str, Any]:
    """What is remembered, without the messages, and without what there is none of."""
    parts: dict[str, Any] = {
        "asked": list(context.asked.missing) if context.asked else None,
        "options": list(context.options.template_ids) if context.options else None,
        "done": [done.template_id for done in context.done],
        "held": True if context.held is not None else None,
    }
    return {name: value for name, value in parts.items() if value}


@pytest.mark.parametrize("script", SCRIPTS, ids=[script["name"] for script in SCRIPTS])
def test_a_conversation(talks: Talks, script: dict[str, Any]) -> None:
    adapter, session = script["adapter"], script["name"]
    for turn in script["turns"]:
        answer = talks.say(adapter, session, turn["say"])
        after = state(talks.state(adapter, session))
        expected = {name: value for name, value in turn.items() if name not in ("say", "answer")}
        assert {**meant(answer), "state": after} == {"state": {}, **expected}, turn["say"]
        assert turn.get("answer", answer.content) == answer.content


def test_there_are_many_conversations_in_both_languages() -> None:
    said = [turn["say"] for script in SCRIPTS for turn in script["turns"]]
    hebrew = [text for text in said if any("א" <= letter <= "ת" for letter in text)]
    assert (len(SCRIPTS) >= 60, len(hebrew) >= 30) == (True, True)
