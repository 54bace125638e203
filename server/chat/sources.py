"""Several adapters behind one, as they are during one turn, and their answers through it."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Final

from server.chat.adapter import Adapter
from server.chat.question import guard_turn
from server.chat.redact import hide_words, is_private, withhold_words
from server.chat.respond import phrase
from server.core.decision import Answer, Call, Decision, NoMatch, SeveralCalls, Trace
from server.core.sources import SourceName, UnansweredSource, qualified_id, shared_ending
from server.core.tools import ToolDefinition
from server.core.turn import Caller, Turn
from server.errors import AdapterUnavailable, OrbitError, RateLimited
from server.intents.detector import Detection
from server.library.model import Domain, Library, ResponseConfig, Template
from server.retrievers.followups.context import FollowUpDecision
from server.retrievers.implementations.intent.composite import NOT_REACHED, SourceAnswer

Understand = Callable[[Adapter, Turn, Trace], Awaitable[tuple[FollowUpDecision, Detection | None]]]
"""What the pipeline makes of a question in one adapter, before anything runs."""

_LIMITED: Final = "it was asked as often as its limit, {}, allows"
_LATE: Final = "it took too long to decide"


@dataclass(frozen=True, slots=True)
class AdapterSource:
    """One of several adapters, which a turn holds; what it found out is put into the trace."""

    name: SourceName
    adapter: Adapter
    understand: Understand
    trace: Trace
    leases: ExitStack
    within_s: float

    @property
    def library(self) -> Library:
        return self.adapter.library

    async def ask(self, turn: Turn) -> SourceAnswer | UnansweredSource:
        """Ask it as if the question had come to it: its guard judges, and its deciders decide."""
        adapter, trace, detection = self.adapter, Trace(), None
        try:
            async with asyncio.timeout(self.within_s):
                guarded = await guard_turn(adapter, turn, trace, self.leases, routed=True)
                if guarded.decision is not None:
                    decided = FollowUpDecision(guarded.decision)
                else:
                    decided, detection = await self.understand(adapter, turn, trace)
        except (OrbitError, TimeoutError) as failed:
            if adapter.sensitive_templates:
                hide_words(trace)
            why = failed.public if isinstance(failed, OrbitError) else _LATE
            return UnansweredSource(self.name, why, is_down=True)
        finally:
            for stage in trace.stages:
                stage.name = f"{adapter.name}: {stage.name}"
            self.trace.stages += trace.stages
        private = bool(adapter.sensitive_templates) and is_private(adapter, trace, decided.decision)
        return SourceAnswer(self.name, decided, detection, private)

    def call(self, template_id: str, turn: Turn, known: Mapping[str, Any]) -> Decision:
        """Return the call of one of its templates; raises AdapterUnavailable where it has none."""
        if self.adapter.to_template is None:
            raise AdapterUnavailable(f"adapter {self.adapter.name!r} cannot be led to a template")
        return self.adapter.to_template(template_id, turn, known)


async def with_sources(
    adapter: Adapter, understand: Understand, trace: Trace, leases: ExitStack, *, within_s: float
) -> Adapter:
    """The adapter with those behind it as they are now, which `leases` hold until the turn ends.

    Its library is theirs together, to speak of; each decides and acts by its own. One that takes
    more than `within_s` seconds to decide is not waited for.

    Raises:
        AdapterUnavailable: none of them serves.
    """
    assert adapter.composite is not None  # noqa: S101  what has others behind it decides by that
    if adapter.resolve_adapter is None:
        raise AdapterUnavailable(f"only a server opens what adapter {adapter.name!r} asks")
    sources, down = list[AdapterSource](), list[UnansweredSource]()
    for name in adapter.sources:
        try:
            child = adapter.resolve_adapter(name.adapter)
        except OrbitError as failed:
            down.append(UnansweredSource(name, failed.public, is_down=True))
            continue
        limit = await _reached_limit(child)
        if limit is not None:
            down.append(UnansweredSource(name, _LIMITED.format(limit), is_down=True))
            continue
        leases.enter_context(child.leases.hold())
        sources.append(AdapterSource(name, child, understand, trace, leases, within_s))
    if not sources:
        why = "; ".join(each.why for each in down)
        raise AdapterUnavailable(f"adapter {adapter.name!r} has none to ask: {why}")
    return replace(
        adapter,
        library=_together(adapter, {each.name.adapter: each.library for each in sources}),
        decider=adapter.composite.bound_to(sources, down),
        behind={each.name.adapter: each.adapter for each in sources},
    )


async def count_sources(adapters: Sequence[Adapter]) -> None:
    """Count a question against the limits of those that answer it, as if it had come to them.

    Raises:
        RateLimited: a limit was reached since it was looked at.
        StoreUnavailable: the counts cannot be reached.
    """
    for adapter in adapters:
        if adapter.limits is None or not adapter.rate_limits:
            continue
        refused = await adapter.limits.take(adapter.rate_limits, "adapter", adapter.name)
        if refused is not None:
            adapter.metrics.rate_limited(adapter.name)
            what = f"the limit of adapter {adapter.name!r}, {refused.limit}, is reached"
            raise RateLimited(f"{what}; try again later", retry_after_s=refused.reset_s)


def answer_of_source(adapter: Adapter, by: Adapter, answer: Answer) -> Answer:
    """An answer of one of several adapters, as the one before them gives it: it says whose."""
    if by.name not in adapter.behind:
        return answer
    metadata = {**answer.metadata, "answered_by": adapter.describe_source(by.name)}
    decision = shared_ending(by.name, answer.decision)
    return replace(answer, metadata=metadata, decision=decision)


def withhold_words_of(callers: Sequence[Adapter], decision: SeveralCalls) -> SeveralCalls:
    """Calls of several adapters, as `withhold_words` shows those of one."""
    shown = map(withhold_words, callers, decision.calls)
    return replace(decision, calls=tuple(call for call in shown if isinstance(call, Call)))


def with_unanswered(
    adapter: Adapter,
    by: Adapter,
    turn: Turn,
    answer: Answer,
    unanswered: Sequence[UnansweredSource],
) -> Answer:
    """The answer with what it says of sources that were named in vain."""
    told = [adapter.describe_source(one.source.adapter) | {"why": one.why} for one in unanswered]
    metadata = {**answer.metadata, "unanswered": told}
    language = adapter.library.domain.response.choose_language(turn.languages)
    said = [
        phrase(
            adapter.library,
            "source_unavailable" if one.is_down else "source_without_answer",
            {"source": one.source.label},
            language,
        )
        for one in unanswered
    ]
    decision = answer.decision
    is_all = isinstance(decision, NoMatch) and decision.objection == NOT_REACHED
    content, kept = (
        "\n\n".join([*([] if is_all else [under_source(adapter, by, one)]), *said])
        for one in (answer.content, answer.kept_content)
    )
    return replace(answer, content=content, kept=kept, metadata=metadata)


def under_source(adapter: Adapter, by: Adapter, content: str) -> str:
    """A text under the name of the one of several adapters whose it is."""
    if by.name not in adapter.behind:
        return content
    label = adapter.describe_source(by.name)["label"]
    between = "\n" if "\n" in content else " "
    return f"**{label}:**{between}{content}"


async def _reached_limit(adapter: Adapter) -> str | None:
    if adapter.limits is None or not adapter.rate_limits:
        return None
    refused = await adapter.limits.peek(adapter.rate_limits, "adapter", adapter.name)
    return None if refused is None else refused.limit


def shared_library(adapter: Adapter) -> Library:
    """The library of an adapter; of one with others behind it, of those that serve together."""
    if adapter.composite is None:
        return adapter.library
    return _together(adapter, {one.name: one.library for one in serving_sources(adapter)})


@dataclass(frozen=True, slots=True)
class OpenTemplate:
    """A template that a caller may run; `id` is how the adapter that was asked knows it."""

    id: str
    source: Adapter
    template: Template


def templates_open_to(adapter: Adapter, caller: Caller) -> list[OpenTemplate]:
    """What a caller may run, by an adapter or by those behind it, whatever the intent."""
    own = [OpenTemplate(t.id, adapter, t) for t in adapter.chain.open_to(caller, any_intent=True)]
    behind = [
        OpenTemplate(qualified_id(one.name, template.id), one, template)
        for one in serving_sources(adapter)
        for template in one.chain.open_to(caller, any_intent=True)
    ]
    return [*own, *behind]


def tools_open_to(adapter: Adapter, caller: Caller) -> list[ToolDefinition]:
    """What a caller may run, as tools, under the names of `open_tools`."""
    return [
        replace(each.template.to_tool_definition(), name=name)
        for name, each in _named(templates_open_to(adapter, caller))
    ]


def open_tools(adapter: Adapter, caller: Caller) -> dict[str, OpenTemplate]:
    """What a caller may run, by name; one that two sources have begins with the adapter's."""
    found = dict[str, OpenTemplate]()
    for name, each in _named(templates_open_to(adapter, caller)):
        found.setdefault(name, each)
    return found


def _named(templates: Sequence[OpenTemplate]) -> Iterator[tuple[str, OpenTemplate]]:
    names = [each.template.function_name or each.template.id for each in templates]
    counts = Counter(names)
    for name, each in zip(names, templates, strict=True):
        yield f"{each.source.name}_{name}" if counts[name] > 1 else name, each


def serving_sources(adapter: Adapter) -> Iterator[Adapter]:
    """The adapters behind one that serve now."""
    resolve = adapter.resolve_adapter
    for source in adapter.sources:
        try:
            if resolve is not None:
                yield resolve(source.adapter)
        except OrbitError:
            continue


def _together(adapter: Adapter, libraries: Mapping[str, Library]) -> Library:
    """The templates of all sources by their names there, and what is said of them together."""
    responses = [library.domain.response for library in libraries.values()]
    languages = dict.fromkeys(code for each in responses for code in each.supported_languages)
    default = responses[0].default_language if responses else "en"
    labels = [name.label for name in adapter.sources if name.adapter in libraries]
    domain = Domain(
        adapter.name,
        description=", ".join(labels),
        response=ResponseConfig(default, tuple(languages)),
    )
    return Library(
        domain,
        {
            qualified_id(name, template_id): template
            for name, library in libraries.items()
            for template_id, template in library.templates.items()
        },
    )
