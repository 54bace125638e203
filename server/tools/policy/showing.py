"""A call and its result as they may be shown: without what is sensitive."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from server.core.redaction import Redactor, Secrets
from server.core.tools import ToolCall, ToolResult


def shown_arguments(redactor: Redactor, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    if not redactor:
        return arguments
    # The same words may stand in an argument beside the sensitive one.
    shown: dict[str, Any] = redactor.secrets(arguments).data(redactor.arguments(arguments))
    return shown


def shown_call(redactor: Redactor, call: ToolCall, arguments: Mapping[str, Any]) -> ToolCall:
    """The call with `arguments`, which may be shown, and sources that may be."""
    if not redactor:
        return call
    secrets = redactor.secrets(call.arguments)
    sources = {
        name: replace(source, text=secrets.text(source.text)) if source.text else source
        for name, source in redactor.sources(call.sources).items()
    }
    return replace(call, arguments=arguments, sources=sources)


def shown_result(
    redactor: Redactor, secrets: Secrets, result: ToolResult, parameters: Mapping[str, Any]
) -> ToolResult:
    """Also what the tool repeats of its arguments is taken out."""
    found = result.result
    if isinstance(found, Mapping):
        found = redactor.arguments(found)
    message = result.error_message
    return replace(
        result,
        parameters=parameters,
        result=secrets.data(found),
        error_message=None if message is None else secrets.text(message),
    )
