"""Tools as an operator might write them, good and bad."""

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from server.core.tools import ToolDefinition, ToolParameter


class Greeter:
    """A tool of an operator's own, with nothing of ours but the types."""

    name = "greeter"
    operations: Mapping[str, ToolDefinition] = {
        "greet": ToolDefinition(
            "greet", "Greet somebody", (ToolParameter("who", "string", "Whom to greet"),)
        ),
        "wave": ToolDefinition("wave", "Wave"),
    }

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        words = f"Hello, {arguments['who']}!" if operation == "greet" else "👋"
        return {"result": words, "operation": operation, "input": dict(arguments)}


class Settable(Greeter):
    """Takes what a registry offers, by name."""

    name = "settable"

    def __init__(self, *, date_order: str, clock: Callable[[], datetime] | None = None) -> None:
        self.date_order = date_order
        self.clock = clock


class Broken(Greeter):
    """Fails in a way that no contract names."""

    name = "broken"

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RuntimeError("password=hunter2")


class Exiting(Greeter):
    name = "exiting"

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        raise SystemExit(3)


class Silent(Greeter):
    name = "silent"

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"answer": 42}


class Gated(Greeter):
    """Does not answer before its gate opens. Says how many calls are inside."""

    name = "gated"

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.inside = threading.Semaphore(0)

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        self.inside.release()
        self.gate.wait()
        return super().run(operation, arguments)


class Sleeper(Greeter):
    """Blocks its thread for a moment."""

    name = "sleeper"

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        time.sleep(0.02)
        return super().run(operation, arguments)


class Witness(Greeter):
    """Answers with the name of the thread it ran in."""

    name = "witness"

    def __init__(self, *, quick: bool) -> None:
        self.quick = quick

    def run(self, operation: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"result": threading.current_thread().name}


class Demanding(Greeter):
    name = "demanding"

    def __init__(self, secret: str) -> None:
        self.secret = secret


class Nameless:
    def run(self) -> None: ...


class Undefined(Greeter):
    name = "undefined"
    operations = {"greet": "hello"}  # type: ignore[dict-item]  # noqa: RUF012
