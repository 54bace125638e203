"""`audit`: what was called and refused, and whether the record of it is whole."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from server.cli import options
from server.cli.output import CommandGroup, fail, print_result, print_text, say
from server.core.json import to_json

if TYPE_CHECKING:
    from server.audit.entry import AuditEntry, AuditSeal, Sink

audit_app = typer.Typer(
    cls=CommandGroup,
    help="Look at what was called and refused, and check that none of it was changed.",
    no_args_is_help=True,
)

_POLL_S = 1.0
_SHOWN = ("at", "outcome", "what", "user_id", "role", "key_id", "reason")

Wanted = str | None
Lines = Annotated[int, typer.Option("--lines", metavar="N", min=1, help="How many at most.")]


@audit_app.command()
def tail(
    lines: Lines = 20,
    follow: Annotated[bool, typer.Option("--follow", help="Go on showing new ones.")] = False,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Show the last entries, oldest first."""
    with _open_audit(config, data) as (sink, _):
        entries = list(islice(sink.newest(), lines))[::-1]
        _show(entries, as_json=as_json)
        last = entries[-1].number if entries else 0
        while follow:
            time.sleep(_POLL_S)
            new = [entry for entry in sink.entries() if entry.number > last]
            _show(new, as_json=as_json)
            last = new[-1].number if new else last


@audit_app.command()
def search(
    adapter: Annotated[Wanted, options.option("NAME", "Calls through that adapter.")] = None,
    user: Annotated[Wanted, options.option("ID", "Calls for that user.")] = None,
    key: Annotated[Wanted, options.option("KEYID", "Calls with that key.")] = None,
    template: Annotated[Wanted, options.option("ID", "Calls of that template.")] = None,
    outcome: Annotated[Wanted, options.option("NAME", "Calls that ended so.")] = None,
    kind: Annotated[Wanted, options.option("KIND", "Either call or change.")] = None,
    request: Annotated[Wanted, options.option("ID", "The calls of that request.")] = None,
    since: Annotated[Wanted, options.option("TIME", "Such as 2025-03-04T10:00.")] = None,
    until: Annotated[Wanted, options.option("TIME", "Before that time.")] = None,
    lines: Lines = 1000,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Show the entries that fit everything that is asked for, oldest first."""
    wanted = {
        "adapter": adapter,
        "user_id": user,
        "key_id": key,
        "template_id": template,
        "outcome": outcome,
        "request_id": request,
        "kind": kind,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    from server.audit.reader import WantedEntries, utc_time

    span = (utc_time(text) if text else "" for text in (since, until))
    asked = WantedEntries(given, *span)
    with _open_audit(config, data) as (sink, _):
        entries = [entry for entry in sink.entries() if asked.fit(entry)]
    _show(entries[-lines:], as_json=as_json)
    if len(entries) > lines:
        say(f"The last {lines} of {len(entries)}; --lines shows more.")


@audit_app.command()
def verify(
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Check that no entry was altered, removed or put in; exit code 1 when one was."""
    from server.audit.entry import verify_chain

    with _open_audit(config, data) as (sink, seal):
        verdict = verify_chain(sink, seal)
    problems = list(verdict.problems)
    found = {"entries": verdict.entries, "whole": verdict.whole, "problems": problems}
    print_result(found, problems, as_json=as_json)
    if not verdict.whole:
        fail(f"the audit is not whole: {len(problems)} problem{'s' * (len(problems) != 1)}")
    if not as_json:
        print_text(f"{verdict.entries} entries, and all of them are as they were written")


@contextmanager
def _open_audit(config: Path, data: Path | None) -> "Iterator[tuple[Sink, AuditSeal]]":
    from server.audit.writer import open_sink

    opened = open_sink(options.configured(config, data=data).settings)
    if opened is None:
        fail("nothing is kept: access.audit.sink is off")
    try:
        yield opened
    finally:
        opened[0].close()


def _show(entries: "list[AuditEntry]", *, as_json: bool) -> None:
    data = {"entries": [entry.to_dict() for entry in entries]}
    print_result(data, map(_line, entries), as_json=as_json)


def _line(entry: "AuditEntry") -> str:
    event = {"what": entry.event.get("template_id"), **entry.event}
    if event.get("kind") == "change":  # it has no template
        event["what"] = f"{event.get('tool')} {event.get('operation')}"
        event["reason"] = " ".join(_change_details(event))
    values = [event.get(name) for name in _SHOWN]
    cells = ["-" if value in (None, "") else _printable(str(value)) for value in values]
    return "  ".join([str(entry.number), *cells])


def _change_details(event: "Mapping[str, Any]") -> "Iterator[str]":
    if event.get("adapter"):
        yield f"adapter={event['adapter']}"
    for name, value in event.get("arguments", {}).items():
        if value not in (None, "", []):
            yield f"{name}={value if isinstance(value, str) else to_json(value)}"
    if event.get("reason"):
        yield f"({event['reason']})"


def _printable(text: str) -> str:
    """Return the text without what could move the cursor: questions may stand in it."""
    return "".join(char if char.isprintable() else "�" for char in text)
