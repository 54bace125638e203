"""Tool results kept in a file, so that a library is tested without the services it calls."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from server.core.json import to_json
from server.core.tools import ToolCall, ToolResult
from server.errors import RequestInvalid
from server.tools.policy.chain import Runner

_VERSION: Final = 1


class Cassette:
    """What calls came to, by template and arguments; the last of two that are the same counts."""

    def __init__(self, results: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._results = dict(results or {})

    @classmethod
    def read(cls, path: Path) -> "Cassette":
        """Read a cassette. Raises `RequestInvalid`: it cannot be read, or is none."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["version"] != _VERSION:
                raise RequestInvalid(f"{path} is a cassette of version {data['version']}")
            return cls({entry["call"]: entry["result"] for entry in data["results"]})
        except OSError as failed:
            raise RequestInvalid(f"{path} cannot be read: {failed.strerror}") from failed
        except (ValueError, KeyError, TypeError) as broken:
            raise RequestInvalid(f"{path} is no cassette that --record wrote") from broken

    def write(self, path: Path) -> None:
        """Write it, in an order that changes little. Raises `RequestInvalid`."""
        results = [{"call": key, "result": self._results[key]} for key in sorted(self._results)]
        text = to_json({"version": _VERSION, "results": results}, indent=2)
        try:
            path.write_text(text + "\n", encoding="utf-8")
        except OSError as failed:
            raise RequestInvalid(f"{path} cannot be written: {failed.strerror}") from failed

    def __len__(self) -> int:
        return len(self._results)

    def keep(self, call: ToolCall, result: ToolResult) -> None:
        self._results[_key(call)] = json.loads(to_json(result.to_dict()))

    def find(self, call: ToolCall) -> ToolResult | None:
        kept = self._results.get(_key(call))
        if kept is None:
            return None
        fields = {"result": None, "error_message": None, **kept}
        return ToolResult(**fields)


class Recording:
    """Runs calls and keeps what they come to."""

    def __init__(self, runner: Runner, cassette: Cassette) -> None:
        self._runner, self._cassette = runner, cassette

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:
        result = await self._runner.execute(call, timeout_s=timeout_s)
        if call.effect == "read":
            self._cassette.keep(call, result)
        return result

    async def aclose(self) -> None:
        await self._runner.aclose()


class Replaying:
    """Gives what was kept, and makes no call."""

    def __init__(self, runner: Runner, cassette: Cassette) -> None:
        self._runner, self._cassette = runner, cassette

    async def execute(self, call: ToolCall, *, timeout_s: float) -> ToolResult:  # noqa: ARG002
        kept = self._cassette.find(call)
        if kept is not None:
            return kept
        return ToolResult.of_no_call(call, "this call was not recorded")

    async def aclose(self) -> None:
        await self._runner.aclose()


def _key(call: ToolCall) -> str:
    return to_json([call.template_id, dict(sorted(call.arguments.items()))])
