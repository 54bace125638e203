"""The values of a database as words of questions: what is read, how fresh it is, what may be."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from server.core.data_values import FoundValue, ValueVocabulary
from server.errors import ToolTimedOut
from server.library.model import CallPolicy, Domain, Library, Parameter, Template
from server.library.sql_model import SqlExecution
from server.library.sql_text import parse_sql
from server.tools.sql.address import read_address
from server.tools.sql.database import Database, Rows
from server.tools.sql.databases import open_database
from server.tools.sql.statement import Statement
from server.tools.sql.vocabulary import DatabaseValues, VocabularyLimits

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

COUNTRIES = ["Ireland", "Portugal"]
OPEN = CallPolicy()
NO_TIME = VocabularyLimits(refresh_s=3_600)


def template(name: str, condition: str, policy: CallPolicy = OPEN) -> Template:
    execution = SqlExecution(parse_sql(f"SELECT * FROM customers c WHERE {condition}", ()))
    value = Parameter("value", "string")
    return Template(name, "", "sql", (), (value,), execution, policy=policy)


def library(**conditions: str) -> Library:
    return Library(Domain("d"), {n: template(n, c) for n, c in conditions.items()})


class Heard(list[ValueVocabulary]):
    """Every vocabulary that was told of; from a thread of its own."""

    async def has(self, count: int) -> None:
        for _ in range(2_000):
            if len(self) >= count:
                return
            await asyncio.sleep(0.01)
        raise TimeoutError


@asynccontextmanager
async def values(
    database: Database, asked: Library, limits: VocabularyLimits = NO_TIME
) -> AsyncIterator[tuple[DatabaseValues, Heard]]:
    heard = Heard()
    opened = DatabaseValues(asked, database, limits, heard.append)
    await opened.open()
    yield opened, heard
    await opened.close()


def words(heard: Heard) -> Mapping[str, Sequence[str]]:
    return {name: found["value"] for name, found in heard[-1].items()} if heard else {}


async def test_values_that_a_parameter_is_compared_with_are_its_words(database: Database) -> None:
    asked = library(
        same="c.country = :value",
        alike="LOWER(country) LIKE LOWER(:value)",
        several="country IN (:value)",
        lower="LOWER(c.country) = :value",
        larger="country > :value",
        number="id = :value",
        nothing=":value = 'x'",
    )
    async with values(database, asked) as (_, heard):
        assert words(heard) == {
            "same": COUNTRIES,
            "alike": COUNTRIES,
            "several": COUNTRIES,
            "lower": ["ireland", "portugal"],
        }


@pytest.mark.parametrize(
    ("condition", "value", "found"),
    [
        ("country = :value", "Ireland", FoundValue("Ireland")),
        ("country = :value", "iRELAND", FoundValue("Ireland")),
        ("LOWER(country) = LOWER(:value)", "IRELAND", FoundValue("Ireland")),
        ("LOWER(country) = :value", "IRELAND", FoundValue("ireland")),
        ("country = :value", "Irland", FoundValue(None, ("Ireland",))),
        ("country = :value", "Freedonia", FoundValue(None, ("Ireland", "Portugal"))),
        ("country = :value", "x' OR '1' = '1", FoundValue(None, ("Ireland", "Portugal"))),
        ("country LIKE :value", "Freedonia", None),
        ("country LIKE :value", "ireland", FoundValue("Ireland")),
        ("country <> :value", "Freedonia", None),
    ],
)
async def test_a_value_is_looked_up(
    database: Database, condition: str, value: str, found: FoundValue | None
) -> None:
    async with values(database, library(t=condition)) as (known, _):
        assert await known.find("t", "value", value) == found
        assert await known.find("t", "other", value) is None
        assert await known.find("other", "value", value) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("bob stone", FoundValue("Bob Stone")),
        ("Bob Ston", FoundValue(None, ("Bob Stone",))),
        ("o'brien 100% \\_", FoundValue("O'Brien 100% \\_")),
        ("100%", FoundValue(None, ())),
        ("%%", FoundValue(None, ())),
    ],
)
async def test_a_column_of_many_values_is_not_read_and_still_asked(
    database: Database, value: str, found: FoundValue
) -> None:
    few = VocabularyLimits(refresh_s=3_600, max_values=2)
    async with values(database, library(t="name = :value"), few) as (known, heard):
        assert heard == []
        assert await known.find("t", "value", value) == found


@pytest.mark.parametrize(
    ("limits", "read"),
    [
        (VocabularyLimits(never=frozenset({"country"})), ["name"]),
        (VocabularyLimits(never=frozenset({"customers.name"})), ["country"]),
        (VocabularyLimits(only=frozenset({"customers.country"})), ["country"]),
        (VocabularyLimits(only=frozenset({"other.country"})), []),
    ],
)
async def test_settings_say_what_may_be_looked_at(
    database: Database, limits: VocabularyLimits, read: list[str]
) -> None:
    asked = library(country="country = :value", name="name = :value")
    async with values(database, asked, limits) as (known, heard):
        assert sorted(words(heard)) == read
        for name in asked.templates:
            looked_up = await known.find(name, "value", "nobody")
            assert (looked_up is not None) is (name in read)


async def test_what_must_not_be_shown_is_not_looked_at(database: Database) -> None:
    hidden = template("t", "name = :value", policy=CallPolicy(sensitive_params=("value",)))
    async with values(database, Library(Domain("d"), {"t": hidden})) as (known, heard):
        assert heard == []
        assert await known.find("t", "value", "Bob Stone") is None


def run(path: Path, *statements: str) -> None:
    changed = sqlite3.connect(path)
    for statement in statements:
        changed.execute(statement)
    changed.commit()
    changed.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "new.db"
    run(
        made,
        "CREATE TABLE customers (id integer, country varchar)",
        "INSERT INTO customers VALUES (1, 'Ireland'), (2, 'Portugal')",
    )
    return made


async def test_a_value_that_came_since_is_found_and_then_known(path: Path) -> None:
    database = open_database(read_address(str(path)))
    async with values(database, library(t="country = :value")) as (known, heard):
        run(path, "INSERT INTO customers VALUES (3, 'Spain')")
        assert await known.find("t", "value", "spain") == FoundValue("Spain")
        await heard.has(2)
        assert words(heard) == {"t": ["Ireland", "Portugal", "Spain"]}
    await database.close()


async def test_values_are_read_again_and_told_only_when_they_changed(path: Path) -> None:
    database = open_database(read_address(str(path)))
    often = VocabularyLimits(refresh_s=0.05)
    async with values(database, library(t="country = :value"), often) as (_, heard):
        await asyncio.sleep(0.3)
        assert len(heard) == 1
        run(path, "DELETE FROM customers WHERE id = 1")
        await heard.has(2)
        assert words(heard) == {"t": ["Portugal"]}
    await database.close()


async def test_a_database_that_is_down_at_the_start_is_read_when_it_is_there(
    tmp_path: Path, path: Path
) -> None:
    there = tmp_path / "later.db"
    database = open_database(read_address(str(there)))
    often = VocabularyLimits(refresh_s=0.05)
    async with values(database, library(t="country = :value"), often) as (known, heard):
        assert heard == []
        assert await known.find("t", "value", "Freedonia") is None
        await asyncio.to_thread(path.rename, there)
        await heard.has(1)
        assert words(heard) == {"t": COUNTRIES}
        await asyncio.to_thread(there.unlink)
        await asyncio.sleep(0.2)
        # What was read stays; nobody can say whether there is more.
        assert await known.find("t", "value", "Ireland") == FoundValue("Ireland")
        assert await known.find("t", "value", "Freedonia") is None
    await database.close()


class Slow:
    """A database that does not give a column's values in time, so often as `times` says."""

    def __init__(self, asked: Database, column: str, times: int) -> None:
        self.address, self._asked = asked.address, asked
        self._column, self.left = column, times
        self.asked_for_values = 0

    def rows(self, statement: Statement, *, deadline: float) -> AbstractAsyncContextManager[Rows]:
        is_for_values = "DISTINCT" in statement.text
        self.asked_for_values += is_for_values
        if is_for_values and self._column in statement.text and self.left:
            self.left -= 1
            raise ToolTimedOut("the database did not answer in time")
        return self._asked.rows(statement, deadline=deadline)

    async def change(self, statement: Statement, *, deadline: float) -> tuple[Rows, int]:
        return await self._asked.change(statement, deadline=deadline)

    async def close(self) -> None:
        await self._asked.close()


async def test_the_columns_of_a_table_are_read_by_one_statement(database: Database) -> None:
    asked = Slow(database, "", 0)
    both = library(country="country = :value", name="name = :value")
    async with values(asked, both) as (known, heard):
        assert sorted(words(heard)) == ["country", "name"]
        assert asked.asked_for_values == 1
        assert known.state == {"read": True, "columns": 2, "waiting": 0}


@pytest.mark.parametrize(
    ("times", "read", "waiting"), [(1, ["country", "name"], 0), (2, ["name"], 1)]
)
async def test_a_slow_column_keeps_no_other_from_being_read(
    database: Database, times: int, read: list[str], waiting: int
) -> None:
    both = library(country="country = :value", name="name = :value")
    async with values(Slow(database, "country", times), both) as (known, heard):
        assert sorted(words(heard)) == read
        assert known.state["waiting"] == waiting


@pytest.mark.parametrize(("times", "read"), [(2, COUNTRIES), (99, None)])
async def test_a_slow_column_is_tried_again_and_given_up_in_the_end(
    database: Database, times: int, read: list[str] | None
) -> None:
    asked = Slow(database, "country", times)
    often = VocabularyLimits(refresh_s=0.05)
    async with values(asked, library(t="country = :value"), often) as (known, heard):
        if read is None:
            await asyncio.sleep(0.5)
            assert asked.asked_for_values == 3
            assert known.state == {"read": True, "columns": 0, "waiting": 0}
        else:
            await heard.has(1)
            assert words(heard) == {"t": read}
