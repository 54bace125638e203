"""What a conversation remembers, to JSON and back."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conversation.serialization import context_from_json, context_to_json
from server.core.chat_messages import Message
from server.core.turn import (
    NO_CONTEXT,
    CompletedCall,
    ConversationContext,
    OfferedChoices,
    PendingQuestion,
)

NAMES = st.text(st.characters(codec="utf-8"), max_size=8)
DECIMALS = st.decimals(-(10**9), 10**9, allow_nan=False, places=3).filter(lambda d: d % 1 != 0)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | NAMES | DECIMALS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(NAMES, VALUES, max_size=3)
INTENTS = st.none() | NAMES.filter(bool)
NAMED = st.text("abc_", min_size=1, max_size=8)
MESSAGES = st.builds(Message, st.sampled_from(["user", "assistant"]), NAMES)
ASKED = st.builds(
    PendingQuestion, NAMED, st.lists(NAMED).map(tuple), ARGUMENTS, NAMES, INTENTS, st.integers(1, 3)
)
DONE = st.builds(
    CompletedCall,
    NAMED,
    ARGUMENTS,
    st.lists(ARGUMENTS, max_size=3).map(tuple),
    st.none() | st.integers() | NAMES.filter(bool),
    INTENTS,
    st.dictionaries(NAMED, NAMES, max_size=2),
)
OPTIONS = st.builds(OfferedChoices, st.lists(NAMED, min_size=1).map(tuple), NAMES, INTENTS)
CONTEXTS = st.builds(
    ConversationContext,
    st.lists(MESSAGES, max_size=4).map(tuple),
    st.none() | ASKED,
    st.none() | OPTIONS,
    st.lists(DONE, max_size=3).map(tuple),
    st.none() | NAMED,
    st.none() | DONE,
    st.none() | NAMED,
)


@given(CONTEXTS)
def test_it_comes_back_as_it_was(context: ConversationContext) -> None:
    assert context_from_json(context_to_json(context)) == context


def test_numbers_stay_exact() -> None:
    context = ConversationContext(
        asked=PendingQuestion("sum", ("b",), {"a": Decimal("0.1"), "n": 3})
    )
    found = context_from_json(context_to_json(context)).asked
    assert found is not None
    assert repr(found.arguments) == "{'a': Decimal('0.1'), 'n': 3}"


def test_messages_alone_are_enough() -> None:
    assert context_from_json('{"messages": []}') == NO_CONTEXT


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"messages": [], "asked": {"who": 1}}'])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        context_from_json(text)
