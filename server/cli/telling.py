"""What people are told of a server: that it started, and how it is."""

from pathlib import Path
from typing import TYPE_CHECKING

from server.access.raw import sample_name
from server.cli import hints
from server.cli.output import print_text, say
from server.cli.readiness import Readiness
from server.cli.runfile import Running

if TYPE_CHECKING:
    from server.settings.models import Settings


def say_started(
    running: Running, readiness: Readiness, settings: "Settings", *, elapsed_s: float
) -> None:
    """Say where it is, what is wrong with it, and a line to paste."""
    warn_of(readiness)
    if not readiness.serves:
        say(
            f"Orbit is running at {running.url} (pid {running.pid}), but no adapter serves. "
            f"The log is {running.log}"
        )
        return
    say(f"Orbit is running at {running.url} (pid {running.pid}), ready after {elapsed_s:.1f} s")
    say(f"  log:   {running.log}")
    say(f"  stop:  {hints.command('stop')}")
    say("")
    adapter = readiness.serving[0]
    question = hints.example_question(next(a for a in settings.adapters if a.name == adapter))
    if settings.access.sample_keys:
        say("Make its sample key once, then ask:")
        say(f"  {hints.sample_key_command(adapter)}")
        say(f"  {hints.curl(running.url, sample_name(adapter), question)}")
    else:
        say("Make a key, then ask with it:")
        say(f"  {hints.command('keys', 'create', '--adapter', adapter)}")
        say(f"  {hints.curl(running.url, 'YOUR_KEY', question)}")


def warn_of(readiness: Readiness) -> None:
    """Say which adapters do not serve, and why."""
    if not readiness.adapters:
        say("warning: the configuration enables no adapter, so there is nothing to ask")
    for complaint in readiness.complaints:
        say(f"warning: {complaint}")


def say_status(data_dir: Path, running: Running | None, readiness: Readiness | None) -> None:
    if running is None:
        print_text(f"Orbit is not running (data folder {data_dir})")
        return
    how = "not answering" if readiness is None else readiness.status
    print_text(f"Orbit is running at {running.url} (pid {running.pid}): {how}")
    print_text(f"  since  {running.started_at}")
    print_text(f"  log    {running.log or 'the terminal it runs in'}")
    for row in () if readiness is None else readiness.adapters:
        why = f": {row['why']}" if row.get("why") else ""
        print_text(f"  {row.get('state')}  {row.get('name')}{why}")
