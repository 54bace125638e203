"""The HTTP calls that an adapter's templates can make, and running one of them."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import httpx

from server.core.tools import ToolCall
from server.errors import ToolUnknown
from server.library.http import HttpExecution
from server.library.model import Library, Template
from server.tools.http.cage import Cage
from server.tools.http.engine import HttpEngine


class HttpCalls:
    """Runs templates over HTTP; a call reaches nothing but the request of its own template."""

    def __init__(self, templates: Iterable[Template], engine: HttpEngine) -> None:
        self._engine = engine
        self._runs: dict[str, tuple[HttpExecution, Mapping[str, Any]]] = {
            template.id: (template.execution, _defaults(template))
            for template in templates
            if isinstance(template.execution, HttpExecution)
        }

    @classmethod
    def of(
        cls,
        library: Library,
        transport: httpx.AsyncBaseTransport | None = None,
        *,
        cage: Cage | None = None,
    ) -> Self | None:
        """The calls of a library over a pool of its own; None when it makes none.

        Without a `cage` none but public addresses are called.
        """
        templates = library.templates.values()
        if not any(isinstance(template.execution, HttpExecution) for template in templates):
            return None
        concurrency = library.domain.http.max_concurrency
        return cls(
            templates, HttpEngine(max_concurrency=concurrency, transport=transport, cage=cage)
        )

    async def run(self, call: ToolCall, *, timeout_s: float) -> dict[str, Any]:
        """Make the call of `call.template_id` and return its mapped answer.

        Raises:
            ToolUnknown: that template makes no HTTP call.
            ToolError: as `HttpEngine.run`.
        """
        try:
            execution, defaults = self._runs[call.template_id]
        except KeyError:
            raise ToolUnknown(f"template {call.template_id!r} makes no HTTP call") from None
        return await self._engine.run(
            execution, {**defaults, **call.arguments}, timeout_s=timeout_s
        )

    async def close(self) -> None:
        await self._engine.close()


def _defaults(template: Template) -> Mapping[str, Any]:
    return {p.name: p.default for p in template.parameters if p.default is not None}
