"""Calls of tools: through the pipeline of `/chat`, with its answer as the result."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

import jsonschema_rs
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp_types import (
    INVALID_PARAMS,
    Annotations,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequests,
    InputRequiredResult,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from server.chat.adapter import Adapter
from server.chat.pipeline import run_call, run_confirmation, run_turn
from server.core.decision import (
    Answer,
    Clarify,
    ClarifyingQuestion,
    MissingArguments,
    PendingConfirmation,
)
from server.core.json import to_json
from server.core.suggestions import did_you_mean
from server.core.tools import ToolResultStatus
from server.core.turn import Turn
from server.errors import OrbitError, ProposalUnknown, RequestInvalid
from server.mcp.peer import Peer
from server.mcp.tools import (
    ASK,
    ASK_SCHEMA,
    CONFIRM,
    CONFIRM_SCHEMA,
    describe_arguments,
    named_templates,
    plain,
)
from server.tools.policy.checks import size_problem

Context = ServerRequestContext[Any, Any]
Result = CallToolResult | InputRequiredResult

_CONFIRMATION: Final = "confirmation"
"""The name of the one thing that is asked of a person while a call waits."""
_YES_OR_NO: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}
"""Accepting the form is the yes, and declining it the no."""


async def call_tool(peer: Peer, ctx: Context, params: CallToolRequestParams) -> Result:
    """Answer a call; a failure that has a name is a result that says so.

    Raises `MCPError`: there is no such tool.
    """
    try:
        if params.request_state is not None:
            return await _go_on(peer, params)
        return await _call(peer, ctx, params.name, params.arguments or {})
    except OrbitError as failed:
        body = plain(peer.host.describe_failure(failed, peer.request_id))
        text = TextContent(text=body["error"]["message"])
        return CallToolResult(content=[text], structured_content=body, is_error=True)


async def _call(peer: Peer, ctx: Context, name: str, arguments: Mapping[str, Any]) -> Result:
    adapter = peer.adapter()
    if name == CONFIRM and adapter.proposals is not None:
        _check(CONFIRM, CONFIRM_SCHEMA, arguments)
        session_id, proposal_id = arguments["session_id"], arguments["proposal_id"]
        return await _confirm(peer, session_id, proposal_id, accept=arguments["accept"])
    if name == ASK:
        _check(ASK, ASK_SCHEMA, arguments)
        turn = peer.turn(_question(peer, arguments["question"]), arguments.get("session_id"))
        answer = await run_turn(adapter, turn, timeout_s=peer.host.turn_timeout_s)
        return await _settle(peer, ctx, turn, answer, _result(answer, turn, asked=True))
    named = named_templates(adapter)
    if name not in named:
        known = [*named, ASK, CONFIRM]
        raise MCPError(
            INVALID_PARAMS, f"there is no tool {name[:80]!r}; {did_you_mean(name, known)}"
        )
    found = named[name]
    turn = peer.turn(_in_words(name, arguments), None)
    answer = await run_call(
        adapter,
        turn,
        found.source.name,
        found.template.id,
        arguments,
        timeout_s=peer.host.turn_timeout_s,
    )
    result = _result(answer, turn)
    if answer.metadata.get("policy", {}).get("outcome") == "arguments_invalid":
        result.content.append(_for_model(describe_arguments(found.template)))
    return await _settle(peer, ctx, turn, answer, result)


async def _settle(
    peer: Peer, ctx: Context, turn: Turn, answer: Answer, result: CallToolResult
) -> Result:
    """Ask for the yes that a call waits for, where the client can; else its answer is the result.

    As the protocol is now, the client calls once more with what was said (`_go_on`); before, it
    was asked over the connection, which only standard input and output keeps open.
    """
    waits = answer.decision
    if not isinstance(waits, PendingConfirmation) or not _can_ask(ctx):
        return result
    form = ElicitRequestFormParams(
        message=answer.content, requested_schema=dict(_YES_OR_NO), mode="form"
    )
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        # No secret, and nothing to trust: whose proposal it is, the store knows.
        state = f"{turn.session_id} {waits.proposal_id}"
        asked: InputRequests = {_CONFIRMATION: ElicitRequest(params=form)}
        return InputRequiredResult(input_requests=asked, request_state=state)
    try:
        async with asyncio.timeout((waits.expires_at - datetime.now(UTC)).total_seconds()):
            reply = await ctx.session.elicit_form(
                form.message, form.requested_schema, related_request_id=ctx.request_id
            )
    except (MCPError, TimeoutError):
        return result  # nobody said anything, so it goes on waiting
    accept = reply.action == "accept"
    return await _confirm(peer, turn.session_id, waits.proposal_id, accept=accept)


async def _go_on(peer: Peer, params: CallToolRequestParams) -> CallToolResult:
    """Go on with a call that waited for a person's yes; leaving the form open is a no."""
    session_id, _, proposal_id = (params.request_state or "").partition(" ")
    reply = (params.input_responses or {}).get(_CONFIRMATION)
    if not proposal_id or not isinstance(reply, ElicitResult):
        raise RequestInvalid(
            "this goes on with no call that was asked about: send 'requestState' as it came, and "
            f"what the person said as {_CONFIRMATION!r} in 'inputResponses'"
        )
    return await _confirm(peer, session_id, proposal_id, accept=reply.action == "accept")


def _can_ask(ctx: Context) -> bool:
    """Whether the client shows a person a form, and there is a way to ask for it."""
    capabilities = ctx.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None or (elicitation.form is None and elicitation.url is not None):
        return False
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or ctx.session.can_send_request


async def _confirm(
    peer: Peer, session_id: str, proposal_id: str, *, accept: bool
) -> CallToolResult:
    adapter: Adapter = peer.adapter()
    if adapter.proposals is None:
        raise ProposalUnknown("this conversation has no proposal of that id")
    turn = peer.turn("yes" if accept else "no", session_id)
    answer = await run_confirmation(
        adapter, turn, proposal_id, accept=accept, timeout_s=peer.host.turn_timeout_s
    )
    return _result(answer, turn)


def _result(answer: Answer, turn: Turn, *, asked: bool = False) -> CallToolResult:
    """The answer, and beside it what a model needs to go on: many are shown nothing but text."""
    content, proposal = [TextContent(text=answer.content)], answer.metadata.get("proposal", {})
    session = f"session_id {turn.session_id!r}"
    if proposal.get("status") == "held":
        content.append(
            _for_model(
                f"Nothing was done yet. When the person has said yes or no, call {CONFIRM} with "
                f"proposal_id {proposal['proposal_id']!r}, {session}, and accept true or false."
            )
        )
    elif isinstance(answer.decision, MissingArguments | Clarify | ClarifyingQuestion):
        content.append(_for_model(f"To answer, call {ASK} with the reply and {session}."))
    elif asked:
        content.append(_for_model(f"To go on with this conversation: {session}."))
    status = answer.metadata.get("tool_execution", {}).get("status", ToolResultStatus.SUCCESS)
    body = plain(answer.to_dict(turn.session_id))
    content[0] = TextContent(text=body["content"])
    failed = status != ToolResultStatus.SUCCESS
    return CallToolResult(content=list(content), structured_content=body, is_error=failed)


def _for_model(text: str) -> TextContent:
    return TextContent(text=text, annotations=Annotations(audience=["assistant"]))


def _question(peer: Peer, question: str) -> str:
    most = peer.host.max_message_chars
    if not question.strip():
        raise RequestInvalid("'question' is empty: write a question into it")
    if len(question) > most:
        raise RequestInvalid(f"'question' has {len(question)} characters; the most is {most}")
    return question


def _in_words(name: str, arguments: Mapping[str, Any]) -> str:
    """How a conversation remembers a call that nobody put into words."""
    if size_problem(arguments) is not None:
        return name
    said = [f"{argument}={to_json(value)}" for argument, value in arguments.items()]
    return f"{name} {', '.join(said)}" if said else name


def _check(tool: str, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """Raise RequestInvalid where one of the server's own tools is called with something else."""
    problems = [
        f"{'.'.join(map(str, error.instance_path)) or 'arguments'}: {error.message}"
        for error in _validator(tool).iter_errors(dict(arguments))
    ]
    if problems:
        takes = ", ".join(
            f"{name} ({part['type']}{', required' if name in schema['required'] else ''})"
            for name, part in schema["properties"].items()
        )
        raise RequestInvalid(f"{'; '.join(problems[:3])}. {tool} takes {takes}")


@cache
def _validator(tool: str) -> Any:
    return jsonschema_rs.validator_for(dict({ASK: ASK_SCHEMA, CONFIRM: CONFIRM_SCHEMA}[tool]))
