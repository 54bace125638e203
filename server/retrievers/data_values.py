"""Values that no data have are asked about before anything is run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from server.core.decision import (
    Call,
    Clarify,
    Decision,
    MissingArguments,
    NoMatch,
    SeveralCalls,
    Trace,
)
from server.core.ports import DataValues, Decider
from server.core.tools import Source, ToolCall
from server.core.turn import Turn
from server.library.model import Library, Template
from server.library.rendering import render
from server.library.sql_model import SqlExecution
from server.retrievers.followups.context import FollowUpDecision
from server.retrievers.followups.decider import FollowUpDecider
from server.text.language import shipped_message

_NO_SOURCE: Final = Source("default")
_UNKNOWN: Final = "unknown_value"


class DataValuesDecider:
    """Stands before the deciders of an adapter whose arguments are compared with data.

    A value that stands in the data in another case is put as it stands there; one that does not
    stand there is asked about, with the nearest. What was said and changes nothing about the
    statement was not read. It looks values up and runs no call.
    """

    def __init__(
        self, following: Decider | FollowUpDecider, library: Library, values: DataValues
    ) -> None:
        self._following, self._library, self._values = following, library, values

    async def decide(self, turn: Turn, trace: Trace) -> Decision | FollowUpDecision:
        """Decide what the next one does, with values as the data have them.

        Raises:
            ProviderError: the question could not be embedded.
        """
        decided = await self._following.decide(turn, trace)
        if isinstance(decided, FollowUpDecision):
            decision = await self._checked(decided.decision, turn, trace)
            return replace(decided, decision=decision)
        return await self._checked(decided, turn, trace)

    async def close(self) -> None:
        await self._values.close()
        await self._following.close()

    async def _checked(self, decision: Decision, turn: Turn, trace: Trace) -> Decision:
        if isinstance(decision, Call):
            checked = await self._checked_call(decision, turn, trace)
            if isinstance(checked, MissingArguments):
                return await self._told_by_data(decision.alternatives, trace) or checked
            return checked
        if isinstance(decision, Clarify):
            alone = len(decision.alternatives) >= len(decision.options)
            told = await self._told_by_data(decision.alternatives, trace) if alone else None
            return told or decision
        if not isinstance(decision, SeveralCalls):
            return decision
        calls: list[Call] = []
        for each in decision.calls:
            checked = await self._checked_call(each, turn, trace)
            if not isinstance(checked, Call):
                return checked
            calls.append(checked)
        return replace(decision, calls=tuple(calls))

    async def _checked_call(
        self, call: Call, turn: Turn, trace: Trace
    ) -> Call | MissingArguments | NoMatch:
        template = self._library.templates.get(call.call.template_id)
        if template is None:
            return call
        if idle := idle_arguments(template, call.call):
            trace.note("data", {"idle": list(idle)})
            return _unread(call, idle)
        written, near = await self._looked_up(template, call.call)
        if len(near) == 1 and (moved := await self._moved(template, call.call, *near)) is not None:
            return replace(call, call=replace(moved, arguments={**moved.arguments, **written}))
        if written or near:
            trace.note("data", {"written": written, "unknown": sorted(near)})
        if not near:
            arguments = {**call.call.arguments, **written}
            return replace(call, call=replace(call.call, arguments=arguments)) if written else call
        given = {k: v for k, v in call.call.arguments.items() if k not in near}
        sources = {name: one for name, one in call.call.sources.items() if name in given}
        missing = tuple(
            replace(
                parameter.missing(self._problem(parameter.name, call, near, turn)),
                choices=near[parameter.name],
                open_ended=True,
            )
            for parameter in template.parameters
            if parameter.name in near
        )
        return MissingArguments(call.match, missing, given | written, sources, call.coverage)

    async def _told_by_data(self, calls: Sequence[Call], trace: Trace) -> Call | None:
        """The one of several calls whose values are all there; None where that is not just one."""
        fitting: list[Call] = []
        for call in calls:
            template = self._library.templates.get(call.call.template_id)
            if template is None:
                return None
            written, near = await self._looked_up(template, call.call)
            names = await self._known(template, call.call, written)
            if not near and not names:
                return None  # nothing says that it is not this one
            if not near:
                arguments = {**call.call.arguments, **written}
                fitting.append(replace(call, call=replace(call.call, arguments=arguments)))
        if len(fitting) != 1:
            return None
        trace.note("data", {"tell": fitting[0].match.template_id})
        return fitting[0]

    async def _known(
        self, template: Template, call: ToolCall, written: Mapping[str, str]
    ) -> list[str]:
        """The arguments that stand in the data."""
        found: list[str] = []
        for parameter in template.parameters:
            value = written.get(parameter.name, call.arguments.get(parameter.name))
            if isinstance(value, str) and not parameter.enum:
                one = await self._values.find(template.id, parameter.name, value)
                found += [parameter.name] if one is not None and one.value is not None else []
        return found

    async def _moved(self, template: Template, call: ToolCall, name: str) -> ToolCall | None:
        """The call with a value where the data have it, if that is one other optional place."""
        value, source = call.arguments[name], call.sources.get(name, _NO_SOURCE)
        required = {parameter.name for parameter in template.parameters if parameter.required}
        if name in required:
            return None
        open_to = [
            p.name
            for p in template.parameters
            if p.type == "string" and not p.enum and p.name not in call.arguments
        ]
        found: dict[str, str] = {}
        for other in open_to:
            one = await self._values.find(template.id, other, value)
            if one is not None and one.value is not None:
                found[other] = one.value
        if len(found) != 1:
            return None
        kept = {k: v for k, v in call.arguments.items() if k != name}
        sources = {k: v for k, v in call.sources.items() if k != name}
        return replace(call, arguments=kept | found, sources=sources | dict.fromkeys(found, source))

    async def _looked_up(
        self, template: Template, call: ToolCall
    ) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
        """Values as the data write them, and those near to values that are not there."""
        written: dict[str, str] = {}
        near: dict[str, tuple[str, ...]] = {}
        for parameter in template.parameters:
            value = call.arguments.get(parameter.name)
            if not isinstance(value, str) or value == parameter.default:
                continue
            source = call.sources.get(parameter.name, _NO_SOURCE)
            if source.kind == "vocabulary" and (said := source.text) and not _same(said, value):
                # What was read as a slip may be a value that came since.
                said_so = await self._values.find(template.id, parameter.name, said)
                value = (said_so and said_so.value) or value
            found = await self._values.find(template.id, parameter.name, value)
            if found is None:
                continue
            if found.value is None:
                near[parameter.name] = found.near
            elif found.value != call.arguments[parameter.name]:
                written[parameter.name] = found.value
        return written, near

    def _problem(
        self, name: str, call: Call, near: Mapping[str, tuple[str, ...]], turn: Turn
    ) -> str:
        response = self._library.domain.response
        language = response.choose_language(turn.languages)
        text = shipped_message(_UNKNOWN, language) or shipped_message(_UNKNOWN, "en") or ""
        said = {"name": name.replace("_", " "), "value": call.call.arguments[name]}
        return render(text, said | {"near": list(near[name])})


def idle_arguments(template: Template, call: ToolCall) -> tuple[str, ...]:
    """The arguments that the question gave, and that change nothing about the statement."""
    if not isinstance(template.execution, SqlExecution):
        return ()
    sql = template.execution.sql
    return tuple(
        parameter.name
        for parameter in template.parameters
        if (source := call.sources.get(parameter.name)) is not None
        and source.span is not None
        and parameter.name in sql.names
        and not sql.heeds(parameter.name, call.arguments, parameter.enum or ())
    )


def _unread(call: Call, names: Sequence[str]) -> NoMatch:
    """The words of arguments that have no use are words that nothing took."""
    coverage = call.coverage
    for name in names:
        if (span := call.call.sources[name].span) is not None:
            coverage = coverage.without_use(*span, "word")
    why = f"nothing says what {', '.join(names)} is about"
    return NoMatch(why, (call.match,), coverage.phrases("unread"), coverage=coverage)


def _same(said: str, value: str) -> bool:
    return said.casefold() == value.casefold()
