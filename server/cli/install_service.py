"""`install-service`: a unit of systemd that serves a project, written or removed."""

import os
import pwd
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Final, NoReturn

import typer

from server.cli import options
from server.cli.options import option
from server.cli.output import fail, print_text, say
from server.cli.systemd_unit import MARK, Service, unreadable
from server.core.installation import EXAMPLE_CONFIG, PACKAGE, command
from server.settings.loader import root_of

BOOTED: Final = Path("/run/systemd/system")
"""Is there where systemd runs."""
SYSTEM_UNITS: Final = Path("/etc/systemd/system")
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,30}")
_WIND_DOWN_S: Final = 10.0
_PASSED_ON: Final = ("ORBIT_HOME", "ORBIT_COMMAND")


def install_service(
    of_system: Annotated[
        bool,
        typer.Option("--system", help="For the whole machine, from its start on; needs root."),
    ] = False,
    removes: Annotated[
        bool, typer.Option("--remove", help="Stop the service, and remove its unit.")
    ] = False,
    prints: Annotated[
        bool,
        typer.Option("--print", "--dry-run", help="Print the unit, and write nothing."),
    ] = False,
    name: Annotated[str, option("NAME", "Name of the service.")] = "orbit",
    user: Annotated[
        str | None, option("USER", "With --system: who it runs as; by default the service's name.")
    ] = None,
    host: options.Host = None,
    port: options.Port = None,
    config: options.Config = options.DEFAULT_CONFIG,
    data: options.Data = None,
    workers: options.Workers = None,
) -> None:
    """Have systemd run the server: write a unit, and say how to start it.

    Without --system it is a service of your own, which runs while you are logged in.
    """
    if not _NAME.fullmatch(name):
        fail(f"--name: {name!r} is no name of a service: use small letters, digits and dashes")
    if user is not None and not of_system:
        fail("--user says who a service of the whole machine runs as: add --system")
    unit = _units(of_system=of_system) / f"{name}.service"
    again = ["install-service", *(["--system"] if of_system else [])]
    again += [] if name == "orbit" else ["--name", name]
    if removes:
        _refuse_without_systemd(of_system, prints=False)
        _remove(unit, of_system=of_system)
        return
    found = options.configured(config, data=data, host=host, port=port, workers=workers)
    server = found.settings.server
    runs_as = (user or name) if of_system else None
    data_dir = found.settings.data_dir
    if of_system and data is None:
        data_dir = Path("/var/lib") / name
    config = config.absolute()
    given = options.repeated(config, data_dir, host=host, port=port, workers=workers)
    if config == EXAMPLE_CONFIG:
        given = ["--config", str(config), *given]
    passed_on = {each: os.environ[each] for each in _PASSED_ON if os.environ.get(each)}
    if "ORBIT_COMMAND" in passed_on:
        passed_on["ORBIT_COMMAND"] = str(Path(passed_on["ORBIT_COMMAND"]).absolute())
    root = root_of(config)
    needed = [root, config, root / ".env"]
    service = Service(
        name=name,
        command=[sys.executable, "-P", "-m", "server", "serve", *given],
        config=config,
        data_dir=data_dir,
        remove=command(*again, "--remove"),
        stop_s=server.drain_s + server.shutdown_grace_s + _WIND_DOWN_S,
        user=runs_as,
        reloads=found.settings.worker_count > 1,
        reads=[Path(sys.executable), Path(sys.base_prefix), PACKAGE, *needed],
        environment=passed_on,
    )
    if prints:
        print_text(service.text().rstrip())
        say(f"This would be written to {unit}")
        return
    _refuse_without_systemd(of_system, prints=True)
    _refuse_unreadable(service)
    replaced = _write(unit, service.text())
    adapter = next((each.name for each in found.settings.adapters if each.enabled), "NAME")
    _say_next(service, adapter, replaced=replaced)


def _units(*, of_system: bool) -> Path:
    if of_system:
        return SYSTEM_UNITS
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "systemd" / "user"


def _refuse_without_systemd(of_system: bool, *, prints: bool) -> None:
    if not BOOTED.is_dir():
        other = f"; to see the unit: {command('install-service', '--print')}" if prints else ""
        fail(f"systemd does not run here ({BOOTED} is not there); in the background: "
             f"{command('start')}{other}")  # fmt: skip
    if of_system and os.geteuid() != 0:
        fail(f"a service of the whole machine is written to {SYSTEM_UNITS}, as root: use sudo, "
             "or leave out --system for a service of your own")  # fmt: skip


def _refuse_unreadable(service: Service) -> None:
    if service.user is None:
        return
    closed = next(unreadable(service.reads, service.user), None)
    if closed is not None:
        mode = closed.stat().st_mode & 0o777
        fail(
            f"the service runs as the user {service.user}, who cannot read {closed} (mode "
            f"{mode:o}): install Orbit and its project where others may read, as in /opt, or "
            "name another user with --user"
        )


def _refuse_foreign(unit: Path) -> None:
    if unit.exists() and not unit.read_text(encoding="utf-8").startswith(MARK):
        _fail_foreign(unit)


def _fail_foreign(unit: Path) -> NoReturn:
    fail(f"{unit} was not written by Orbit, and is left as it is; another name: --name NAME")


def _write(unit: Path, text: str) -> bool:
    """Write the unit, and return whether it replaced one."""
    _refuse_foreign(unit)
    was_there = unit.exists()
    unit.parent.mkdir(parents=True, exist_ok=True)
    unit.write_text(text, encoding="utf-8")
    unit.chmod(0o644)
    say(f"{unit} was {'replaced' if was_there else 'written'}")
    return was_there


def _say_next(service: Service, adapter: str, *, replaced: bool) -> None:
    name, of_system = service.name, service.user is not None
    control = "systemctl" if of_system else "systemctl --user"
    if service.user is not None and not _is_there(service.user):
        home = f"--home-dir {service.state_dir} --shell /usr/sbin/nologin"
        say(f"Its user is not there yet:\n  useradd --system {home} {service.user}")
    if service.user is not None and service.data_dir != service.state_dir:
        words = ["install", "-d", "-m", "700", "-o", service.user, str(service.data_dir)]
        say(f"Its data folder has to be its own:\n  {shlex.join(words)}")
    if replaced:
        say(f"Have it run as it is now:\n  {control} daemon-reload && {control} restart {name}")
    else:
        say(f"Start it, now and from now on:\n  {control} enable --now {name}")
        if not of_system:
            say("Have it run while you are logged out as well:\n  loginctl enable-linger")
    own = options.repeated(service.config, service.data_dir)
    key = command("keys", "create", "--adapter", adapter, *own)
    say(f"Make a key:\n  {f'sudo -u {service.user} ' if of_system else ''}{key}")
    log = f"{control.replace('systemctl', 'journalctl')} --follow --unit {name}"
    say(f"Look at its log:\n  {log}")


def _is_there(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _remove(unit: Path, *, of_system: bool) -> None:
    if not unit.exists():
        fail(f"there is no {unit}")
    _refuse_foreign(unit)
    control = ["systemctl"] if of_system else ["systemctl", "--user"]
    for words in (["disable", "--now", unit.name], ["daemon-reload"]):
        try:
            done = subprocess.run(  # noqa: S603  our own words
                [*control, *words], capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            fail("there is no systemctl here")
        if done.returncode:
            fail(f"{' '.join([*control, *words])}: {done.stderr.strip()}")
        unit.unlink(missing_ok=True)
    say(f"{unit.stem} was stopped, and {unit} removed; its data is still there")
