"""A project in process: asked like a server, without one.

```python
async with open_project("path/to/project") as orbit:
    answer = await orbit.ask("What is 15% of 200?")
```
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from anyio.from_thread import BlockingPortal, start_blocking_portal

from server.adapters.library_folder import load_place
from server.adapters.local import local_caller, open_adapters
from server.adapters.manager import cancel_tasks
from server.adapters.registry import Adapters
from server.chat.adapter import Adapter
from server.chat.form import in_words
from server.chat.history import forget_conversation
from server.chat.pipeline import run_call, run_confirmation, run_turn
from server.chat.shown_library import describe_library
from server.chat.sources import count_sources, open_tools, tools_open_to
from server.client.answers import Answer, AnswerPieces, AsyncAnswerPieces, Piece, Proposal
from server.client.states import Library
from server.core import decision
from server.core.json import to_json
from server.core.storable import storable_data, storable_text
from server.core.streaming import StreamEvent, StreamListener
from server.core.suggestions import unknown
from server.core.turn import SESSION_ID, Caller, Turn
from server.errors import (
    AdapterUnavailable,
    AdapterUnknown,
    ConfigurationInvalid,
    ProposalUnknown,
    RequestInvalid,
    ToolUnknown,
)
from server.settings.models import AdapterSettings, Settings


@asynccontextmanager
async def open_project(
    path: str | os.PathLike[str] = ".",
    *,
    adapters: Sequence[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> "AsyncIterator[Project]":
    """Open the adapters of a project: all that are enabled, or those that are named.

    `path` is the folder of a project, its configuration, or the folder of a library. `data_dir`
    stands in for that of the configuration, and `environ` for the variables of the process.

    Raises:
        ConfigurationInvalid: the configuration cannot be used; it lists every problem.
        AdapterUnknown: no enabled adapter has a name that is given.
        AdapterUnavailable: one that is named cannot be opened, or none can.
        StoreUnavailable: what adapters share cannot be opened.
    """
    variables = os.environ if environ is None else environ
    settings, filled = await asyncio.to_thread(_load, path, data_dir, variables)
    chosen = _chosen(settings, adapters)
    async with open_adapters(settings, filled, chosen) as opened:
        project = Project(settings, opened, tuple(each.name for each in chosen))
        project.check(adapters)
        yield project


@contextmanager
def open_project_sync(
    path: str | os.PathLike[str] = ".",
    *,
    adapters: Sequence[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> "Iterator[BlockingProject]":
    """Open a project as `open_project` does, for a program without an event loop."""
    opening = open_project(path, adapters=adapters, data_dir=data_dir, environ=environ)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(opening) as project:
        yield BlockingProject(project, portal)


def _load(
    path: str | os.PathLike[str],
    data_dir: str | os.PathLike[str] | None,
    environ: Mapping[str, str],
) -> tuple[Settings, Mapping[str, str]]:
    """The settings, and the variables that the files adapters name are filled from."""
    loaded = load_place(Path(path), environ)
    if loaded.settings is None:
        raise ConfigurationInvalid(loaded.problems)
    if data_dir is None:
        return loaded.settings, loaded.environ
    update = {"data_dir": Path(data_dir).absolute()}
    return loaded.settings.model_copy(update=update), loaded.environ


def _chosen(settings: Settings, names: Sequence[str] | None) -> list[AdapterSettings]:
    enabled = {each.name: each for each in settings.adapters if each.enabled}
    if not enabled:
        raise AdapterUnknown("this configuration has no enabled adapter")
    for name in names or ():
        if name not in enabled:
            raise AdapterUnknown(unknown("adapter", name, enabled))
    return [enabled[name] for name in names or enabled]


class Project:
    """The open adapters of a project, asked by one user. Its answers are those of `POST /chat`.

    What asks may do everything, as whoever is at this machine may; `for_user` asks as somebody.
    Where several adapters are open and none is named, the first is asked.
    """

    def __init__(self, settings: Settings, opened: Adapters, adapters: tuple[str, ...]) -> None:
        self._settings = settings
        self._opened = opened
        self._caller = local_caller(settings, adapters[0])
        self.adapters = adapters
        """Their names, in the order of the configuration."""

    def check(self, names: Sequence[str] | None) -> None:
        """Raise AdapterUnavailable unless all of these serve; without names, unless any does."""
        failures = list[AdapterUnavailable]()
        for name in names or self.adapters:
            try:
                self._opened.get(name)
            except AdapterUnavailable as failed:
                failures.append(failed)
        if failures and (names or len(failures) == len(self.adapters)):
            raise failures[0]

    def for_user(self, user_id: str, role: str = "user") -> "Project":
        """Return the same project, asked in the name of a user; it closes with this one.

        Templates know who asks, and roles, audit and conversations are the user's. Raises
        RequestInvalid: the configuration has no such role.
        """
        project = Project(self._settings, self._opened, self.adapters)
        project._caller = local_caller(self._settings, self.adapters[0], user_id, role)
        return project

    async def ask(
        self,
        message: str,
        *,
        adapter: str | None = None,
        session_id: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        explain: bool = False,
        languages: Sequence[str] = (),
    ) -> Answer:
        """Ask a question; with `session_id`, in that conversation.

        `arguments` are values by name for what the last answer asked for. `languages` are those
        the reader prefers, best first. With `explain`, the answer has its trace.

        Raises:
            RequestInvalid: the message is empty or too long, or gives what was not asked for.
            AdapterUnknown, AdapterUnavailable, RateLimited: the adapter does not answer this.
            TurnTimedOut, ProviderError, StoreUnavailable: it could not be answered.
        """
        turn = self._question(message, adapter, session_id, arguments, languages)
        asked = await self._asked(turn)
        answer = await run_turn(asked, turn, timeout_s=self._settings.server.turn_timeout_s)
        return _shown(answer, turn, explain=explain)

    @asynccontextmanager
    async def stream(
        self,
        message: str,
        *,
        adapter: str | None = None,
        session_id: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        explain: bool = False,
        languages: Sequence[str] = (),
    ) -> AsyncIterator[AsyncAnswerPieces]:
        """Ask as `ask` does, and get the answer in pieces as it is made.

        Leaving the context before the last piece stops the turn.
        """
        turn = self._question(message, adapter, session_id, arguments, languages)
        asked = await self._asked(turn)
        timeout_s, listener = self._settings.server.turn_timeout_s, StreamListener()
        answering = asyncio.create_task(
            run_turn(asked, turn, timeout_s=timeout_s, listener=listener)
        )
        try:
            async with aclosing(_pieces(answering, listener, turn, explain=explain)) as pieces:
                yield AsyncAnswerPieces(pieces)
        finally:
            await cancel_tasks([answering])

    async def confirm(
        self, proposal: Proposal, *, accept: bool = True, explain: bool = False
    ) -> Answer:
        """Say yes to what an answer proposed, or no.

        May raise ProposalUnknown, ProposalSettled, ProposalExpired or ProposalAltered: nothing ran.
        """
        said = "yes" if accept else "no"
        turn = self._turn(said, proposal.adapter or None, proposal.session_id)
        asked = await self._asked(turn)
        if asked.proposals is None:
            raise ProposalUnknown("this conversation has no proposal of that id")
        answer = await run_confirmation(
            asked,
            turn,
            proposal.proposal_id,
            accept=accept,
            seal=proposal.seal,
            timeout_s=self._settings.server.turn_timeout_s,
        )
        return _shown(answer, turn, explain=explain)

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        adapter: str | None = None,
        session_id: str | None = None,
    ) -> Answer:
        """Run a template as a tool, by its id or its name in `tools`; nothing is read out of words.

        It is judged as ever: a call that needs a yes answers with its proposal. Raises ToolUnknown,
        and what `ask` does.
        """
        caller = self._caller_of(adapter)
        known = open_tools(self._opened.opened_by(caller), caller)
        ids = {each.id: each for each in known.values()}
        found = known.get(tool) or ids.get(tool)
        if found is None:
            raise ToolUnknown(unknown("tool", tool, [*known, *ids]))
        turn = self._turn(f"{tool} {to_json(arguments)}", adapter, session_id)
        asked = await self._asked(turn)
        named = found.source.name, found.template.id, storable_data(dict(arguments))
        timeout_s = self._settings.server.turn_timeout_s
        return _shown(await run_call(asked, turn, *named, timeout_s=timeout_s), turn, explain=False)

    async def library(self, adapter: str | None = None) -> Library:
        """Return what an adapter's library says: the templates that may be run."""
        caller = self._caller_of(adapter)
        return Library(**_plain(describe_library(self._opened.opened_by(caller), caller)))

    async def tools(self, adapter: str | None = None) -> list[dict[str, Any]]:
        """Return the templates that may be run, as OpenAI's clients take them in `tools`."""
        caller = self._caller_of(adapter)
        tools = tools_open_to(self._opened.opened_by(caller), caller)
        found: list[dict[str, Any]] = _plain([each.to_openai_schema() for each in tools])
        return found

    async def learnt(self, adapter: str | None = None) -> None:
        """Wait until the head of a large library is learnt, before which neighbours answer."""
        await self._opened.opened_by(self._caller_of(adapter)).learnt()

    async def forget(self, session_id: str, *, adapter: str | None = None) -> None:
        """Forget a conversation and what waits in it, whether there is one or not."""
        caller = self._caller_of(adapter)
        await forget_conversation(self._opened.opened_by(caller), caller, session_id)

    async def _asked(self, turn: Turn) -> Adapter:
        """The adapter of a turn, with the turn counted against its limits."""
        asked = self._opened.opened_by(turn.caller)
        await count_sources([asked])
        return asked

    def _caller_of(self, adapter: str | None) -> Caller:
        if adapter is not None and adapter not in self.adapters:
            raise AdapterUnknown(unknown("adapter", adapter, self.adapters))
        return replace(self._caller, adapter=adapter or self.adapters[0])

    def _question(
        self,
        message: str,
        adapter: str | None,
        session_id: str | None,
        arguments: Mapping[str, Any] | None,
        languages: Sequence[str],
    ) -> Turn:
        text, most = in_words(message, arguments or {}), self._settings.server.max_message_chars
        if not text.strip():
            raise RequestInvalid("the message is empty: write a question into it")
        if len(text) > most:
            raise RequestInvalid(f"the message has {len(text)} characters; the most is {most}")
        turn = self._turn(text, adapter, session_id)
        given = storable_data(dict(arguments)) if arguments is not None else {}
        return replace(turn, languages=tuple(languages), given=given)

    def _turn(self, text: str, adapter: str | None, session_id: str | None) -> Turn:
        if session_id is not None and not re.fullmatch(SESSION_ID, session_id):
            raise RequestInvalid(f"a session id is of the form {SESSION_ID}")
        return Turn(
            id=uuid4().hex,
            text=storable_text(text),
            session_id=session_id or uuid4().hex,
            caller=self._caller_of(adapter),
            received_at=datetime.now(UTC),
            continues=session_id is not None,
        )


class BlockingProject:
    """A project whose event loop runs in another thread; every method waits for its end."""

    def __init__(self, project: Project, portal: BlockingPortal) -> None:
        self._project = project
        self._portal = portal
        self.adapters = project.adapters

    def for_user(self, user_id: str, role: str = "user") -> "BlockingProject":
        return BlockingProject(self._project.for_user(user_id, role), self._portal)

    def ask(
        self,
        message: str,
        *,
        adapter: str | None = None,
        session_id: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        explain: bool = False,
        languages: Sequence[str] = (),
    ) -> Answer:
        ask = partial(
            self._project.ask,
            message,
            adapter=adapter,
            session_id=session_id,
            arguments=arguments,
            explain=explain,
            languages=languages,
        )
        return self._portal.call(ask)

    @contextmanager
    def stream(
        self,
        message: str,
        *,
        adapter: str | None = None,
        session_id: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        explain: bool = False,
        languages: Sequence[str] = (),
    ) -> Iterator[AnswerPieces]:
        streaming = self._project.stream(
            message,
            adapter=adapter,
            session_id=session_id,
            arguments=arguments,
            explain=explain,
            languages=languages,
        )
        with self._portal.wrap_async_context_manager(streaming) as pieces:
            yield AnswerPieces(self._each(pieces))

    def confirm(self, proposal: Proposal, *, accept: bool = True, explain: bool = False) -> Answer:
        confirm = partial(self._project.confirm, proposal, accept=accept, explain=explain)
        return self._portal.call(confirm)

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        adapter: str | None = None,
        session_id: str | None = None,
    ) -> Answer:
        call = partial(self._project.call, tool, arguments, adapter=adapter, session_id=session_id)
        return self._portal.call(call)

    def library(self, adapter: str | None = None) -> Library:
        return self._portal.call(self._project.library, adapter)

    def tools(self, adapter: str | None = None) -> list[dict[str, Any]]:
        return self._portal.call(self._project.tools, adapter)

    def learnt(self, adapter: str | None = None) -> None:
        self._portal.call(self._project.learnt, adapter)

    def forget(self, session_id: str, *, adapter: str | None = None) -> None:
        self._portal.call(partial(self._project.forget, session_id, adapter=adapter))

    def _each(self, pieces: AsyncAnswerPieces) -> Iterator[Piece | Answer]:
        coming = aiter(pieces)

        async def next_piece() -> Piece | None:
            return await anext(coming, None)

        while (piece := self._portal.call(next_piece)) is not None:
            yield piece
        yield pieces.answer


def _shown(answer: decision.Answer, turn: Turn, *, explain: bool) -> Answer:
    """An answer as it would come over HTTP."""
    shown = _plain(answer.to_dict(turn.session_id, "details" if explain else None))
    return Answer(**shown, request_id=turn.id, adapter=turn.caller.adapter)


def _plain(value: Any) -> Any:
    """Data as every JSON reader gets it."""
    return json.loads(to_json(storable_data(value)))


async def _pieces(
    answering: "asyncio.Task[decision.Answer]",
    listener: StreamListener,
    turn: Turn,
    *,
    explain: bool,
) -> AsyncGenerator[Piece | Answer, None]:
    events = listener.events
    while True:
        hearing = asyncio.ensure_future(events.get())
        try:
            await asyncio.wait({hearing, answering}, return_when=asyncio.FIRST_COMPLETED)
            if not hearing.done():
                break
            yield _piece(hearing.result())
        finally:
            hearing.cancel()
    answer = _shown(await answering, turn, explain=explain)
    spoken = listener.text
    if not answer.content.startswith(spoken):
        yield Piece(reset="the answer is another")
        spoken = ""
    if rest := answer.content[len(spoken) :]:
        yield Piece(rest)
    yield answer


def _piece(event: StreamEvent) -> Piece:
    return Piece(event.text) if event.kind == "text" else Piece(reset=event.text)
