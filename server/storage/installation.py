"""The secret of an installation, which all that share its database have to have."""

import hmac
import logging
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

import sqlalchemy as sa

from server.errors import ConfigurationInvalid, Location, Problem
from server.settings.models import Settings
from server.storage.database import UtcTime, unavailable, utc_now
from server.storage.files import load_or_create_secret, read_secret

_log = logging.getLogger(__name__)

INSTALLATION: Final = sa.Table(
    "installation",
    sa.MetaData(),
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("value", sa.String(255), nullable=False),
    sa.Column("origin", sa.String(255), nullable=False),
    sa.Column("at", UtcTime, nullable=False),
)
"""What the database knows of its installation: a fingerprint of the secret, and whose it was."""

_SECRET_ROW: Final = "secret"  # noqa: S105


@dataclass(frozen=True, slots=True)
class InstallationSecret:
    """`place` says to people where it stands; `is_new` that it was made just now."""

    value: bytes = field(repr=False)
    place: str
    is_new: bool = False

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Read it from where the settings say, else from the data folder, made if it is not there.

        Blocks. Raises `ConfigurationInvalid`: it cannot be read or made, or cannot be safe.
        """
        given = settings.access.secret
        if given is not None:
            return cls(given.get_secret_value().strip().encode(), "access.secret")
        path = settings.secret_path
        if settings.access.secret_file is not None:
            return cls(read_secret(path), str(path))
        return cls.in_file(path)

    @classmethod
    def in_file(cls, path: Path) -> Self:
        """Read it from a file, which is made if it is not there; raises as `of`. Blocks."""
        found, is_new = load_or_create_secret(path)
        return cls(found, str(path), is_new)

    @property
    def fingerprint(self) -> str:
        """Return what tells this secret from another one, and from which it cannot be learnt."""
        return hmac.new(self.value, b"fingerprint of the secret", "sha256").hexdigest()[:32]


def check_secret(engine: sa.Engine, secret: InstallationSecret) -> None:
    """Note the secret that a database is used with; refuse another one. Blocks.

    A local file may be used with a new one, as where the old one was lost: keys that were made
    before work no more. Raises `ConfigurationInvalid`; or `StoreUnavailable`.
    """
    try:
        with engine.begin() as connection:
            noted = _noted(connection, secret)
    except sa.exc.DBAPIError as failure:
        engine.dispose()
        raise unavailable(engine, failure) from failure
    if noted is None or hmac.compare_digest(noted.value, secret.fingerprint):
        return
    if engine.dialect.name == "sqlite":
        with engine.begin() as connection:
            connection.execute(INSTALLATION.update().values(_row(secret)))
        if not secret.is_new:
            told = secret.place, engine.url.database
            _log.warning(
                "%s is another secret than %s was used with before: no key made then works "
                "with it; restore the one before, or make the keys again",
                *told,
            )
        return
    engine.dispose()
    database = engine.url.render_as_string(hide_password=True)
    raise ConfigurationInvalid(
        [
            Problem(
                f"the database at {database} is used with another secret, first by {noted.origin} "
                f"at {noted.at:%Y-%m-%d %H:%M} UTC: give all replicas the same one, by "
                "access.secret or access.secret_file (docs/operations.md, 'Replicas')",
                Location(secret.place),
                "secret",
            )
        ]
    )


def _noted(
    connection: sa.Connection, secret: InstallationSecret
) -> "sa.Row[tuple[str, str, str, object]] | None":
    """Return what is noted of the secret; note this one where there is nothing."""
    asked = sa.select(INSTALLATION).where(INSTALLATION.c.name == _SECRET_ROW)
    found = connection.execute(asked).first()
    if found is not None:
        return found
    try:
        with connection.begin_nested():
            connection.execute(INSTALLATION.insert(), {"name": _SECRET_ROW, **_row(secret)})
    except sa.exc.IntegrityError:  # another process was faster
        return connection.execute(asked).first()
    return None


def _row(secret: InstallationSecret) -> dict[str, object]:
    origin = f"process {os.getpid()} on {socket.gethostname()}"
    return {"value": secret.fingerprint, "origin": origin[:255], "at": utc_now()}
