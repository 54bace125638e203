"""`guards`: see what guards did, try them out, and change them, with or without a server."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

import typer

from server.cli import options
from server.cli.changes import open_recorder, operator
from server.cli.output import CommandGroup, fail, print_json, print_result, say
from server.errors import ConfigurationInvalid

if TYPE_CHECKING:
    from server.guards.changes import Change, Kind
    from server.guards.guard import Guard
    from server.guards.model import GuardSet
    from server.guards.store import GuardStore
    from server.settings.models import AdapterSettings

T = TypeVar("T")

guards_app = typer.Typer(
    cls=CommandGroup, help="See what guards did, try them and change them.", no_args_is_help=True
)

CategoryArgument = Annotated[
    str, typer.Argument(metavar="CATEGORY", help="A category of the adapter's guard packs.")
]
PatternOption = Annotated[
    str | None, typer.Option("--pattern", metavar="REGEX", help="A regular expression (RE2).")
]
ExampleOption = Annotated[
    str | None, typer.Option("--example", metavar="TEXT", help="A question of this category.")
]


class GuardedAdapter(NamedTuple):
    """An adapter that has a guard, with the guard packs as they are written."""

    found: options.Configured
    adapter: "AdapterSettings"
    packs: "GuardSet"

    def in_store(self, job: "Callable[[GuardStore, str], Awaitable[T]]") -> T:
        from server.guards.store import GuardStore

        async def run() -> T:
            settings = self.found.settings
            store = await GuardStore.open(settings.database_url, migrate=settings.may_migrate)
            try:
                return await job(store, self.adapter.name)
            finally:
                await store.close()

        return asyncio.run(run())

    def with_guard(self, job: "Callable[[Guard], Awaitable[T]]") -> T:
        """Open the adapter, with its encoder, and return what `job` makes of its guard."""
        from server.adapters.local import open_adapter

        async def run() -> T:
            found = self.found
            async with open_adapter(found.settings, found.environ, self.adapter) as opened:
                assert opened.guard is not None  # noqa: S101  it has packs
                return await job(opened.guard)

        return asyncio.run(run())


def _guarded(config: Path, data: Path | None, adapter: str | None) -> GuardedAdapter:
    from server.guards.options import options_of
    from server.guards.pack import load_guards

    found = options.configured(config, data=data)
    chosen = found.library_adapter(adapter)
    packs = options_of(chosen, found.settings, found.environ).packs
    if not packs:
        fail(f"no guard stands before adapter {chosen.name!r}; see docs/guards.md")
    loaded = load_guards(packs, found.environ)
    if loaded.guards is None:
        raise ConfigurationInvalid(loaded.problems)
    return GuardedAdapter(found, chosen, loaded.guards)


@guards_app.command()
def show(
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Show the categories of a guard, with their thresholds, as they are with all changes."""

    async def describe(guard: "Guard") -> dict[str, Any]:
        return guard.describe()

    described = _guarded(config, data, adapter).with_guard(describe)
    print_result(described, _guard_lines(described), as_json=as_json)


def _guard_lines(described: dict[str, Any]) -> Iterator[str]:
    yield f"{described['adapter']}: {described['packs']} ({described['mode']})"
    for row in described["categories"]:
        threshold = row["threshold"]
        needs = "" if threshold is None else f", at {threshold:.2f} ({row['threshold_origin']})"
        known = f"{len(row['patterns'])} patterns, {len(row['examples'])} examples"
        yield f"  {row['name']}: {row['action']}, {known}{needs}"
    yield from (f"  allowed: {row['question']}" for row in described["allowed"])


@guards_app.command()
def counts(
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Count what a guard decided, by category, method and outcome."""
    rows = _guarded(config, data, adapter).in_store(lambda store, name: store.counts(name))
    form = "{count:>8}  {outcome:<12} {category} ({method})"
    print_result({"counts": rows}, (form.format(**row) for row in rows), as_json=as_json)


@guards_app.command()
def recent(
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="How many at most.")
    ] = 20,
    differing: Annotated[
        bool, typer.Option("--differing", help="Only where the compared set judged otherwise.")
    ] = False,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """List the latest blocks, routes, flags and failures, questions redacted."""
    decisions = _guarded(config, data, adapter).in_store(
        lambda store, name: store.decisions(name, limit=limit, differing=differing)
    )
    rows = [decision.to_dict() for decision in decisions]
    form = "{at:.19}  {outcome} {category} ({method})  {question}"
    print_result({"decisions": rows}, (form.format(**row) for row in rows), as_json=as_json)


@guards_app.command()
def changes(
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """List every change that was made to a guard, and by whom."""
    made = _guarded(config, data, adapter).in_store(lambda store, name: store.changes(name))
    lines = (f"{change.at:%Y-%m-%d %H:%M}  {change}" for change in made)
    print_result({"changes": [change.to_dict() for change in made]}, lines, as_json=as_json)


@guards_app.command()
def threshold(
    category: CategoryArgument,
    number: Annotated[
        float | None,
        typer.Argument(metavar="NUMBER", help="Between 0 and 1; without one, as it was."),
    ] = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Set the confidence from which a category is recognised by meaning, or take it back."""
    kind: Kind = "reset_threshold" if number is None else "set_threshold"
    _change(_guarded(config, data, adapter), kind, category=category, number=number)


@guards_app.command()
def add(
    category: CategoryArgument,
    pattern: PatternOption = None,
    example: ExampleOption = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Add a pattern or an example to a category."""
    kind, text = _text_change("add", pattern, example)
    _change(_guarded(config, data, adapter), kind, category=category, text=text)


@guards_app.command()
def remove(
    category: CategoryArgument,
    pattern: PatternOption = None,
    example: ExampleOption = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Take a pattern or an example out of a category."""
    kind, text = _text_change("remove", pattern, example)
    _change(_guarded(config, data, adapter), kind, category=category, text=text)


@guards_app.command()
def allow(
    question: options.Question,
    similarity: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Let pass what is as similar, too: such as 0.9."),
    ] = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Let a question pass, whatever the guard makes of it."""
    _change(_guarded(config, data, adapter), "allow_question", text=question, number=similarity)


@guards_app.command()
def forget(
    question: options.Question,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Take a question off the allow-list."""
    _change(_guarded(config, data, adapter), "forget_question", text=question)


@guards_app.command("try")
def try_question(
    question: options.Question,
    category: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where to try a pattern or an example.")
    ] = None,
    pattern: PatternOption = None,
    example: ExampleOption = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Judge a question, now and with one more pattern or example; nothing is counted or kept."""
    from server.guards.changes import Change

    guarded = _guarded(config, data, adapter)
    change = None
    if category is not None:
        kind, text = _text_change("add", pattern, example)
        change = Change(guarded.adapter.name, kind, category, text)
    elif pattern is not None or example is not None:
        fail("say with --category where to try it")
    print_json(guarded.with_guard(lambda guard: guard.trial(question, change)))


@guards_app.command()
def measure(
    labelled: Annotated[
        Path, typer.Argument(metavar="FILE", help="YAML with `questions:` by category.")
    ],
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Count false and missed blocks on questions that people have labelled."""
    from server.guards.measurement import figures, load_labelled, measure_guard

    questions, problems = load_labelled(labelled, {})
    if questions is None:
        raise ConfigurationInvalid(problems)
    guarded = _guarded(config, data, adapter)
    found = figures(guarded.with_guard(lambda guard: measure_guard(guard, questions)))
    lines = [
        "{questions} questions; missed {missed_blocks} of {to_stop} to stop "
        "({missed_block_rate:.1%}), stopped {false_blocks} of {to_pass} to pass "
        "({false_block_rate:.1%})".format(**found),
        *(f"  missed: {question}" for question in found["missed"]),
        *(f"  wrongly stopped: {question}" for question in found["wrongly_stopped"]),
    ]
    print_result(found, lines, as_json=as_json)


def _text_change(
    verb: Literal["add", "remove"], pattern: str | None, example: str | None
) -> "tuple[Kind, str]":
    """Return what to do with the one of pattern and example that was given, and its text."""
    if (pattern is None) == (example is None):
        fail("say either --pattern or --example")
    if pattern is not None:
        return "add_pattern" if verb == "add" else "remove_pattern", pattern
    return "add_example" if verb == "add" else "remove_example", example or ""


def _change(guarded: GuardedAdapter, kind: "Kind", **what: Any) -> None:
    """Make a change if it fits the guard as it is with the changes before it."""
    from server.audit import changes as audit
    from server.guards.changes import Change, check_change, with_changes

    by = operator()
    change = Change(guarded.adapter.name, kind, by=f"command of {by.user_id}", **what)
    audited = audit.Change(by, "guards", kind, change.guard, change.details())

    async def make_change(store: "GuardStore", name: str) -> "Change":
        check_change(with_changes(guarded.packs, await store.changes(name)), change)
        async with open_recorder(guarded.found.settings) as changes:
            return await changes.make(audited, lambda: store.add_change(change))

    say(f"{guarded.in_store(make_change)}; a running server takes it up within seconds")
