"""Notifications in the shape of ntfy: `POST /` with `{"topic": …, "message": …}`."""

import itertools
import re

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

_TOPIC = re.compile(r"[-_A-Za-z0-9]{1,64}")


def routes() -> list[Route]:
    numbers = itertools.count(1)

    async def publish(request: Request) -> JSONResponse:
        try:
            message = await request.json()
        except ValueError:
            message = None
        if not isinstance(message, dict):
            return _refuse(40017, "invalid request: request body must be message JSON")
        topic = message.get("topic", "")
        if not isinstance(topic, str) or not _TOPIC.fullmatch(topic):
            return _refuse(40009, "invalid request: topic invalid")
        priority = message.get("priority", 3)
        if not isinstance(priority, int) or not 1 <= priority <= 5:
            return _refuse(40007, "invalid priority parameter")
        number = next(numbers)
        sent = {
            "id": f"demo{number:08}",
            "time": 1_735_689_600 + number,
            "expires": 1_735_732_800 + number,
            "event": "message",
            "topic": topic,
            "message": str(message.get("message") or "triggered"),
        }
        if "title" in message:
            sent["title"] = str(message["title"])
        if priority != 3:
            sent["priority"] = priority
        return JSONResponse(sent)

    return [Route("/", publish, methods=["POST"])]


def _refuse(code: int, error: str) -> JSONResponse:
    return JSONResponse({"code": code, "http": 400, "error": error}, status_code=400)
