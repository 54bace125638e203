"""The window of messages that a conversation keeps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conversation.store import ChatMemory

SAID = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text()))


def told(*contents: str, max_turns: int = 10) -> ChatMemory:
    memory = ChatMemory(max_turns)
    for number, content in enumerate(contents):
        memory.add_message(("user", "assistant")[number % 2], content)
    return memory


def test_add_and_retrieve_messages() -> None:
    memory = told("Check order #001", "Order #001 is being shipped.")
    assert memory.get_history() == [
        {"role": "user", "content": "Check order #001"},
        {"role": "assistant", "content": "Order #001 is being shipped."},
    ]


def test_sliding_window_trims_old_messages() -> None:
    memory = told("one", "1", "two", "2", "three", "3", max_turns=2)
    assert [said["content"] for said in memory.get_history()] == ["two", "2", "three", "3"]


def test_ten_turns_are_kept_unless_told_otherwise() -> None:
    memory = told(*map(str, range(25)))
    assert (len(memory), memory.get_history()[0]["content"]) == (20, "5")


def test_clear_empties_history() -> None:
    memory = told("one", "1")
    memory.clear()
    assert (memory.get_history(), len(memory)) == ([], 0)


@pytest.mark.parametrize("role", ["system", "User", ""])
def test_invalid_role_raises_error(role: str) -> None:
    with pytest.raises(ValueError, match="is not one of 'user', 'assistant'"):
        ChatMemory().add_message(role, "hello")


def test_a_window_of_no_turns_is_refused() -> None:
    with pytest.raises(ValueError, match="one turn is the least"):
        ChatMemory(max_turns=0)


def test_get_history_returns_copy() -> None:
    memory = told("one", "1")
    memory.get_history()[0]["content"] = "changed"
    memory.get_history().clear()
    assert [said["content"] for said in memory.get_history()] == ["one", "1"]


def test_it_shows_how_full_it_is() -> None:
    assert repr(told("1", "2", "3", "4", "5")) == "ChatMemory(max_turns=10, messages=5)"


@given(SAID, st.integers(1, 5))
def test_it_holds_the_last_messages_in_order(said: list[tuple[str, str]], turns: int) -> None:
    memory = ChatMemory(turns)
    for role, content in said:
        memory.add_message(role, content)
    kept = [(row["role"], row["content"]) for row in memory.get_history()]
    assert kept == said[-2 * turns :]
    assert len(memory) == len(kept)
