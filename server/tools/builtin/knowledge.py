"""The tool of templates that are answers already: it does nothing, and cannot fail.

A template whose `response_template` holds all there is to say still needs a tool to run.
This one is not among the shipped names; configuration gives it one where it is wanted:

    tools:
      knowledge: tools.builtin.knowledge.Knowledge
"""

from typing import Any

from server.core.tools import ToolDefinition
from server.tools.builtin.operations import Arguments, BuiltinTool, Operation


class Knowledge(BuiltinTool):
    """tell."""

    def __init__(self) -> None:
        definition = ToolDefinition("tell", "Let the template's own text be the answer", ())
        super().__init__("knowledge", (Operation(definition, _tell),))


def _tell(arguments: Arguments) -> dict[str, Any]:
    return {"result": "told", "operation": "tell", "input": dict(arguments)}
