"""Opening a database by its kind. Drivers that are extras are imported only when one is named."""

from importlib.util import find_spec
from typing import Final

from server.core.installation import install_command
from server.tools.sql.address import AddressInvalid, DatabaseAddress
from server.tools.sql.database import Database

_DRIVERS: Final = {
    "postgresql": ("postgres", ("psycopg", "greenlet")),
    "duckdb": ("duckdb", ("duckdb", "pytz")),
}
"""The extra that brings the driver of a kind, and its packages."""

POOL_SIZE: Final = 4


class DriverMissing(AddressInvalid):
    """The driver of the database is not installed."""


def check_driver(address: DatabaseAddress) -> None:
    """Raise DriverMissing where the packages for a database are not installed."""
    extra, packages = _DRIVERS.get(address.kind, ("", ()))
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise DriverMissing(
            f"a {address.kind} database needs the extra {extra!r} ({missing[0]} is not installed); "
            f"run: {install_command(extra)}"
        )


def open_database(address: DatabaseAddress, *, pool_size: int = POOL_SIZE) -> Database:
    """Return a database that connects when it is first asked. May raise DriverMissing."""
    check_driver(address)
    if address.kind == "sqlite":
        from server.tools.sql.sqlite import SqliteDatabase

        return SqliteDatabase(address, pool_size=pool_size)
    if address.kind == "duckdb":
        from server.tools.sql.duckdb import DuckdbDatabase

        return DuckdbDatabase(address, pool_size=pool_size)
    from server.tools.sql.postgresql import PostgresqlDatabase

    return PostgresqlDatabase(address, pool_size=pool_size)
