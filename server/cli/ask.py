"""`ask` and `explain`: one question, in process, with no server and no key."""

import asyncio
import gc
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import typer
from rich.console import Console
from rich.markup import escape

from server.cli import options
from server.cli.markdown import lay_out, print_answer, wrapped
from server.cli.marked_sentence import obstacle, print_marked
from server.cli.output import fail, print_json, say
from server.core.decision import Answer, Trace
from server.core.json import to_json


def ask(
    question: options.Question,
    place: options.Place = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    user: options.User = None,
    role: options.Role = None,
    as_json: options.Json = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Say yes to what needs it, and do it.")
    ] = False,
) -> None:
    """Ask one question; --json prints exactly what POST /chat would answer."""
    answer, session_id = _answer(question, adapter, place, config, data, (user, role), yes=yes)
    if as_json:
        print_json(answer.to_dict(session_id))
        return
    print_answer(answer.content)
    if answer.metadata.get("proposal", {}).get("status") == "held":
        say("Nothing was done. To do it, ask the same with --yes.")


def explain(
    question: options.Question,
    place: options.Place = None,
    adapter: options.Adapter = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    user: options.User = None,
    role: options.Role = None,
    as_json: options.Json = False,
) -> None:
    """Ask one question, and show every stage on the way to its answer."""
    answer, session_id = _answer(question, adapter, place, config, data, (user, role))
    if as_json:
        print_json(answer.to_dict(session_id) | {"trace": answer.trace.to_list()})
        return
    console = Console(highlight=False, soft_wrap=True)
    print_stages(console, answer.trace)
    if words := answer.metadata.get("coverage"):
        console.print("[bold]question[/bold]")
        print_marked(console, question, words)
    policy = answer.metadata.get("policy", {}).get("outcome", "")
    if why := obstacle(answer.decision, policy):
        for line in wrapped(f"nothing ran: {why}", _width_of(console)):
            console.print(escape(line))
    console.print("[bold]answer[/bold]")
    print_answer(answer.content)
    for note in answer.metadata.get("notes", ()):
        if note not in answer.content:
            console.print(f"[dim]{escape(note)}[/dim]")


def _answer(
    question: str,
    adapter: str | None,
    place: Path | None,
    config: Path,
    data: Path | None,
    who: tuple[str | None, str | None],
    *,
    yes: bool = False,
) -> tuple[Answer, str]:
    if not question.strip():
        fail("the question is empty")
    gc.disable()  # a process this short has nothing to gain from looking for garbage
    session_id = uuid4().hex
    found = options.configured_at(place, config, data=data)
    return asyncio.run(_ask(found, adapter, who, question, session_id, yes=yes)), session_id


async def _ask(
    found: options.Configured,
    adapter: str | None,
    who: tuple[str | None, str | None],
    question: str,
    session_id: str,
    *,
    yes: bool,
) -> Answer:
    settings, chosen = found.settings, found.adapter(adapter)
    from server.providers.embeddings.local import load_encoders_ahead

    # In a thread of its own, which it half keeps busy while the rest is imported.
    load_encoders_ahead(settings.embeddings, [chosen])
    from server.adapters.local import ask_once, confirm_once, local_caller, open_adapter
    from server.core.decision import PendingConfirmation, SeveralEndings

    caller = local_caller(settings, chosen.name, *who)
    async with open_adapter(settings, found.environ, chosen) as opened:
        answer = await ask_once(settings, opened, question, session_id, caller=caller)
        decision = answer.decision
        waits = decision.waits if isinstance(decision, SeveralEndings) else decision
        if not (yes and isinstance(waits, PendingConfirmation)):
            return answer
        proposal_id = waits.proposal_id
        return await confirm_once(
            settings, opened, proposal_id, session_id, accept=True, caller=caller
        )


def print_stages(console: Console, trace: Trace) -> None:
    width = _width_of(console)
    for stage in trace.stages:
        console.print(f"[bold]{stage.name}[/bold]  [dim]{stage.ms:.2f} ms[/dim]")
        for name, value in stage.details.items():
            if name == "coverage":
                continue  # the marked question shows it
            if isinstance(value, list) and value and isinstance(value[0], dict):
                lines = [f"  {name}:", *_table(value, width)]
            else:
                lines = list(wrapped(f"{name}: {_cell(value)}", width, "  "))
            for line in lines:
                console.print(escape(line))


def _width_of(console: Console) -> int | None:
    """How wide lines may be; where nobody looks, as wide as they are."""
    return console.width if console.is_terminal else None


def _table(rows: list[dict[str, Any]], width: int | None) -> list[str]:
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[_cell(row.get(column, "")) for column in columns] for row in rows]
    indent = "    "
    lines = lay_out(columns, cells, None if width is None else width - len(indent))
    return [f"{indent}{line}".rstrip() for line in lines]


def _cell(value: Any) -> str:
    """A value on one line, which can be broken between the parts of a list."""
    return " ".join((value if isinstance(value, str) else to_json(value)).split())
