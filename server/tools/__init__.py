"""Tools: found, checked, called, and kept within the policy of their templates.

`registry` has the tools by name, `executor` runs calls, `template_lint` checks templates
against tools. `builtin` are the tools that ship, `http` calls services, `python` functions,
`functions` makes tools of functions, and `policy` is the chain that every call passes.
"""

from server.core.tools import ToolDefinition, ToolParameter, ToolResult, ToolResultStatus
from server.tools.executor import ToolExecutor
from server.tools.functions import BuiltinTools
from server.tools.registry import ToolRegistry

__all__ = [
    "BuiltinTools",
    "ToolDefinition",
    "ToolExecutor",
    "ToolParameter",
    "ToolRegistry",
    "ToolResult",
    "ToolResultStatus",
]
