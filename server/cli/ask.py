"""`ask` and `explain`: one question, in process, with no server and no key."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import uuid4

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from server.cli.options import DEFAULT_CONFIG, AdapterOption, ConfigOption, DataOption, JsonOption
from server.cli.output import fail, failures_as_messages, print_json, print_text, say
from server.core.answer import Answer, Trace
from server.core.json import to_json

if TYPE_CHECKING:
    from server.cli.options import Configured
    from server.settings.models import AdapterSettings


Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotes.")]


def ask(
    question: Question,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Say yes to what needs it, and do it.")
    ] = False,
) -> None:
    """Ask one question; --json prints exactly what POST /chat would answer."""
    with failures_as_messages():
        answer, session_id = _answer(question, adapter, config, data, yes=yes)
        if not as_json:
            print_text(answer.content)
            if answer.metadata.get("proposal", {}).get("status") == "held":
                say("Nothing was done. To do it, ask the same with --yes.")
            return
        print_json(answer.to_dict(session_id))


def explain(
    question: Question,
    adapter: AdapterOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask one question, and show every stage on the way to its answer."""
    with failures_as_messages():
        answer, session_id = _answer(question, adapter, config, data)
        if as_json:
            print_json(answer.to_dict(session_id) | {"trace": answer.trace.to_list()})
            return
        print_explanation(answer)


def register(app: typer.Typer) -> None:
    app.command()(ask)
    app.command()(explain)


def _answer(
    question: str, adapter: str | None, config: Path, data: Path | None, *, yes: bool = False
) -> tuple["Answer", str]:
    from server.cli.options import configured

    session_id = uuid4().hex
    if not question.strip():
        fail("the question is empty")
    found = configured(config, data=data)
    asked = _ask(found, found.adapter(adapter), question, session_id, yes=yes)
    return asyncio.run(asked), session_id


async def _ask(
    found: "Configured", adapter: "AdapterSettings", question: str, session_id: str, *, yes: bool
) -> "Answer":
    from server.adapters.local import ask_once, confirm_once, open_adapter
    from server.core.decision import PendingConfirmation

    async with open_adapter(found.settings, found.environ, adapter) as opened:
        answer = await ask_once(found.settings, opened, question, session_id)
        if not (yes and isinstance(answer.decision, PendingConfirmation)):
            return answer
        held = answer.decision.proposal_id
        return await confirm_once(found.settings, opened, held, session_id, accept=True)


def print_explanation(answer: Answer) -> None:
    """Every stage with its time and findings, then the answer, on standard output."""
    console = Console(highlight=False, soft_wrap=True)
    print_stages(console, answer.trace)
    console.print("[bold]answer[/bold]")
    console.print(escape(answer.content))


def print_stages(console: Console, trace: Trace) -> None:
    """Every stage with its time and findings."""
    for stage in trace.stages:
        console.print(f"[bold]{stage.name}[/bold]  [dim]{stage.ms:.2f} ms[/dim]")
        for name, value in stage.details.items():
            if isinstance(value, list) and value and isinstance(value[0], dict):
                console.print(_table(name, value))
            else:
                console.print(f"  {name}: {escape(_text(value))}")


def _table(title: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2))
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(escape(_text(row.get(column, ""))) for column in columns))
    return table


def _text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value)
