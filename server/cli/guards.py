"""`guards`: what guards did, and trying them out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from server.cli import guard_changes
from server.cli.guard_options import (
    ExampleOption,
    PatternOption,
    Question,
    in_store,
    one_of,
    with_guard,
)
from server.cli.options import DEFAULT_CONFIG, AdapterOption, ConfigOption, DataOption, JsonOption
from server.cli.output import fail, failures_as_messages, print_json, print_text

if TYPE_CHECKING:
    from server.guards.changes import Kind
    from server.guards.guard import Guard

guards_app = typer.Typer(
    help="See what guards did, try them and change them.", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.add_typer(guards_app, name="guards")


@guards_app.command()
def show(
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the categories of a guard, with their thresholds, as they are with all changes."""
    with failures_as_messages():
        described = with_guard(config, data, adapter, _described)
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
        rows = in_store(config, data, adapter, lambda store, name: store.counts(name))
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
        found = in_store(
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
        found = in_store(config, data, adapter, lambda store, name: store.changes(name))
        if as_json:
            print_json({"changes": [change.to_dict() for change in found]})
            return
        for change in found:
            print_text(f"{change.at:%Y-%m-%d %H:%M}  {change}")


guard_changes.register(guards_app)


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
            text, what = one_of(pattern, example)
            kind: Kind = "add_pattern" if what == "pattern" else "add_example"
            change = (kind, category, text)
        elif pattern is not None or example is not None:
            fail("say with --category where to try it")

        async def tried(guard: "Guard") -> dict[str, Any]:
            from server.guards.changes import Change

            name = guard.options.adapter
            made = Change(name, change[0], change[1], change[2]) if change else None
            return await guard.trial(question, made)

        print_json(with_guard(config, data, adapter, tried))


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
        from server.guards.measurement import figures, load_labelled
        from server.guards.measurement import measure_guard as measured

        questions, problems = load_labelled(labelled, {})
        if questions is None:
            raise ConfigurationInvalid(problems)
        found = figures(with_guard(config, data, adapter, lambda guard: measured(guard, questions)))
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


async def _described(guard: "Guard") -> dict[str, Any]:
    return guard.describe()
