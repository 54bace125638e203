"""Step 1: the template exists here, and the call is the one that it makes."""

from server.library.model import BuiltinExecution, Template
from server.tools.policy.proposal import Check, Proposal, Refusal
from server.tools.registry import ToolRegistry


def unknown_template(proposal: Proposal) -> Refusal:
    return Refusal("tool_unknown", f"there is no tool {proposal.call.template_id[:80]!r} here")


def tool_check(template: Template, registry: ToolRegistry) -> Check:
    """Tool and operation come from the template; a call that names others is refused."""
    execution = template.execution
    tool, operation = execution.tool, execution.operation
    there = not isinstance(execution, BuiltinExecution) or (
        tool in registry.names and operation in registry.get(tool).operations
    )

    def check(proposal: Proposal) -> Refusal | None:
        call = proposal.call
        if call.tool != tool or call.operation != operation:
            return Refusal("tool_unknown", f"{template.id!r} does not run that tool")
        if not there:
            return Refusal("tool_unknown", f"the tool of {template.id!r} is not there")
        return None

    return check
