"""A route without what FastAPI does around one."""

from starlette.routing import Route
from starlette.types import Receive, Scope, Send


class DirectRoute(Route):
    """For what is asked most, and reads its request itself.

    FastAPI's own route of that path stays for the documentation: finding it, its stacks of
    contexts and its dependencies would take a fifth of the time of an answer.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self
        await super().handle(scope, receive, send)
