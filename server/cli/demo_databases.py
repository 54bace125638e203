"""`demo-databases`: the databases that the examples ask, made on this machine."""

import importlib.util
import os
import re
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from server.cli import options
from server.cli.example_code import load_example
from server.cli.output import fail, say
from server.core.installation import command, install_command

SWITCHES: Final[Mapping[str, str]] = {"shop-sql": "DEMO_SHOP", "open-data": "DEMO_OPEN_DATA"}
"""The variable that switches each example's adapter on."""

_TO_ASK: Final = {
    "shop-sql": "Which customers ordered more than 500 € last month?",
    "open-data": "Which stations were the busiest last month?",
}


def demo_databases(
    orders: Annotated[
        int, typer.Option(metavar="NUMBER", min=100, help="How many orders the shop has.")
    ] = 100_000,
    trips: Annotated[
        int, typer.Option(metavar="NUMBER", min=100, help="How many trips the bicycles made.")
    ] = 500_000,
    last_day: Annotated[
        datetime | None,
        typer.Option(
            metavar="YYYY-MM-DD", formats=["%Y-%m-%d"], help="The last day.", show_default="today"
        ),
    ] = None,
    config: options.Config = options.DEFAULT_CONFIG,
) -> None:
    """Make the examples' databases: a shop in SQLite, and trips of bicycles for DuckDB."""
    from server.settings.loader import root_of

    root = root_of(config)
    day = (last_day or datetime.now().astimezone()).date()
    make_shop = load_example(root, "databases", "shop").make_shop
    shop, rides = Path("data/demo/shop.db"), Path("data/demo/rides")
    _timed(f"{shop}, {orders:,} orders up to {day}", lambda: make_shop(root / shop, day, orders))
    made = ["shop-sql"]
    if importlib.util.find_spec("duckdb") is not None:
        make_rides = load_example(root, "databases", "rides").make_rides
        told = f"{rides}, {trips:,} trips up to {day}"
        _timed(told, lambda: make_rides(root / rides, day, trips))
        made.append("open-data")
    added = _switch_on(root / ".env", [SWITCHES[name] for name in made])
    if added:
        say(f"{' and '.join(added)} written to .env: {' and '.join(made)} are switched on.")
    given = options.repeated(config, None)
    if len(made) < len(SWITCHES):
        say("For open-data, which needs DuckDB, as well:\n")
        install, again = install_command("duckdb"), command("demo-databases", *given)
        say(f"  {install} && {again}")
    say("\nAsk them, and `restart` a server that is running:\n")
    for name in made:
        say(f"  {command('ask', '--adapter', name, *given, _TO_ASK[name])}")


def _timed(what: str, make: Callable[[], None]) -> None:
    begun = time.monotonic()
    make()
    say(f"{what} ({time.monotonic() - begun:.1f} s)")


def _switch_on(env: Path, names: list[str]) -> list[str]:
    """Set variables to true in a file of them, but for those that it has; return what was added."""
    try:
        text = env.read_text(encoding="utf-8") if env.exists() else ""
    except UnicodeDecodeError:
        fail(f"{env} is not UTF-8 text")
    lines = [f"{name}=true" for name in names if not re.search(rf"(?m)^\s*{name}\s*=", text)]
    if lines:
        gap = "" if not text or text.endswith("\n") else "\n"
        # It may hold passwords, now or later.
        with open(os.open(env, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a") as file:
            file.write(gap + "\n".join(lines) + "\n")
    return lines
