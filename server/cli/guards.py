"""`guards`: what guards did, and changing them, whether or not a server runs."""

import asyncio
import getpass
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from server.cli.options import DEFAULT_CONFIG, AdapterOption, ConfigOption, DataOption, JsonOption
from server.cli.output import fail, failures_as_messages, print_json, print_text, say

if TYPE_CHECKING:
    from server.cli.configured import Configured
    from server.guards.changes import Change, Kind
    from server.guards.guard import Guard
    from server.guards.store import GuardStore

_T = TypeVar("_T")

guards_app = typer.Typer(
    help="See what guards did, try them and change them.", no_args_is_help=True
)

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


@guards_app.command()
def show(
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the categories of a guard, with their thresholds, as they are with all changes."""
    with failures_as_messages():
        described = _with_guard(config, data, adapter, _described)
        if as_json:
            print_json(described)
            return
        print_text(f"{described['adapter']}: {described['packs']} ({described['mode']})")
        for row in described["categories"]:
            threshold = row["threshold"]
            needs = "" if threshold is None else f", at {threshold:.2f} ({row['threshold_origin']})"
            print_text(
                f"  {row['name']}: {row['action']}, {len(row['patterns'])} patterns, "
                f"{len(row['examples'])} examples{needs}"
            )
        for row in described["allowed"]:
            print_text(f"  allowed: {row['question']}")


@guards_app.command()
def counts(
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count what a guard decided, by category, method and outcome."""
    with failures_as_messages():
        rows = _in_store(config, data, adapter, lambda store, name: store.counts(name))
        if as_json:
            print_json({"counts": rows})
            return
        for row in rows:
            print_text("{count:>8}  {outcome:<12} {category} ({method})".format(**row))


@guards_app.command()
def recent(
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many at most.")
    ] = 20,
    differing: Annotated[
        bool, typer.Option("--differing", help="Only where the compared set judged otherwise.")
    ] = False,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the latest blocks, routes, flags and failures, questions redacted."""
    with failures_as_messages():
        found = _in_store(
            config,
            data,
            adapter,
            lambda store, name: store.decisions(name, limit=limit, differing=differing),
        )
        rows = [decided.to_dict() for decided in found]
        if as_json:
            print_json({"decisions": rows})
            return
        for row in rows:
            print_text("{at:.19}  {outcome} {category} ({method})  {question}".format(**row))


@guards_app.command()
def changes(
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """List every change that was made to a guard, and by whom."""
    with failures_as_messages():
        found = _in_store(config, data, adapter, lambda store, name: store.changes(name))
        if as_json:
            print_json({"changes": [change.to_dict() for change in found]})
            return
        for change in found:
            print_text(f"{change.at:%Y-%m-%d %H:%M}  {change}")


@guards_app.command()
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


@guards_app.command()
def add(
    category: Category,
    pattern: PatternOption = None,
    example: ExampleOption = None,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Add a pattern or an example to a category."""
    text, what = _one_of(pattern, example)
    kind: Kind = "add_pattern" if what == "pattern" else "add_example"
    _change(config, data, adapter, kind, category=category, text=text)


@guards_app.command()
def remove(
    category: Category,
    pattern: PatternOption = None,
    example: ExampleOption = None,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Take a pattern or an example out of a category."""
    text, what = _one_of(pattern, example)
    kind: Kind = "remove_pattern" if what == "pattern" else "remove_example"
    _change(config, data, adapter, kind, category=category, text=text)


@guards_app.command()
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


@guards_app.command()
def forget(
    question: Question,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Take a question off the allow-list."""
    _change(config, data, adapter, "forget_question", text=question)


@guards_app.command("try")
def try_question(
    question: Question,
    category: Annotated[
        str | None,
        typer.Option("--category", metavar="NAME", help="Where to try a pattern or an example."),
    ] = None,
    pattern: PatternOption = None,
    example: ExampleOption = None,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
) -> None:
    """Judge a question, now and with one more pattern or example; nothing is counted or kept."""
    with failures_as_messages():
        change = None
        if category is not None:
            text, what = _one_of(pattern, example)
            kind: Kind = "add_pattern" if what == "pattern" else "add_example"
            change = (kind, category, text)
        elif pattern is not None or example is not None:
            fail("say with --category where to try it")

        async def tried(guard: "Guard") -> dict[str, Any]:
            from server.guards.changes import Change

            name = guard.options.adapter
            made = Change(name, change[0], change[1], change[2]) if change else None
            return await guard.trial(question, made)

        print_json(_with_guard(config, data, adapter, tried))


@guards_app.command()
def measure(
    labelled: Annotated[
        Path, typer.Argument(metavar="FILE", help="YAML with `questions:` by category.")
    ],
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count false and missed blocks on questions that people have labelled."""
    with failures_as_messages():
        from server.errors import ConfigurationInvalid
        from server.guards.measuring import figures, load_labelled
        from server.guards.measuring import measure as measured

        questions, problems = load_labelled(labelled, {})
        if questions is None:
            raise ConfigurationInvalid(problems)
        found = figures(
            _with_guard(config, data, adapter, lambda guard: measured(guard, questions))
        )
        if as_json:
            print_json(found)
            return
        print_text(
            f"{found['questions']} questions; missed {found['missed_blocks']} of "
            f"{found['to_stop']} to stop ({found['missed_block_rate']:.1%}), "
            f"stopped {found['false_blocks']} of {found['to_pass']} to pass "
            f"({found['false_block_rate']:.1%})"
        )
        for title in ("missed", "wrongly_stopped"):
            for question in found[title]:
                print_text(f"  {title.replace('_', ' ')}: {question}")


def _one_of(pattern: str | None, example: str | None) -> tuple[str, str]:
    if pattern is not None and example is None:
        return pattern, "pattern"
    if example is None or pattern is not None:
        fail("say either --pattern or --example")
    return example, "example"


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
        from server.guards.loading import load_guards
        from server.guards.opening import options_of

        found, name = _guarded(config, data, adapter)
        options = options_of(found.adapter(name), found.settings, found.environ)
        packs = load_guards(options.packs, found.environ).guards
        assert packs is not None  # noqa: S101  `_guarded` has read them
        change = Change(name, kind, category, text, number, by=f"command of {getpass.getuser()}")

        async def made(store: "GuardStore", name: str) -> "Change":
            check_change(with_changes(packs, await store.changes(name)), change)
            return await store.add_change(change)

        done = _in_store(config, data, name, made)
        say(f"{done}; a running server takes it up within seconds")


def _guarded(config: Path, data: Path | None, adapter: str | None) -> tuple["Configured", str]:
    """The configuration, and the name of an adapter that has a guard."""
    from server.cli.configured import configured
    from server.errors import ConfigurationInvalid
    from server.guards.loading import load_guards
    from server.guards.opening import options_of

    found = configured(config, data=data)
    chosen = found.adapter(adapter)
    options = options_of(chosen, found.settings, found.environ)
    if not options.packs:
        fail(f"no guard stands before adapter {chosen.name!r}; see docs/guards.md")
    loaded = load_guards(options.packs, found.environ)
    if loaded.guards is None:
        raise ConfigurationInvalid(loaded.problems)
    return found, chosen.name


def _in_store(
    config: Path,
    data: Path | None,
    adapter: str | None,
    job: "Callable[[GuardStore, str], Awaitable[_T]]",
) -> _T:
    from server.guards.store import GuardStore

    found, name = _guarded(config, data, adapter)

    async def done() -> _T:
        store = await GuardStore.open(found.settings.database_url)
        try:
            return await job(store, name)
        finally:
            await store.close()

    return asyncio.run(done())


def _with_guard(
    config: Path,
    data: Path | None,
    adapter: str | None,
    job: "Callable[[Guard], Awaitable[_T]]",
) -> _T:
    """Open the adapter, with its encoder, and do something with its guard."""
    from server.app import opened_adapter

    found, name = _guarded(config, data, adapter)

    async def done() -> _T:
        chosen = found.adapter(name)
        async with opened_adapter(found.settings, found.environ, chosen) as opened:
            assert opened.guard is not None  # noqa: S101  `_guarded` has seen its packs
            return await job(opened.guard)

    return asyncio.run(done())


async def _described(guard: "Guard") -> dict[str, Any]:
    return guard.describe()
