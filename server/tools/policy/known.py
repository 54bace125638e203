"""Step 1: the template exists here, and the call is the one that it makes."""

from collections.abc import Mapping
from dataclasses import dataclass

from server.library.model import BuiltinExecution, Template
from server.tools.policy.proposal import Judged, Proposal, Refusal
from server.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class KnownTool:
    templates: Mapping[str, Template]
    registry: ToolRegistry

    def judge(self, proposal: Proposal) -> Judged | Refusal:
        """Find the template. Tool and operation come from it; a call that names others fails."""
        call = proposal.call
        template = self.templates.get(call.template_id)
        if template is None:
            return Refusal("tool_unknown", f"there is no tool {call.template_id[:80]!r} here")
        execution = template.execution
        if (call.tool, call.operation) != (execution.tool, execution.operation):
            return Refusal("tool_unknown", f"{template.id!r} does not run that tool")
        if isinstance(execution, BuiltinExecution) and (
            execution.tool not in self.registry.names
            or execution.operation not in self.registry.get(execution.tool).operations
        ):
            return Refusal("tool_unknown", f"the tool of {template.id!r} is not there")
        return Judged(proposal, template, call.arguments, {})
