"""`audit`: what was called and refused, and whether the record of it is whole."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from server.cli.options import DEFAULT_CONFIG, ConfigOption, DataOption, JsonOption
from server.cli.output import fail, failures_as_messages, print_json, print_text, say

if TYPE_CHECKING:
    from server.audit.entry import AuditEntry, AuditSeal, Sink

audit_app = typer.Typer(
    help="Look at what was called and refused, and check that none of it was changed.",
    no_args_is_help=True,
)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    app.add_typer(audit_app, name="audit")


_LOOK_EVERY_S = 1.0
_SHOWN = ("at", "outcome", "template_id", "user_id", "role", "key_id", "reason")

Lines = Annotated[int, typer.Option("--lines", metavar="N", min=1, help="How many at most.")]


@audit_app.command()
def tail(
    lines: Lines = 20,
    follow: Annotated[bool, typer.Option("--follow", help="Go on showing new ones.")] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the last entries, oldest first."""
    with failures_as_messages():
        sink, _ = _open(config, data)
        try:
            found = list(sink.entries())[-lines:]
            _show(found, as_json=as_json)
            last = found[-1].number if found else 0
            while follow:
                time.sleep(_LOOK_EVERY_S)
                new = [entry for entry in sink.entries() if entry.number > last]
                _show(new, as_json=as_json)
                last = new[-1].number if new else last
        finally:
            sink.close()


@audit_app.command()
def search(
    adapter: Annotated[
        str | None, typer.Option("--adapter", help="Calls through that adapter.", metavar="NAME")
    ] = None,
    user: Annotated[
        str | None, typer.Option("--user", help="Calls for that user.", metavar="ID")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="Calls with that key.", metavar="KEYID")
    ] = None,
    template: Annotated[
        str | None, typer.Option("--template", help="Calls of that template.", metavar="ID")
    ] = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", help="Calls that ended so.", metavar="NAME")
    ] = None,
    request: Annotated[
        str | None, typer.Option("--request", help="The calls of that request.", metavar="ID")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Such as 2025-03-04T10:00.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Before that time.")
    ] = None,
    lines: Lines = 1000,
    config: ConfigOption = DEFAULT_CONFIG,
    data: DataOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the entries that fit everything that is asked for, oldest first."""
    with failures_as_messages():
        wanted = {
            "adapter": adapter,
            "user_id": user,
            "key_id": key,
            "template_id": template,
            "outcome": outcome,
            "request_id": request,
        }
        asked = {name: value for name, value in wanted.items() if value is not None}
        begin, end = _moment(since), _moment(until)
        sink, _ = _open(config, data)
        try:
            found = [
                entry
                for entry in sink.entries()
                if all(entry.event.get(name) == value for name, value in asked.items())
                and _between(str(entry.event.get("at", "")), begin, end)
            ]
        finally:
            sink.close()
        _show(found[-lines:], as_json=as_json)
        if len(found) > lines:
            say(f"The last {lines} of {len(found)}; --lines shows more.")


@audit_app.command()
def verify(
    config: ConfigOption = DEFAULT_CONFIG, data: DataOption = None, as_json: JsonOption = False
) -> None:
    """Check that no entry was altered, removed or put in; exit code 1 when one was."""
    with failures_as_messages():
        from server.audit.entry import verify_chain as check

        sink, seal = _open(config, data)
        try:
            verdict = check(sink, seal)
        finally:
            sink.close()
        if as_json:
            print_json(
                {
                    "entries": verdict.entries,
                    "whole": verdict.whole,
                    "problems": list(verdict.problems),
                }
            )
        else:
            for problem in verdict.problems:
                print_text(problem)
        if not verdict.whole:
            number = len(verdict.problems)
            fail(f"the audit is not whole: {number} problem{'' if number == 1 else 's'}")
        if not as_json:
            print_text(f"{verdict.entries} entries, and all of them are as they were written")


def _open(config: Path, data: Path | None) -> "tuple[Sink, AuditSeal]":
    from server.audit.writer import open_sink
    from server.cli.options import configured

    opened = open_sink(configured(config, data=data).settings)
    if opened is None:
        fail("nothing is kept: access.audit.sink is off")
    return opened


def _show(entries: "list[AuditEntry]", *, as_json: bool) -> None:
    if as_json:
        print_json({"entries": [entry.to_dict() for entry in entries]})
        return
    for entry in entries:
        print_text("  ".join(_cells(entry)))


def _cells(entry: "AuditEntry") -> Iterator[str]:
    yield str(entry.number)
    for name in _SHOWN:
        value: Any = entry.event.get(name)
        yield _on_one_line(str(value)) if value not in (None, "") else "-"


def _on_one_line(text: str) -> str:
    """Text that moves no terminal: what was asked may stand in it."""
    return "".join(char if char.isprintable() else "�" for char in text)


def _moment(text: str | None) -> str:
    """A time as entries write it, in UTC; a time without a zone is this machine's."""
    if text is None:
        return ""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        fail(f"{text!r} is no time; write it as 2025-03-04T10:00")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")


def _between(at: str, begin: str, end: str) -> bool:
    return at >= begin and (not end or at < end)
