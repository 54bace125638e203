"""An adapter compares its pack's examples by meaning where it says so, by its own encoder."""

import asyncio
from pathlib import Path

import pytest

from server.adapters.local import ask_once, open_adapter
from server.cli.options import configured
from server.core.decision import Answer

CONFIG = """
adapters:
  - name: desk
    implementation: retrievers.implementations.intent.IntentAgentRetriever
    config:
      domain_config_path: domain.yaml
      template_library_path: tools.yaml
      intents: pack.yaml
      intents_semantic: SEMANTIC
"""
PACK = """
name: desk
fallback: {intent: CHAT}
entities:
  - {name: count, kind: number, patterns: ['{number}']}
intents:
  - name: FLASHCARDS
    keywords: [flashcards]
    examples: [create flashcards, make cards for me to learn new words]
    ask: Cards about what?
  - {name: CHAT}
"""
TOOLS = """
- id: now
  intents: [CHAT]
  nl_examples: ["what time is it", "tell me the time", "which date is today"]
  tool_name: date_time
  tool_operation: now
"""
QUESTION = "make me 5 cards to memorise new words"


def asked(folder: Path, question: str, semantic: str) -> Answer:
    (folder / "config.yaml").write_text(CONFIG.replace("SEMANTIC", semantic))
    (folder / "domain.yaml").write_text("domain_name: desk\n")
    (folder / "tools.yaml").write_text(TOOLS)
    (folder / "pack.yaml").write_text(PACK)
    found = configured(folder / "config.yaml", data=folder / "data")

    async def ask() -> Answer:
        adapter = found.adapter("desk")
        async with open_adapter(found.settings, found.environ, adapter) as opened:
            return await ask_once(found.settings, opened, question, "s")

    return asyncio.run(ask())


def test_what_no_rule_knows_is_known_by_its_meaning(tmp_path: Path) -> None:
    answer = asked(tmp_path, QUESTION, "true")
    intent = answer.metadata["intent"]
    sure = intent.pop("confidence")
    assert (answer.content, 0.7 <= sure < 1, intent) == (
        "Cards about what?",
        True,
        {
            "method": "semantic",
            "intent": "FLASHCARDS",
            "entities": {"count": 5},
            "flags": {},
            "explanation": "FLASHCARDS by semantic",
        },
    )
    assert answer.trace.to_list()[0]["evidence"] == "make cards for me to learn new words"


@pytest.mark.parametrize(
    ("question", "semantic", "intent", "method"),
    [
        (QUESTION, "false", "CHAT", "default"),
        ("flashcards, please", "true", "FLASHCARDS", "keyword"),
        ("what time is it", "true", "CHAT", "default"),
    ],
)
def test_rules_come_first_and_meaning_only_where_it_is_asked_for(
    question: str, semantic: str, intent: str, method: str, tmp_path: Path
) -> None:
    answer = asked(tmp_path, question, semantic)
    found = answer.metadata["intent"]
    assert (found["intent"], found["method"]) == (intent, method)
