"""Two requests in one message, read by the shipped encoder over a library for a house."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from server.adapters.local import open_adapter
from server.chat.adapter import Adapter
from server.core.decision import Call, Decision, SeveralCalls, Trace
from server.core.turn import Caller, Turn
from tests.support.configuring import adapter, configure, write_library

ROOMS = ["kitchen", "bedroom", "living room", "hallway"]
DOMAIN = {
    "domain": {"name": "house", "description": "A house", "version": "1.0"},
    "api_config": {"base_url": "http://127.0.0.1:9"},
}


def query(name: str, description: str, examples: list[str], *parameters: Any) -> dict[str, Any]:
    return {
        "id": name,
        "description": description,
        "tool_type": "query",
        "nl_examples": examples,
        "method": "POST",
        "endpoint": f"/{name}/" + "/".join(f"{{{each['name']}}}" for each in parameters),
        "parameters": list(parameters),
    }


def chosen(name: str, values: list[str]) -> dict[str, Any]:
    return {"name": name, "type": "string", "description": f"Which {name}", "enum": values}


ROOM = chosen("room", ROOMS)
TEMPLATES = [
    query(
        "lights_off",
        "Turn off the lights in a room",
        [
            "Turn off the kitchen lights",
            "lights off in the living room",
            "switch the bedroom light off",
            "kill the lights in the hallway",
            "no more light in the bedroom please",
        ],
        ROOM,
    ),
    query(
        "lock_door",
        "Lock a door",
        [
            "Lock the front door",
            "lock up the back door",
            "secure the garage door",
            "can you lock the front door",
            "bolt the back door please",
        ],
        chosen("door", ["front door", "back door", "garage door"]),
    ),
    query(
        "set_timer",
        "Set a timer",
        [
            "Set a timer for 10 minutes",
            "timer for 3 minutes please",
            "start a 5 minute timer",
            "count down 20 minutes",
        ],
        {"name": "minutes", "type": "integer", "description": "For how many minutes"},
    ),
    query(
        "add_note",
        "Write a note",
        [
            "Take a note: call the plumber",
            "note down that the bins go out on Friday",
            "write a note saying water the plants",
            "make a note to buy stamps",
        ],
        {"name": "text", "type": "string", "description": "What the note says"},
    ),
]


class House:
    def __init__(self, adapter: Adapter, runner: asyncio.Runner) -> None:
        self._adapter = adapter
        self._runner = runner

    def decide(self, text: str) -> tuple[Decision, Trace]:
        trace = Trace()
        turn = Turn("t", text, "s", Caller("k", "house"), datetime(2025, 6, 4, tzinfo=UTC))
        return self._runner.run(self._adapter.decider.decide(turn, trace)), trace  # type: ignore[return-value]

    def calls(self, text: str) -> list[tuple[str, dict[str, Any]]]:
        """Every call that a message leads to."""
        decision, _ = self.decide(text)
        calls = decision.calls if isinstance(decision, SeveralCalls) else (decision,)
        return [
            (call.call.template_id, dict(call.call.arguments))
            for call in calls
            if isinstance(call, Call)
        ]


@contextmanager
def opened(folder: Path, library: Path) -> Iterator[House]:
    found = configure(folder, [adapter("house", library)])
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        opening = open_adapter(found.settings, found.environ, found.settings.adapters[0])
        house = House(runner.run(stack.enter_async_context(opening)), runner)
        yield house
        runner.run(stack.aclose())


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    with opened(folder, write_library(folder / "library", TEMPLATES, DOMAIN)) as house:
        yield house


KITCHEN_OFF = ("lights_off", {"room": "kitchen"})
BEDROOM_OFF = ("lights_off", {"room": "bedroom"})
LOCK_BACK = ("lock_door", {"door": "back door"})


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("turn off the kitchen lights and lock the back door", [KITCHEN_OFF, LOCK_BACK]),
        ("Turn off the kitchen lights. Then lock the back door.", [KITCHEN_OFF, LOCK_BACK]),
        ("lock the back door, and then turn off the kitchen lights", [LOCK_BACK, KITCHEN_OFF]),
        (
            "turn off the kitchen lights, lock the back door and set a timer for 5 minutes",
            [KITCHEN_OFF, LOCK_BACK, ("set_timer", {"minutes": 5})],
        ),
    ],
)
def test_each_of_the_requests_is_a_call_in_its_order(
    house: House, text: str, calls: list[Any]
) -> None:
    assert house.calls(text) == calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("turn off the lights in the kitchen and the bedroom", [KITCHEN_OFF, BEDROOM_OFF]),
        ("turn off the kitchen and bedroom lights", [KITCHEN_OFF, BEDROOM_OFF]),
        (
            "turn off the lights in the kitchen, bedroom and hallway",
            [KITCHEN_OFF, BEDROOM_OFF, ("lights_off", {"room": "hallway"})],
        ),
        (
            "lock the front door as well as the back door",
            [("lock_door", {"door": "front door"}), LOCK_BACK],
        ),
    ],
)
def test_a_second_listed_value_is_the_same_call_again(
    house: House, text: str, calls: list[Any]
) -> None:
    assert house.calls(text) == calls


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("turn off the kitchen lights and don't lock the back door", []),
        ("if nobody is home, turn off the kitchen lights and lock the back door", []),
        ("turn off the lights in the kitchen and not in the bedroom", []),
        ("turn off the kitchen lights or lock the back door", []),
        ("turn off the kitchen lights and reboot the router when I get home", []),
        ("set a timer for 5 minutes and cancel it", []),
        ("tomorrow turn off the kitchen lights and lock the back door", []),
        ("turn off the kitchen lights and lock the back door at 10 pm", []),
        ("do you know how to turn off the kitchen lights and lock the back door", []),
    ],
)
def test_nothing_runs_where_one_part_may_change_the_other(
    house: House, text: str, calls: list[Any]
) -> None:
    assert house.calls(text) == calls


def test_a_free_text_stays_one(house: House) -> None:
    assert house.calls("make a note to buy milk and bread") == [
        ("add_note", {"text": "buy milk and bread"})
    ]
    # Two things that might each be asked for: the note, or the lock and a call. It is never split.
    assert len(house.calls("make a note to lock the front door and call Anna")) <= 1


def test_a_part_that_was_not_understood_is_left_out_and_named(house: House) -> None:
    decision, _ = house.decide("turn off the kitchen lights and reboot the router")
    assert isinstance(decision, SeveralCalls)
    assert [call.call.template_id for call in decision.calls] == ["lights_off"]
    assert decision.skipped == ("reboot the router",)


def test_what_is_said_twice_is_done_once(house: House) -> None:
    text = "turn off the kitchen lights and please turn off the kitchen lights"
    assert house.calls(text) == [KITCHEN_OFF]


def test_places_are_those_of_the_whole_message(house: House) -> None:
    text = "turn off the lights in the kitchen and the bedroom"
    decision, _ = house.decide(text)
    assert isinstance(decision, SeveralCalls)
    for call, room in zip(decision.calls, ("kitchen", "bedroom"), strict=True):
        at = text.index(room)
        source = call.call.sources["room"]
        assert (source.span, source.text) == ((at, at + len(room)), room)
        told = call.coverage.to_list()
        assert all(text[slice(*word["span"])] == word["text"] for word in told)
        assert {"text": room, "span": [at, at + len(room)], "as": "value", "of": "room"} in told


def test_a_plain_request_is_looked_at_once(house: House) -> None:
    for text in ("turn off the kitchen lights", "lock the front door please"):
        decision, trace = house.decide(text)
        assert isinstance(decision, Call)
        assert "split" not in [stage.name for stage in trace.stages]


def test_a_list_is_not_parted(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("sums")
    average = {
        "id": "average_numbers",
        "description": "Work out the average of numbers",
        "tool_type": "function",
        "nl_examples": ["average of 3 and 4", "What is the mean of 10, 20 and 30?", "mean of 1, 2"],
        "tool_name": "calculator",
        "tool_operation": "average",
        "parameters": [{"name": "values", "type": "array", "description": "The numbers"}],
    }
    library = write_library(folder / "library", [average, *TEMPLATES[2:3]], DOMAIN)
    with opened(folder, library) as house:
        for text, values in (
            ("mean of 2.5, 3.5 and 6", [2.5, 3.5, 6]),
            ("average of 7 and 9", [7, 9]),
        ):
            ((name, arguments),) = house.calls(text)
            assert (name, [float(each) for each in arguments["values"]]) == (
                "average_numbers",
                values,
            )


def test_what_only_says_which_one_is_meant_is_no_request(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    number = {"name": "number", "type": "string", "pattern": "^NL[0-9]{4}$", "example": "NL1042"}
    asked = [
        "what happened with parcel NL1042?",
        "events of tracking number NL2207",
        "when will parcel NL3318 come?",
        "how is my parcel NL4471 doing?",
        "tracking number NL5120",
        "show me parcel NL6034",
    ]
    track = query("track", "Where a parcel is", asked, number | {"description": "Number"})
    folder = tmp_path_factory.mktemp("parcels")
    library = write_library(folder / "library", [*TEMPLATES, track | {"method": "GET"}], DOMAIN)
    with opened(folder, library) as parcels:
        decision, trace = parcels.decide("How far is my parcel? Tracking number NL7782")
        assert "split" in [stage.name for stage in trace.stages]
        assert isinstance(decision, Call)
        assert decision.call.arguments == {"number": "NL7782"}
