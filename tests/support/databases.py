"""Both kinds of database that lasting things are kept in, empty for each test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.support.postgresql import mortal_postgresql, why_not

WHY_NOT = why_not()
needs_postgresql = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
KINDS = ("sqlite", pytest.param("postgresql", marks=needs_postgresql))


class Databases:
    """Gives the URLs of empty databases; one PostgreSQL is started when it is first asked for."""

    def __init__(self, url: Iterator[str]) -> None:
        self._starting = url
        self._url: str | None = None
        self._made = 0

    def empty(self, kind: str, folder: Path) -> str:
        if kind == "sqlite":
            return f"sqlite:///{folder / 'orbit.db'}"
        self._url = self._url or next(self._starting)
        self._made += 1
        engine = sa.create_engine(self._url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE DATABASE made_{self._made}"))
        engine.dispose()
        url = sa.make_url(self._url).set(database=f"made_{self._made}")
        return url.render_as_string(hide_password=False)

    def close(self) -> None:
        for _ in self._starting if self._url else ():
            """It ends with the one URL that it gives."""


@contextmanager
def databases() -> Iterator[Databases]:
    def started() -> Iterator[str]:
        with mortal_postgresql() as server:
            yield server.url

    found = Databases(started())
    try:
        yield found
    finally:
        found.close()


@pytest.fixture(scope="session")
def made() -> Iterator[Databases]:
    with databases() as made:
        yield made


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, made: Databases, tmp_path: Path) -> str:
    return made.empty(request.param, tmp_path)


def end_connections(url: str) -> None:
    """Have a PostgreSQL end all connections, as a restart does."""
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
        found = connection.execute(
            sa.text(f"{others} pg_backend_pid() AND datname = current_database()")
        )
        assert found.all()
    engine.dispose()
