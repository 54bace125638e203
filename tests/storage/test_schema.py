"""The schema: made, taken over, brought up to date by one of many at once, and refused."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory

import server
from server.access.keys import KeyStore
from server.audit.entry import AuditSeal
from server.audit.table import TableSink
from server.conversation.store import ConversationStore
from server.errors import StoreUnavailable
from server.guards.store import GuardStore
from server.settings.models import ConversationSettings
from server.storage.database import failures_named, open_database, open_engine
from server.storage.schema import MIGRATIONS, Migrations, read_version
from tests.storage.test_poison import row_of
from tests.support.postgresql import postgresql, why_not

pytestmark = pytest.mark.anyio

BEFORE_VERSIONS = Path(__file__).parent / "before_versions"
SHIPPED = Path(server.__file__).parent / "storage" / "migrations"
NewDatabase = Callable[[], str]


@pytest.fixture(scope="module")
def cluster() -> Iterator[NewDatabase]:
    if reason := why_not():
        pytest.skip(reason)
    with postgresql() as url:
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
        names = (f"d{number}" for number in range(1000))

        def new() -> str:
            name = next(names)
            with engine.connect() as connection:
                connection.exec_driver_sql(f"CREATE DATABASE {name}")
            return url.rpartition("/")[0] + f"/{name}"

        yield new
        engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> NewDatabase:
    if request.param == "postgresql":
        made: NewDatabase = request.getfixturevalue("cluster")
        return made
    files = (tmp_path / f"{number}.db" for number in range(1000))
    return lambda: f"sqlite:///{next(files)}"


@pytest.fixture
def url(new_database: NewDatabase) -> str:
    return new_database()


def declared_tables() -> sa.MetaData:
    """Every table of the code, wherever it stands."""
    root = Path(server.__file__).parent
    found = sa.MetaData()
    for file in sorted(root.rglob("*.py")):
        if "sa.Table(" in file.read_text() and SHIPPED not in file.parents:
            name = ".".join(("server", *file.relative_to(root).with_suffix("").parts))
            for value in vars(import_module(name)).values():
                if isinstance(value, sa.Table):
                    value.to_metadata(found)
    return found


def described(engine: sa.Engine) -> dict[str, Any]:
    """All that the database says of each table, but for that of the version."""
    there = sa.inspect(engine)
    return {
        name: {
            "columns": [column | {"type": str(column["type"])} for column in columns],
            "key": there.get_pk_constraint(name),
            "indexes": sorted(there.get_indexes(name), key=lambda index: str(index["name"])),
            "unique": there.get_unique_constraints(name),
            "foreign keys": there.get_foreign_keys(name),
            "checks": there.get_check_constraints(name),
        }
        for name in there.get_table_names()
        if name != "orbit_schema_version"
        for columns in [[dict(column) for column in there.get_columns(name)]]
    }


def make_as_before_versions(url: str, *, only: set[str] | None = None) -> None:
    """Make the tables as the stores did, each for itself; `only` some of them."""
    engine = open_engine(url)
    statements = (BEFORE_VERSIONS / f"{engine.dialect.name}.sql").read_text().split(";\n")
    with engine.begin() as connection:
        for statement in filter(str.strip, statements):
            words = statement.split()
            table = words[5] if words[1] == "TABLE" else words[words.index("ON") + 1]
            if only is None or table in only:
                connection.exec_driver_sql(statement)
    engine.dispose()


def rows_of(engine: sa.Engine) -> dict[str, list[dict[str, Any]]]:
    tables = sa.MetaData()
    tables.reflect(engine)
    with engine.connect() as connection:
        return {
            table.name: [dict(row) for row in connection.execute(sa.select(table)).mappings()]
            for table in tables.sorted_tables
        }


def note_version(url: str, version: str) -> None:
    engine = open_database(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE orbit_schema_version SET version_num = '{version}'")
    engine.dispose()


def test_the_versions_make_exactly_the_tables_that_the_code_declares(
    new_database: NewDatabase,
) -> None:
    declared, migrated = open_engine(new_database()), open_database(new_database())
    declared_tables().create_all(declared)
    assert described(migrated) == described(declared)
    for engine in (declared, migrated):
        engine.dispose()


def test_every_version_follows_the_one_before_and_its_file_says_its_name() -> None:
    config = Config()
    config.set_main_option("script_location", str(SHIPPED))
    chain = [each.revision for each in ScriptDirectory.from_config(config).walk_revisions()]
    assert list(MIGRATIONS.versions) == chain[::-1]
    assert {len(version) for version in chain} == {4}  # so that they sort as they follow


@pytest.mark.parametrize(
    "only", [None, {"api_keys"}, {"audit_entries", "audit_end"}, {"proposals", "guard_counts"}]
)
def test_a_database_from_before_versions_is_taken_over_without_loss(
    url: str, only: set[str] | None
) -> None:
    make_as_before_versions(url, only=only)
    engine = open_engine(url)
    tables = sa.MetaData()
    tables.reflect(engine)
    with engine.begin() as connection:
        for table in tables.sorted_tables:
            connection.execute(table.insert(), row_of(table))
    before = rows_of(engine)
    assert [len(rows) for rows in before.values()] == [1] * len(only or before)
    opened = open_database(url)
    after = rows_of(opened)
    for name, rows in before.items():  # to which later versions may have added columns
        assert [row | had for row, had in zip(after[name], rows, strict=True)] == after[name]
    assert described(opened).keys() == declared_tables().tables.keys()
    assert read_version(opened) == MIGRATIONS.newest
    for each in (engine, opened):
        each.dispose()


RACER = """
import asyncio, sys
from server.access.keys import KeyStore
from server.audit.entry import AuditSeal
from server.audit.table import TableSink
from server.conversation.store import ConversationStore
from server.guards.store import GuardStore
from server.settings.models import ConversationSettings
from server.storage.installation import InstallationSecret

async def main(url):
    secret = InstallationSecret(b"s" * 32, "the same for all")
    await (await KeyStore.open(url, secret)).close()
    TableSink(url, AuditSeal(b"s" * 32)).close()
    await ConversationStore.open(url, ConversationSettings()).close()
    await (await GuardStore.open(url)).close()

for url in sys.stdin:
    try:
        asyncio.run(main(url.strip()))
        print("opened", flush=True)
    except Exception as failure:
        print(failure, flush=True)
"""


@pytest.mark.slow
@pytest.mark.chaos
def test_of_many_first_starts_at_once_none_fails(new_database: NewDatabase) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(5)
    ]
    outcomes = []
    for _ in range(4):
        url = new_database()
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write(f"{url}\n")
            racer.stdin.flush()
        outcomes += [racer.stdout.readline().strip() for racer in racers if racer.stdout]
    for racer in racers:
        racer.communicate()
    assert outcomes == ["opened"] * 20


async def _open_keys(url: str, folder: Path) -> None:
    await (await KeyStore.open(url, folder / "secret")).close()


async def _open_audit(url: str, _folder: Path) -> None:
    TableSink(url, AuditSeal(b"s" * 32)).close()


async def _open_conversations(url: str, _folder: Path) -> None:
    await ConversationStore.open(url, ConversationSettings()).close()


async def _open_guards(url: str, _folder: Path) -> None:
    await (await GuardStore.open(url)).close()


@pytest.mark.parametrize("opened", [_open_keys, _open_audit, _open_conversations, _open_guards])
async def test_a_newer_schema_is_refused_by_name(opened: Any, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'orbit.db'}"
    await opened(url, tmp_path)
    note_version(url, "0777")
    says = (
        rf"^the database at {url} has schema 0777, which this version of Orbit does not know; its "
        rf"newest is {MIGRATIONS.newest}: upgrade Orbit, or restore"
    )
    with pytest.raises(StoreUnavailable, match=says):
        await opened(url, tmp_path)


def test_a_newer_schema_is_left_as_it_is(url: str) -> None:
    note_version(url, "0777")
    engine = open_engine(url)
    with pytest.raises(StoreUnavailable, match="has schema 0777") as refused:
        Migrations(SHIPPED).prepare(engine, migrate=True)
    assert "hunter2" not in str(refused.value)
    assert read_version(engine) == "0777"
    engine.dispose()


@pytest.mark.parametrize("from_before", [False, True])
def test_an_older_schema_is_refused_where_opening_it_may_not_change_it(
    url: str, from_before: bool
) -> None:
    if from_before:
        make_as_before_versions(url)
    engine = open_engine(url)
    before = described(engine)
    says = rf"not been set up, and .* needs {MIGRATIONS.newest}: run 'orbit migrate'"
    with pytest.raises(StoreUnavailable, match=says):
        open_database(url, migrate=False)
    assert (described(engine), read_version(engine)) == (before, None)
    assert MIGRATIONS.run(engine) is None
    open_database(url, migrate=False).dispose()
    engine.dispose()


def with_versions(folder: Path, **files: str) -> Migrations:
    """The shipped versions, and others after them."""
    shutil.copytree(SHIPPED, folder, ignore=shutil.ignore_patterns("__pycache__"))
    previous = MIGRATIONS.newest
    for number, (name, upgrade) in enumerate(files.items(), 9001):
        body = "".join(f"    {line}\n" for line in upgrade.splitlines())
        (folder / "versions" / f"{number}_{name}.py").write_text(
            "import sqlalchemy as sa\nfrom alembic import op\n"
            f"revision, down_revision = '{number}', '{previous}'\n\ndef upgrade():\n{body}"
        )
        previous = str(number)
    return Migrations(folder)


ADDS = """op.create_table('more', sa.Column('id', sa.Integer, primary_key=True))
op.execute("INSERT INTO more (id) VALUES (1)")
op.add_column('api_keys', sa.Column('color', sa.String(8)))"""


@pytest.mark.slow
@pytest.mark.parametrize("start", ["empty", "from before", "up to date"])
def test_a_version_that_fails_leaves_nothing_half_done(
    url: str, start: str, tmp_path: Path
) -> None:
    if start == "from before":
        make_as_before_versions(url)
    if start == "up to date":
        open_database(url).dispose()
    engine = open_engine(url)
    before = described(engine), read_version(engine)
    broken = with_versions(tmp_path / "a", adds=ADDS, fails="op.execute('SELECT nothing')")
    with pytest.raises(StoreUnavailable, match="nothing"), failures_named(engine):
        broken.prepare(engine, migrate=True)
    assert (described(engine), read_version(engine)) == before
    mended = with_versions(tmp_path / "b", adds=ADDS, works="op.execute('DELETE FROM more')")
    mended.prepare(engine, migrate=True)
    assert read_version(engine) == "9002"
    assert "color" in [column["name"] for column in described(engine)["api_keys"]["columns"]]
    assert rows_of(engine)["more"] == []
    engine.dispose()


def test_a_table_of_another_program_is_not_taken_for_ours(url: str) -> None:
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE conversations (id INTEGER, title VARCHAR(20))")
    with pytest.raises(
        StoreUnavailable, match=r"'conversations' that Orbit did not make, .*key_id"
    ):
        open_database(url)
    assert described(engine).keys() == {"conversations"}
    engine.dispose()


ONE_QUERY = """
import sys
import sqlalchemy as sa
from server.storage.database import open_database

asked = []
sa.event.listen(sa.Engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
for _ in range(2):
    open_database(sys.argv[1])
print(len(asked), "alembic" in sys.modules)
"""


def test_what_is_up_to_date_costs_one_query_and_no_import(url: str) -> None:
    open_database(url).dispose()
    said = subprocess.run(
        [sys.executable, "-c", ONE_QUERY, url], capture_output=True, text=True, check=True
    )
    # A server is asked once in a process, a file whenever it is opened.
    assert said.stdout.split() == ["2" if url.startswith("sqlite") else "1", "False"]
