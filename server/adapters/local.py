"""One adapter in this process, without a server and without a key."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from server.access.key_request import check_role, new_key
from server.adapters.build import build_adapter
from server.adapters.manager import AdapterManager, Reread, Sources, cancel_tasks
from server.adapters.registry import Adapters
from server.adapters.resources import SharedResources
from server.adapters.watch import AdapterWatch
from server.chat.adapter import Adapter
from server.chat.pipeline import run_confirmation, run_turn
from server.core.decision import Answer
from server.core.streaming import StreamListener
from server.core.turn import Caller, Turn
from server.errors import OrbitError
from server.library.model import Library
from server.settings.models import AdapterSettings, Settings

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_adapter(
    settings: Settings,
    environ: Mapping[str, str],
    adapter: AdapterSettings,
    *,
    remembers: bool = False,
    calibrated: bool = True,
    learnt: bool = False,
    changed: Callable[[Library], Library] | None = None,
) -> AsyncIterator[Adapter]:
    """Open one adapter, calibrated if it has been; with `remembers`, it keeps conversations.

    With `learnt`, a large library is not asked before its head is learnt. `changed` gives another
    library in place of its own. Raises as `build_adapter`.
    """
    children = {child.adapter for child in adapter.config.child_adapters}
    behind = [each for each in settings.adapters if each.enabled and each.name in children]
    adapters = Adapters(tuple(each.name for each in behind)) if behind else None
    resources = await SharedResources.open(
        settings, environ, adapters=adapters, remembers=remembers
    )
    try:
        for each in behind:
            await _open_behind(adapters, each, resources, calibrated=calibrated)
        opened = await build_adapter(adapter, resources, calibrated=calibrated, changed=changed)
        try:
            if learnt:
                for one in (opened, *(adapters.all_open() if adapters is not None else ())):
                    await one.learnt()
            yield opened
        finally:
            await resources.finish(deliver=True)
            await opened.close()
            if adapters is not None:
                await adapters.close()
    finally:
        await resources.close()


@asynccontextmanager
async def open_reloading(
    settings: Settings,
    environ: Mapping[str, str],
    adapter: AdapterSettings,
    reread: Reread,
    sources: Sources,
    *,
    say: Callable[[str], None],
) -> AsyncIterator[Adapters]:
    """Open one adapter and those behind it; each is opened anew when its files are saved.

    `reread` and `sources` are as for a server; `say` tells people what was taken up.

    Raises:
        AdapterUnavailable: it could not be opened; those behind it may not be, either.
        StoreUnavailable, ConfigurationInvalid: nothing could be.
    """
    opening = open_adapters(settings, environ, (adapter,), reread, sources, say=say)
    async with opening as adapters:
        adapters.get(adapter.name)
        yield adapters


@asynccontextmanager
async def open_adapters(
    settings: Settings,
    environ: Mapping[str, str],
    chosen: Sequence[AdapterSettings],
    reread: Reread | None = None,
    sources: Sources = tuple,
    *,
    say: Callable[[str], None] | None = None,
) -> AsyncIterator[Adapters]:
    """Open adapters and those behind them, each as far as it can be.

    With `reread` and `say`, each is opened anew when its files are saved, as `open_reloading` has
    it. Raises `StoreUnavailable` or `ConfigurationInvalid`: nothing could be opened.
    """
    names = {adapter.name: adapter for adapter in chosen}
    behind = {child.adapter for adapter in chosen for child in adapter.config.child_adapters}
    names |= {a.name: a for a in settings.adapters if a.enabled and a.name in behind - set(names)}

    def written() -> Sequence[AdapterSettings]:
        now = reread() if reread is not None else settings.adapters
        return [each for each in now if each.name in names]

    adapters = Adapters(tuple(adapter.name for adapter in chosen))
    async with AsyncExitStack() as closing:  # closes in the opposite order
        resources = await SharedResources.open(settings, environ, adapters=adapters)
        closing.push_async_callback(resources.close)
        manager = AdapterManager(adapters, resources, written, sources, alone=False)
        deliver = partial(resources.finish, deliver=True)
        for close in (adapters.close, manager.close, deliver, manager.stop):
            closing.push_async_callback(close)
        work = resources.background_work()
        if say is not None:
            work.append(AdapterWatch(manager, everything=True, say=say).serve())
        closing.push_async_callback(cancel_tasks, [asyncio.create_task(each) for each in work])
        for each in names.values():
            manager.open(each)
        await adapters.every_one_tried()
        yield adapters


async def _open_behind(
    adapters: Adapters | None,
    adapter: AdapterSettings,
    resources: SharedResources,
    *,
    calibrated: bool,
) -> None:
    """Open one of the adapters behind another, which does without one that cannot be opened."""
    if adapters is None:
        return
    try:
        adapters.opened(await build_adapter(adapter, resources, calibrated=calibrated))
    except OrbitError as failed:
        _log.warning("adapter %s: %s", adapter.name, failed)
        adapters.failed(adapter.name, str(failed))


async def ask_once(
    settings: Settings,
    adapter: Adapter,
    text: str,
    session_id: str,
    *,
    continues: bool = False,
    listener: StreamListener | None = None,
    caller: Caller | None = None,
) -> Answer:
    """Ask an open adapter one question, as the person at this machine or as `caller`.

    `continues`: the session may have earlier turns. `listener` hears the words of a model.
    """
    caller = caller or local_caller(settings, adapter.name)
    turn = _local_turn(caller, text, session_id, continues=continues)
    timeout_s = settings.server.turn_timeout_s
    return await run_turn(adapter, turn, timeout_s=timeout_s, listener=listener)


async def confirm_once(
    settings: Settings,
    adapter: Adapter,
    proposal_id: str,
    session_id: str,
    *,
    accept: bool,
    caller: Caller | None = None,
) -> Answer:
    """Answer a proposal of the session, as the person at this machine or as `caller`.

    May raise ProposalUnknown, ProposalSettled, ProposalExpired or ProposalAltered.
    """
    text = "yes" if accept else "no"
    caller = caller or local_caller(settings, adapter.name)
    turn = _local_turn(caller, text, session_id, continues=True)
    timeout_s = settings.server.turn_timeout_s
    return await run_confirmation(adapter, turn, proposal_id, accept=accept, timeout_s=timeout_s)


def _local_turn(caller: Caller, text: str, session_id: str, *, continues: bool) -> Turn:
    return Turn(
        id=uuid4().hex,
        text=text,
        session_id=session_id,
        caller=caller,
        received_at=datetime.now(UTC),
        continues=continues,
    )


def local_caller(
    settings: Settings, adapter: str, user_id: str | None = None, role: str | None = None
) -> Caller:
    """Return the person at this machine, as the holder of a key of an adapter.

    They may do everything, and ask in the name of any user and role. Raises RequestInvalid: there
    is no such role, or nobody can be called like that.
    """
    roles = settings.access.roles.names
    asked = new_key(adapter, user_id=user_id or "local", role=role or roles[-1])
    check_role(asked.role, roles)
    return Caller(key_id="local", adapter=adapter, user_id=asked.user_id, role=asked.role)
