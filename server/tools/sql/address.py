"""Where a database is: what `database:` of an adapter names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from server.core.suggestions import did_you_mean, join_words
from server.settings.fields import expand, is_glob

DatabaseKind = Literal["sqlite", "postgresql", "duckdb"]

_OF_SUFFIX: Final[Mapping[str, DatabaseKind]] = {
    ".db": "sqlite", ".sqlite": "sqlite", ".sqlite3": "sqlite", ".db3": "sqlite",
    ".duckdb": "duckdb", ".ddb": "duckdb",
    ".csv": "duckdb", ".tsv": "duckdb", ".parquet": "duckdb", ".json": "duckdb",
    ".jsonl": "duckdb", ".ndjson": "duckdb",
}  # fmt: skip
DATA_SUFFIXES: Final = frozenset({".csv", ".tsv", ".parquet", ".json", ".jsonl", ".ndjson"})
"""Files that DuckDB reads as tables, each by the name of its file."""

_OF_SCHEME: Final[Mapping[str, DatabaseKind]] = {
    "sqlite": "sqlite", "postgresql": "postgresql", "postgres": "postgresql", "duckdb": "duckdb",
}  # fmt: skip


class AddressInvalid(ValueError):
    """`database:` names nothing that can be opened; the message says why, without secrets."""


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    """One database. `path` is a file of SQLite or DuckDB; `files` are read as tables."""

    kind: DatabaseKind
    path: Path | None = None
    files: tuple[Path, ...] = ()
    url: URL | None = field(default=None, repr=False)

    @property
    def shown(self) -> str:
        """The address for people, without its password."""
        if self.url is not None:
            return self.url.render_as_string(hide_password=True)
        if self.files:
            return join_words([file.name for file in self.files[:5]], "and")
        return str(self.path)

    @property
    def secrets(self) -> tuple[str, ...]:
        password = self.url.password if self.url is not None else None
        return (str(password),) if password else ()


def read_address(written: str, *datasources: str) -> DatabaseAddress:
    """Return what a path, a glob of data files or a URL of SQLAlchemy's form names.

    A path that does not tell its kind is of the first of `datasources` that is one of ours.

    Raises:
        AddressInvalid: not a database that can be asked.
    """
    written = written.strip()
    if not written:
        raise AddressInvalid("database is empty; write a path, or a URL such as sqlite:///shop.db")
    if "://" in written:
        return _of_url(written)
    path = Path(written).expanduser().absolute()
    if is_glob(path) or path.is_dir():
        return _of_files(path)
    if path.suffix.lower() in DATA_SUFFIXES:
        return DatabaseAddress("duckdb", files=(path,))
    named = (_OF_SCHEME.get(datasource.lower()) for datasource in datasources)
    by_name = next((kind for kind in named if kind is not None), None)
    kind: DatabaseKind = _OF_SUFFIX.get(path.suffix.lower(), by_name or "sqlite")
    if kind == "postgresql":
        raise AddressInvalid(
            "a PostgreSQL database has a URL: postgresql://USER:PASSWORD@HOST/DATABASE"
        )
    return DatabaseAddress(kind, path=path)


def read_files(paths: Sequence[Path]) -> DatabaseAddress:
    """Return the address of files of data, each a table by the name of its file.

    Raises:
        AddressInvalid: one of them is not there, of another kind, or two would be the same table.
    """
    for path in paths:
        if path.suffix.lower() not in DATA_SUFFIXES:
            kinds = join_words(sorted(DATA_SUFFIXES))
            raise AddressInvalid(f"{path} is no file of data: its name ends in none of {kinds}")
        if not path.is_file():
            raise AddressInvalid(f"there is no file {path}")
    return _of_data(tuple(path.absolute() for path in paths))


def _of_url(written: str) -> DatabaseAddress:
    try:
        url = make_url(written)
    except (ArgumentError, ValueError):
        raise AddressInvalid(
            "the address cannot be read; a URL is written as "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE or sqlite:///FILE"
        ) from None
    scheme = url.drivername.partition("+")[0].lower()
    kind = _OF_SCHEME.get(scheme)
    if kind is None:
        hint = did_you_mean(scheme, sorted(_OF_SCHEME))
        raise AddressInvalid(f"{scheme!r} is not a kind of database that can be asked; {hint}")
    if kind == "postgresql":
        if not url.database:
            raise AddressInvalid("the URL names no database; it ends with /DATABASE")
        return DatabaseAddress(kind, url=url)
    if not url.database or url.database == ":memory:":
        raise AddressInvalid("a database in memory has nothing in it; name a file")
    return read_address(url.database, kind)


def _of_files(path: Path) -> DatabaseAddress:
    found = sorted(path.iterdir()) if path.is_dir() else expand(path)
    files = tuple(file for file in found if file.suffix.lower() in DATA_SUFFIXES)
    if not files:
        raise AddressInvalid(
            f"{path} holds no data: there is no {join_words(sorted(DATA_SUFFIXES))} file"
        )
    return _of_data(files)


def _of_data(files: tuple[Path, ...]) -> DatabaseAddress:
    names = [file.stem for file in files]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise AddressInvalid(f"two files would both be the table {twice!r}; rename one")
    return DatabaseAddress("duckdb", files=files)
