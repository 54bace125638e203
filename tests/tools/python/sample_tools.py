"""Functions for templates of tests."""

import asyncio
import time
from typing import Any

from server.errors import ToolFailed


def greet(user_id: str, name: str, excited: bool = False) -> dict[str, Any]:
    return {"greeting": f"{user_id} greets {name}{'!' if excited else ''}"}


async def count(number: int) -> int:
    await asyncio.sleep(0)
    return number + 1


def whoami(caller_user_id: str, caller_role: str) -> str:
    return f"{caller_user_id}, {caller_role}"


def refuse(name: str) -> str:
    raise ToolFailed(f"{name} is not wanted")


def break_down(name: str) -> str:
    raise TimeoutError(f"internal: {name}")


def sleep(number: int) -> None:
    time.sleep(number / 1000)


async def doze(number: int) -> None:
    await asyncio.sleep(number / 1000)


NOT_A_FUNCTION = 5
