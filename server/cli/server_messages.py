"""What people are told of a server: that it runs, how it is, and what to type next."""

import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from server.access.models import sample_name
from server.cli.launcher import ServerReadiness, fault_lines, lock_lines
from server.cli.output import print_text, say
from server.cli.runfile import Running
from server.core.installation import command

if TYPE_CHECKING:
    from server.settings.models import AdapterSettings, Settings


def say_started(
    running: Running,
    readiness: ServerReadiness,
    settings: "Settings",
    *,
    elapsed_s: float,
    given: Sequence[str] = (),
    console: str = "",
) -> None:
    """Say where it runs and what to type next; `given` are options for those commands.

    `console` is where the page for people is, if there is one.
    """
    page = f"  console: {console}" if console else ""
    warn_of(readiness)
    if not readiness.serves:
        say(
            f"Orbit is running at {running.url} (pid {running.pid}), but no adapter serves. "
            f"The log is {running.log}"
        )
        if page:
            say(page)
        return
    among = f" with {count} workers" if (count := readiness.workers.get("count")) else ""
    who = f"Orbit is running at {running.url}{among} (pid {running.pid})"
    say(f"{who}, ready after {elapsed_s:.1f} s")
    if page:
        say(page)
    say(f"  log:     {running.log}")
    say(f"  stop:    {command('stop', *given)}")
    say("")
    adapter = readiness.adapters_that_are("ready")[0]
    question = example_question(next(a for a in settings.adapters if a.name == adapter))
    if settings.access.sample_keys:
        say("Make its sample key once, then ask:")
        say(f"  {sample_key_command(adapter, given)}")
        say(f"  {curl(running.url, sample_name(adapter), question)}")
    else:
        say("Make a key, then ask with it:")
        say(f"  {command('keys', 'create', '--adapter', adapter, *given)}")
        say(f"  {curl(running.url, 'YOUR_KEY', question)}")


def warn_of(readiness: ServerReadiness) -> None:
    if not readiness.adapters:
        say("warning: the configuration enables no adapter, so there is nothing to ask")
    for complaint in readiness.complaints():
        say(f"warning: {complaint}")


def say_status(data_dir: Path, running: Running | None, readiness: ServerReadiness | None) -> None:
    if running is None:
        print_text(f"Orbit is not running (data folder {data_dir})")
        return
    how = "not answering" if readiness is None else readiness.status
    print_text(f"Orbit is running at {running.url} (pid {running.pid}): {how}")
    print_text(f"  since  {running.started_at}")
    print_text(f"  log    {running.log or 'the terminal it runs in'}")
    if running.watches:
        print_text("  watch  what is saved is reloaded")
    for line in () if readiness is None else worker_lines(readiness.workers):
        print_text(f"  {line}")
    for row in () if readiness is None else readiness.adapters:
        why = f": {row['why']}" if row.get("why") else ""
        print_text(f"  {row.get('state')}  {row.get('name')}{why}")
        for line in (*fault_lines(row), *lock_lines(row)):
            print_text(f"    {line}")


def worker_lines(workers: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each worker of a server that has several."""
    for row in workers.get("processes", ()):
        restarts = row["restarts"]
        again = f", replaced {restarts} time{'s' if restarts != 1 else ''}" if restarts else ""
        which = f"worker {row['number']} of {workers['count']} (pid {row['pid']})"
        yield f"{which}: {row['state']}{again}"
    if workers.get("failed"):
        yield f"the last replacement of workers was given up: {workers['failed']}"


_SCRIPT: Final = "utils/scripts/generate-sample-api-keys.sh"


def curl(url: str, key: str, question: str) -> str:
    return (
        f"curl -X POST {url}/chat -H {_shell_quoted(f'Authorization: Bearer {key}')} "
        f"-H {_shell_quoted('Content-Type: application/json')} "
        f"-d {shlex.quote(json.dumps({'message': question}, ensure_ascii=False))}"
    )


def example_question(adapter: "AdapterSettings") -> str:
    """Return the first example question of the adapter's own templates."""
    from server.settings.documents import read_yaml

    for pattern in adapter.config.template_library_path:
        for file in sorted(glob(str(pattern))):
            data = read_yaml(Path(file), os.environ, top=(dict, list)).data
            entries = data.get("templates") if isinstance(data, dict) else data
            for template in entries if isinstance(entries, list) else ():
                examples = template.get("nl_examples") if isinstance(template, dict) else None
                if examples:
                    return str(examples if isinstance(examples, str) else examples[0])
    return "What can you do?"


def sample_key_command(adapter: str, given: Sequence[str] = ()) -> str:
    home = os.environ.get("ORBIT_HOME")
    if home and (Path(home) / _SCRIPT).exists():
        script = Path(os.environ.get("ORBIT_COMMAND", "")).parent.parent / _SCRIPT
        shown = script if script.exists() else Path(home) / _SCRIPT
        named = str(shown) if shown.is_absolute() else f"./{shown}"
        return shlex.join([named, "--adapter", adapter, *given])
    return command("keys", "sample", "--adapter", adapter, *given)


def _shell_quoted(text: str) -> str:
    """Return the text in double quotes where those are enough, which is easier to read."""
    plain = text.isprintable() and not set(text) & set('"$`\\!')
    return f'"{text}"' if plain else shlex.quote(text)
