"""Options that many commands share, and the configuration that they name."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from server.cli.output import fail, say
from server.core.installation import EXAMPLE_CONFIG, command, example_data_dir
from server.errors import AdapterUnknown, ConfigurationInvalid
from server.settings.place import config_file
from server.workers import MOST_WORKERS

if TYPE_CHECKING:
    from server.settings.loader import LoadedSettings
    from server.settings.models import AdapterSettings, Settings

DEFAULT_CONFIG: Final = Path(os.environ.get("ORBIT_HOME", "")) / "config" / "config.yaml"
"""The launcher says where the project is, whatever folder the command was typed in."""

DATA_VARIABLE: Final = "ORBIT_DATA"
"""Stands for `--data` on every command: for containers and services."""


def chosen_config(path: Path) -> Path:
    """Return the configuration of a project where its folder is named.

    Without a project in the folder where an installed `orbit` is typed, that of the example.
    """
    if path == DEFAULT_CONFIG and not path.is_file() and not os.environ.get("ORBIT_HOME"):
        return EXAMPLE_CONFIG
    return config_file(path)


Config = Annotated[
    Path,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The configuration to use, or the folder of a project.",
        show_default="config/config.yaml",
        callback=chosen_config,
    ),
]
Place = Annotated[
    Path | None,
    typer.Argument(
        metavar="[PATH]",
        help="The folder of a project or of a library, instead of --config.",
        show_default=False,
    ),
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Folder for everything that changes; overrides data_dir.",
        envvar=DATA_VARIABLE,
    ),
]
Host = Annotated[
    str | None,
    typer.Option("--host", metavar="HOST", help="Address to listen on; overrides server.host."),
]
Port = Annotated[
    int | None,
    typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port; overrides server.port."),
]


def worker_count(given: str | None) -> str | None:
    """Refuse what is no number of workers, and return what is."""
    if given is None or given == AUTO:
        return given
    if not given.isdecimal() or not 1 <= int(given) <= MOST_WORKERS:
        raise typer.BadParameter(
            f"{given!r} is no number of processes: write one from 1 to {MOST_WORKERS}, or "
            f"{AUTO!r} for one for each core"
        )
    return str(int(given))


AUTO: Final = "auto"

Workers = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Processes that answer, or 'auto': one for each core; overrides server.workers.",
        callback=worker_count,
    ),
]
Watch = Annotated[
    bool, typer.Option("--watch", help="Reload each adapter when its files are saved.")
]
Adapter = Annotated[
    str | None,
    typer.Option(
        "--adapter", metavar="NAME", help="Adapter to ask; without it, the first that is enabled."
    ),
]
User = Annotated[
    str | None,
    typer.Option("--user", metavar="ID", help="Who asks, as templates know it."),
]
Role = Annotated[
    str | None,
    typer.Option("--role", metavar="ROLE", help="Ask as this role; without it, as the highest."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
Question = Annotated[str, typer.Argument(metavar="QUESTION", help="The question, in quotes.")]


def is_default(config: Path) -> bool:
    """Return whether it is what a command takes that is told of no configuration."""
    return config in (DEFAULT_CONFIG, EXAMPLE_CONFIG)


def repeated(
    config: Path,
    data: Path | None,
    *,
    host: str | None = None,
    port: int | None = None,
    workers: str | None = None,
    watch: bool = False,
) -> list[str]:
    """The options that were given, for a command to paste that is to mean the same server."""
    given = {
        "--config": None if is_default(config) else config,
        "--data": data,
        "--host": host,
        "--port": port,
        "--workers": workers,
    }
    words = [str(word) for pair in given.items() if pair[1] is not None for word in pair]
    return [*words, "--watch"] if watch else words


def option(metavar: str, text: str) -> Any:
    """Return an option of one command; `text` is its help."""
    return typer.Option(metavar=metavar, help=text)


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings, and the variables that the files adapters name are filled from."""

    settings: "Settings"
    environ: Mapping[str, str] = field(repr=False)

    def with_data_dir(self, data_dir: Path) -> "Configured":
        return replace(self, settings=self.settings.model_copy(update={"data_dir": data_dir}))

    def adapter(self, name: str | None) -> "AdapterSettings":
        """Return the adapter of that name, else the first enabled one, or raise AdapterUnknown."""
        enabled = {a.name: a for a in self.settings.adapters if a.enabled}
        known = ", ".join(enabled) or "none"
        if name is None and enabled:
            first = next(iter(enabled.values()))
            if len(enabled) > 1:
                say(f"Asking {first.name}; --adapter names another of: {known}")
            return first
        if name not in enabled:
            what = "there is no enabled adapter" + (f" {name!r}" if name else "")
            raise AdapterUnknown(f"{what}; there are: {known}")
        return enabled[name]

    def library_adapter(self, name: str | None) -> "AdapterSettings":
        """Return an adapter as `adapter` does; fail where it has no library of its own."""
        chosen = self.adapter(name)
        if chosen.config.child_adapters:
            others = ", ".join(child.adapter for child in chosen.config.child_adapters)
            fail(f"{chosen.name} has no library of its own; name one behind it: {others}")
        return chosen


def configured(
    config: Path,
    *,
    data: Path | None = None,
    host: str | None = None,
    port: int | None = None,
    workers: str | None = None,
) -> Configured:
    """Load the configuration, print its warnings, and override what is given.

    May raise ConfigurationInvalid.
    """
    if config == DEFAULT_CONFIG and not config.is_file():
        fail(
            f"there is no {config}: name the folder of a project with --config, or make one; "
            f"for example: {command('new', 'shop')}"
        )
    say_if_example(config)
    from server.settings.loader import load_settings  # not every command needs settings

    if data is None and config == EXAMPLE_CONFIG:
        data = example_data_dir()
    loaded = load_settings(config, os.environ)
    return _overridden(loaded, data=data, host=host, port=port, workers=workers)


@cache
def say_if_example(config: Path) -> None:
    """Say, once, that what is asked is the example that ships with Orbit."""
    if config == EXAMPLE_CONFIG:
        own = command("new", "DIR")
        say(f"No project here (config/config.yaml): this is Orbit's example. For your own: {own}")


def configured_at(place: Path | None, config: Path, *, data: Path | None = None) -> Configured:
    """Load the configuration of a project, or of the one library in a folder.

    A library that a project around it has for an adapter is asked as that adapter. What is made
    for another is kept in `.orbit` beside it. May raise ConfigurationInvalid.
    """
    if place is None:
        return configured(config, data=data)
    from server.adapters.library_folder import DOMAIN, load_place

    if not config_file(place).is_file() and not (place / DOMAIN).is_file():
        fail(f"{place} holds neither a project (config/config.yaml) nor a library ({DOMAIN})")
    return _overridden(load_place(place, os.environ), data=data)


def _overridden(
    loaded: "LoadedSettings",
    *,
    data: Path | None = None,
    host: str | None = None,
    port: int | None = None,
    workers: str | None = None,
) -> Configured:
    if loaded.settings is None:
        raise ConfigurationInvalid(loaded.problems)
    for problem in loaded.problems:
        say(str(problem))
    settings = loaded.settings
    if data is not None:
        settings = settings.model_copy(update={"data_dir": data.absolute()})
    count = int(workers) if workers not in (None, AUTO) else workers
    named = (("host", host), ("port", port), ("workers", count))
    given = {name: value for name, value in named if value is not None}
    server = settings.server.model_copy(update=given)
    return Configured(settings.model_copy(update={"server": server}), loaded.environ)
