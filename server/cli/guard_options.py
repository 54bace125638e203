"""What the commands for guards share: their options, and the way to a guard and its store."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from server.cli.output import fail

if TYPE_CHECKING:
    from server.cli.options import Configured
    from server.guards.guard import Guard
    from server.guards.store import GuardStore


_T = TypeVar("_T")

Category = Annotated[
    str, typer.Argument(metavar="CATEGORY", help="A category of the adapter's guard packs.")
]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotes.")]
PatternOption = Annotated[
    str | None, typer.Option("--pattern", metavar="REGEX", help="A regular expression (RE2).")
]
ExampleOption = Annotated[
    str | None, typer.Option("--example", metavar="TEXT", help="A question of this category.")
]


def one_of(pattern: str | None, example: str | None) -> tuple[str, str]:
    if pattern is not None and example is None:
        return pattern, "pattern"
    if example is None or pattern is not None:
        fail("say either --pattern or --example")
    return example, "example"


def guarded(config: Path, data: Path | None, adapter: str | None) -> tuple["Configured", str]:
    """The configuration, and the name of an adapter that has a guard."""
    from server.cli.options import configured
    from server.errors import ConfigurationInvalid
    from server.guards.options import options_of
    from server.guards.pack import load_guards

    found = configured(config, data=data)
    chosen = found.adapter(adapter)
    options = options_of(chosen, found.settings, found.environ)
    if not options.packs:
        fail(f"no guard stands before adapter {chosen.name!r}; see docs/guards.md")
    loaded = load_guards(options.packs, found.environ)
    if loaded.guards is None:
        raise ConfigurationInvalid(loaded.problems)
    return found, chosen.name


def in_store(
    config: Path,
    data: Path | None,
    adapter: str | None,
    job: "Callable[[GuardStore, str], Awaitable[_T]]",
) -> _T:
    from server.guards.store import GuardStore

    found, name = guarded(config, data, adapter)

    async def done() -> _T:
        store = await GuardStore.open(found.settings.database_url)
        try:
            return await job(store, name)
        finally:
            await store.close()

    return asyncio.run(done())


def with_guard(
    config: Path,
    data: Path | None,
    adapter: str | None,
    job: "Callable[[Guard], Awaitable[_T]]",
) -> _T:
    """Open the adapter, with its encoder, and do something with its guard."""
    from server.adapters.local import open_adapter

    found, name = guarded(config, data, adapter)

    async def done() -> _T:
        chosen = found.adapter(name)
        async with open_adapter(found.settings, found.environ, chosen) as opened:
            assert opened.guard is not None  # noqa: S101  `guarded` has seen its packs
            return await job(opened.guard)

    return asyncio.run(done())
