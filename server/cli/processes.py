"""`start`, `stop`, `restart`, `status` and `logs`: the server in the background."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from server.cli import options
from server.cli.console import start_line
from server.cli.launcher import (
    StartInterrupted,
    ask_readiness,
    launch,
    replace_workers,
    serve_command,
    stop_process,
)
from server.cli.logs import follow_log, last_lines, log_path
from server.cli.output import fail, print_json, print_text, say
from server.cli.ports import check_free
from server.cli.runfile import (
    Launch,
    Running,
    forget_running,
    one_at_a_time,
    read_running,
    write_running,
)
from server.cli.sameness import changed_variables, code_token
from server.cli.server_messages import say_started, say_status, warn_of
from server.core.installation import command
from server.errors import ConfigurationInvalid

_NOT_RUNNING: Final = 3  # what service managers expect of "status"


def start(
    host: options.Host = None,
    port: options.Port = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    workers: options.Workers = None,
    watch: options.Watch = False,
) -> None:
    """Start the server in the background, and wait until it is ready."""
    found = options.configured(config, data=data, host=host, port=port, workers=workers)
    settings = found.settings
    with one_at_a_time(settings.data_dir):
        running = read_running(settings.data_dir)
        if running is not None:
            given = options.repeated(
                config, data, host=host, port=port, workers=workers, watch=watch
            )
            count = None if workers is None else settings.worker_count
            _say_already_running(running, host, port, watch, count, command("restart", *given))
            if settings.console.enabled:
                page = command("console", "--open", *options.repeated(config, data))
                say(f"  console: {page}")
            return
        free = check_free(settings.server.host, settings.server.port)
        wanted = Launch(
            host=settings.server.host,
            port=free,
            config=config,
            data_dir=settings.data_dir,
            shutdown_grace_s=settings.server.shutdown_grace_s,
            drain_s=settings.server.drain_s,
            asked_host=host,
            asked_port=free if port == 0 else port,
            watches=watch,
            workers=settings.worker_count,
            asked_workers=workers,
        )
        begun = time.monotonic()
        try:
            running, readiness = launch(wanted, serve_command(wanted))
        except StartInterrupted as interrupted:
            say(str(interrupted))
            raise typer.Exit(interrupted.exit_code) from None
    elapsed_s = time.monotonic() - begun
    page, repeated = start_line(running, settings), options.repeated(config, data)
    say_started(running, readiness, settings, elapsed_s=elapsed_s, given=repeated, console=page)
    if not readiness.serves:
        raise typer.Exit(1)


def stop(config: options.Config = options.DEFAULT_CONFIG, data: options.Data = None) -> None:
    """Stop the server; requests in flight finish first."""
    _stop(_data_dir(config, data))


def restart(
    host: options.Host = None,
    port: options.Port = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    workers: options.Workers = None,
    watch: options.Watch = False,
) -> None:
    """Stop the server if it runs, and start it with the options it had, or these.

    Where only the configuration or files of libraries changed, several workers are replaced one
    after the other instead, so that no request is refused.
    """
    before = read_running(_data_dir(config, data))
    if before is not None:
        host = before.asked_host if host is None else host
        port = before.asked_port if port is None else port
        config = Path(before.config) if options.is_default(config) else config
        workers = before.asked_workers if workers is None else workers
        watch = watch or before.watches
    # A configuration that cannot be used must not cost the server that runs.
    found = options.configured(config, data=data, host=host, port=port, workers=workers)
    if before is not None and before.workers > 1:
        changed = _changed_beside_files(before, config, found, workers, watch=watch)
        if not changed:
            _replace_workers(before, found)
            return
        say(f"Stopping and starting all of it, since this changed: {', '.join(changed)}")
    _stop(found.settings.data_dir)
    start(host, port, config, data, workers, watch)


def status(
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    as_json: options.Json = False,
) -> None:
    """Say whether the server runs and what it serves; exit code 3 when it does not run."""
    data_dir = _data_dir(config, data)
    running = read_running(data_dir)
    readiness = None if running is None else ask_readiness(running.url)
    if not as_json:
        say_status(data_dir, running, readiness)
    elif running is None:
        print_json({"running": False, "data_dir": str(data_dir)})
    else:
        print_json(
            {
                "running": True,
                "status": "not answering" if readiness is None else readiness.status,
                "adapters": [] if readiness is None else [dict(row) for row in readiness.adapters],
                "url": running.url,
                "pid": running.pid,
                "started_at": running.started_at,
                "watches": running.watches,
                "workers": {} if readiness is None else dict(readiness.workers),
                "log": running.log,
                "data_dir": str(data_dir),
            }
        )
    if running is None:
        raise typer.Exit(_NOT_RUNNING)


def logs(
    following: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on showing what is added, until Ctrl-C.")
    ] = False,
    lines: Annotated[
        int, typer.Option("--lines", "-n", metavar="COUNT", min=0, help="Lines to show first.")
    ] = 50,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
) -> None:
    """Show the end of the log of the server in the background."""
    log = log_path(_data_dir(config, data))
    if not log.exists():
        fail(f"there is no log at {log}: no server was started with this data folder")
    try:
        end_of_log = log.stat().st_size
        for line in last_lines(log, lines):
            print_text(line)
        for new in follow_log(log, start=end_of_log) if following else ():
            typer.echo(new, nl=False)
    except KeyboardInterrupt:
        if not following:  # Ctrl-C is the way to stop following
            raise


def _replace_workers(running: Running, found: options.Configured) -> None:
    try:
        failed = replace_workers(running)
    except StartInterrupted as interrupted:
        say(str(interrupted))
        raise typer.Exit(interrupted.exit_code) from None
    if failed is not None:
        fail(f"the new workers do not serve, and those from before go on: {failed}")
    server = found.settings.server
    as_now = replace(running, shutdown_grace_s=server.shutdown_grace_s, drain_s=server.drain_s)
    write_running(found.settings.data_dir, as_now)
    say(f"Orbit (pid {running.pid}) has replaced its workers, one after the other")


def _changed_beside_files(
    running: Running, config: Path, found: options.Configured, workers: str | None, *, watch: bool
) -> list[str]:
    """Return what new workers of the server that runs would not take up."""
    server = found.settings.server
    compared = {
        "the address": (running.host, server.host),
        "the port": (running.port, server.port or running.port),
        "the configuration file": (running.config, str(config.absolute())),
        "--workers": (running.asked_workers, workers),
        "--watch": (running.watches, watch),
        "the code": (running.code, code_token()),
    }
    changed = [what for what, (was, is_now) in compared.items() if was != is_now]
    if found.settings.worker_count == 1:
        changed.append("the number of workers")
    variables = changed_variables(running.pid)
    if variables is None:
        return [*changed, "perhaps the environment"]
    return [*changed, *(f"the variable {name}" for name in variables)]


def _say_already_running(
    running: Running,
    host: str | None,
    port: int | None,
    watch: bool,
    workers: int | None,
    again: str,
) -> None:
    """Say that it runs; that is a failure if it runs otherwise than it was asked to."""
    if host not in (None, running.host) or port not in (None, 0, running.port):
        fail(
            f"Orbit is already running at {running.url} (pid {running.pid}), and not where you "
            f"asked for. Name another --data folder for a second server, or move it: {again}"
        )
    if workers not in (None, running.workers):
        fail(
            f"Orbit is already running at {running.url} (pid {running.pid}), with "
            f"{running.workers} worker{'s' if running.workers != 1 else ''}: {again}"
        )
    if watch and not running.watches:
        fail(
            f"Orbit is already running at {running.url} (pid {running.pid}), and does not watch "
            f"its files: {again}"
        )
    say(f"Orbit is already running at {running.url} (pid {running.pid})")
    readiness = ask_readiness(running.url)
    if readiness is not None:
        warn_of(readiness)


def _stop(data_dir: Path) -> None:
    running = read_running(data_dir)
    if running is None:
        say(f"Orbit is not running (data folder {data_dir})")
        return
    ending = stop_process(running)
    if ending == "left":
        say(f"not waiting any longer; pid {running.pid} goes on finishing its requests")
        raise typer.Exit(130)
    forget_running(data_dir, running.pid)
    if ending == "killed":
        drained = "draining and " if running.drain_s else ""
        say(
            f"Orbit (pid {running.pid}) did not end within "
            f"{running.drain_s + running.shutdown_grace_s:g} s, for {drained}requests in flight, "
            "and was killed"
        )
    else:
        say(f"Orbit (pid {running.pid}) has stopped")


def _data_dir(config: Path, data: Path | None) -> Path:
    """Return the data folder, also of a server whose configuration is broken by now."""
    if data is not None:
        return data.absolute()
    try:
        return options.configured(config).settings.data_dir
    except ConfigurationInvalid as invalid:
        from server.settings.loader import root_of

        guess = root_of(config) / "data"
        if not guess.is_dir():
            raise
        say(
            f"warning: {config} has {len(invalid.problems)} problems (see check), so the data "
            f"folder is taken to be {guess}; name another with --data"
        )
        return guess
