"""`guards threshold|add|remove|allow|forget`: changing a guard, whether or not a server runs."""

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.cli.guard_options import (
    Category,
    ExampleOption,
    PatternOption,
    Question,
    guarded,
    in_store,
    one_of,
)
from server.cli.options import DEFAULT_CONFIG, AdapterOption, ConfigOption, DataOption
from server.cli.output import failures_as_messages, say

if TYPE_CHECKING:
    from server.guards.changes import Change, Kind
    from server.guards.store import GuardStore


def register(guards_app: typer.Typer) -> None:
    for command in (threshold, add, remove, allow, forget):
        guards_app.command()(command)


def threshold(
    category: Category,
    number: Annotated[
        float | None,
        typer.Argument(metavar="NUMBER", help="Between 0 and 1; without one, as it was."),
    ] = None,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Set the confidence from which a category is recognised by meaning, or take it back."""
    kind: Kind = "reset_threshold" if number is None else "set_threshold"
    _change(config, data, adapter, kind, category=category, number=number)


def add(
    category: Category,
    pattern: PatternOption = None,
    example: ExampleOption = None,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Add a pattern or an example to a category."""
    text, what = one_of(pattern, example)
    kind: Kind = "add_pattern" if what == "pattern" else "add_example"
    _change(config, data, adapter, kind, category=category, text=text)


def remove(
    category: Category,
    pattern: PatternOption = None,
    example: ExampleOption = None,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Take a pattern or an example out of a category."""
    text, what = one_of(pattern, example)
    kind: Kind = "remove_pattern" if what == "pattern" else "remove_example"
    _change(config, data, adapter, kind, category=category, text=text)


def allow(
    question: Question,
    similarity: Annotated[
        float | None,
        typer.Option(
            "--similarity", metavar="NUMBER", help="Let pass what is as similar, too: such as 0.9."
        ),
    ] = None,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Let a question pass, whatever the guard makes of it."""
    _change(config, data, adapter, "allow_question", text=question, number=similarity)


def forget(
    question: Question,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Take a question off the allow-list."""
    _change(config, data, adapter, "forget_question", text=question)


def _change(
    config: Path,
    data: Path | None,
    adapter: str | None,
    kind: "Kind",
    *,
    category: str = "",
    text: str = "",
    number: float | None = None,
) -> None:
    with failures_as_messages():
        from server.guards.changes import Change, check_change, with_changes
        from server.guards.options import options_of
        from server.guards.pack import load_guards

        found, name = guarded(config, data, adapter)
        options = options_of(found.adapter(name), found.settings, found.environ)
        packs = load_guards(options.packs, found.environ).guards
        assert packs is not None  # noqa: S101  `guarded` has read them
        change = Change(name, kind, category, text, number, by=f"command of {getpass.getuser()}")

        async def made(store: "GuardStore", name: str) -> "Change":
            check_change(with_changes(packs, await store.changes(name)), change)
            return await store.add_change(change)

        done = in_store(config, data, name, made)
        say(f"{done}; a running server takes it up within seconds")
