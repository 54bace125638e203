"""What people put into a sentence that a library knows either stops it or is accounted for.

The libraries are those that ship, with the real encoder; the sentences are their own examples.
"""

import asyncio
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.adapters.local import open_adapter
from server.chat.adapter import Adapter
from server.chat.question import detect_intent
from server.core.coverage import CoveredWord
from server.core.decision import Call, MissingArguments, SeveralCalls, Trace
from server.core.turn import Caller, Turn
from server.library.model import Template
from server.retrievers.followups.context import FollowUpDecision
from server.settings.loader import load_settings

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).parents[2]
ADAPTERS: Final = {
    "agent-template": "intent-agent-example",
    "jsonplaceholder": "intent-http-example",
    "retail": "retail",
    "study": "study",
}
MATCHED: Final = ("agent-template", "jsonplaceholder")
"""Those whose templates are matched; in the others, a rule pack chooses."""

TAKEN_BACK: Final = (
    "don't {}",
    "never {}",
    "under no circumstances {}",
    "please do not {}",
    "no need to {}",
    "if it rains, {}",
    "unless it rains, {}",
    "{} if it rains",
    "{} unless I am late",
    "{}? no, don't",
)
NARROWED: Final = (
    "{} except the last one",
    "{} but not on Sundays",
    "{} without Quillon",
    "{} but only the red ones",
    "only {} on Sundays",
)
UNKNOWN: Final = (
    ("{} for Quillon", ("Quillon",)),
    ("{} in Zanzibar", ("Zanzibar",)),
    ("{} at the Ministry of Funny Walks", ("Ministry", "Funny", "Walks")),
    ("{} sorted by altitude", ("altitude",)),
    ("{} as a hologram", ("hologram",)),
    ("{} using telepathy", ("telepathy",)),
)
NARROWING: Final = frozenset({"exclusion", "restriction", "condition", "reason", "negation"})


class Shipped:
    """The libraries that ship, open, and what is decided for a message of its own."""

    def __init__(self, adapters: dict[str, Adapter], runner: asyncio.Runner) -> None:
        self._adapters = adapters
        self._runner = runner

    def template(self, name: str, template_id: str) -> Template:
        return self._adapters[name].library.templates[template_id]

    def examples(self, name: str) -> list[str]:
        """Each example as it stands inside another sentence."""
        templates = self._adapters[name].library.templates.values()
        texts = (text for template in templates for text in template.nl_examples)
        return [text[:1].lower() + text[1:].rstrip("?.! ") for text in texts]

    def decide(self, name: str, text: str) -> tuple[Call | MissingArguments, ...]:
        """The calls that a message leads to, and a call that more is asked for."""
        adapter = self._adapters[name]
        now = datetime(2025, 6, 4, 12, tzinfo=UTC)
        turn = Turn("t", text, "s", Caller("k", adapter.name), now)

        async def decision() -> object:
            asked, _ = await detect_intent(adapter, turn, Trace())
            return await adapter.decider.decide(asked, Trace())

        decided = self._runner.run(decision())
        if isinstance(decided, FollowUpDecision):
            decided = decided.decision
        if isinstance(decided, SeveralCalls):
            return decided.calls
        return (decided,) if isinstance(decided, Call | MissingArguments) else ()


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shipped]:
    data = tmp_path_factory.mktemp("shipped")
    environ = {"DEMO_SERVICES_URL": "http://127.0.0.1:1"}
    loaded = load_settings(ROOT / "config" / "config.yaml", {})
    assert loaded.settings is not None
    configured = loaded.settings.model_copy(update={"data_dir": data})
    named = {one.name: one for one in configured.adapters}
    with asyncio.Runner() as runner, pytest.MonkeyPatch.context() as patched:
        patched.setitem(os.environ, "STUDY_DATABASE", str(data / "study.db"))
        stack = AsyncExitStack()

        async def opened() -> dict[str, Adapter]:
            return {
                name: await stack.enter_async_context(
                    open_adapter(configured, environ, named[adapter])
                )
                for name, adapter in ADAPTERS.items()
            }

        yield Shipped(runner.run(opened()), runner)
        runner.run(stack.aclose())


def inserted_words(one: Call | MissingArguments, pattern: str) -> list[CoveredWord]:
    """The words of a call's account that a pattern put before and after the sentence."""
    before, _, after = pattern.partition("{}")
    size = len(one.coverage.text)
    return [
        word
        for word in one.coverage.words
        if word.start < len(before) or word.end > size - len(after)
    ]


def says(template: Template, words: str) -> bool:
    """Whether a template's own examples have such words: “I don't want it any more” cancels."""
    return any(words in example.lower() for example in template.nl_examples)


@pytest.mark.parametrize("name", ADAPTERS)
@settings(max_examples=120)
@given(data=st.data())
def test_nothing_is_written_that_is_taken_back(
    shipped: Shipped, name: str, data: st.DataObject
) -> None:
    """Nor proposed, nor asked for; but a message to send may say “if it rains” at its end.

    So may all that a free text takes to itself. A refusal that the template's own examples use is
    theirs: cancel_order has “I don't want order #001 any more”, and proposes to cancel, for a yes,
    where it is told “don't cancel …”. That is not claimed here.
    """
    pattern = data.draw(st.sampled_from(TAKEN_BACK))
    text = pattern.format(data.draw(st.sampled_from(shipped.examples(name))))
    for one in shipped.decide(name, text):
        template = shipped.template(name, one.match.template_id)
        inserted = inserted_words(one, pattern)
        is_text = bool(inserted) and any(word.role == "value" for word in inserted)
        licensed = "don't" in pattern and says(template, "don't")
        assert template.effect == "read" or is_text or licensed, (text, one)


@pytest.mark.parametrize("name", MATCHED)
@settings(max_examples=120)
@given(data=st.data())
def test_what_narrows_a_request_is_never_left_unread(
    shipped: Shipped, name: str, data: st.DataObject
) -> None:
    """Not by a call that takes arguments or writes; a read that takes none does no harm.

    The claim is of the narrowing words themselves, and of what a matcher chose: which words a rule
    pack has read, nobody says.
    """
    pattern = data.draw(st.sampled_from(NARROWED))
    text = pattern.format(data.draw(st.sampled_from(shipped.examples(name))))
    for one in shipped.decide(name, text):
        template = shipped.template(name, one.match.template_id)
        if template.parameters or template.effect == "write":
            unread = [word for word in one.coverage.unread() if word.kind in NARROWING]
            assert unread == [], (text, one)


@pytest.mark.parametrize("name", MATCHED)
@settings(max_examples=120)
@given(data=st.data())
def test_an_unknown_word_stands_in_an_argument_or_is_said_to_be_left_out(
    shipped: Shipped, name: str, data: st.DataObject
) -> None:
    """It is never taken for a word that bears nothing, nor for one of the template's own.

    One such word alone does not stop every call: “convert 100 USD to EUR as a hologram” runs, and
    says that it made no use of the hologram. Several stop all that takes arguments or writes.
    """
    pattern, unknown = data.draw(st.sampled_from(UNKNOWN))
    text = pattern.format(data.draw(st.sampled_from(shipped.examples(name))))
    for one in shipped.decide(name, text):
        template = shipped.template(name, one.match.template_id)
        coverage = one.coverage
        held = [
            word
            for word in inserted_words(one, pattern)
            if any(each in coverage.text[word.start : word.end] for each in unknown)
        ]
        assert held, (text, one)
        unread = [word for word in held if word.role == "unread"]
        assert all(word.role == "value" for word in held if word not in unread), (text, one)
        left_out = " ".join(coverage.left_out())
        assert all(coverage.text[word.start : word.end] in left_out for word in unread)
        harmless = template.effect == "read" and not template.parameters
        assert harmless or len(unread) < 2, (text, one)
