"""How an answer came about, for people."""

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from server.core.answer import Answer
from server.core.jsonable import to_json
from server.core.trace import Trace


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
