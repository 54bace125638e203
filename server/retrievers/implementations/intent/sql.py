"""The retriever of libraries that ask a database."""

from typing import ClassVar

from server.library.model import TemplateKind
from server.retrievers.base import TemplateRetriever


class IntentSQLRetriever(TemplateRetriever):
    """For libraries of SQL templates, over the adapter's database."""

    template_kinds: ClassVar[frozenset[TemplateKind]] = frozenset(("sql",))
    datasource: ClassVar[str] = ""
    """The kind of database that a path is, where it does not tell that itself."""


class IntentSQLiteRetriever(IntentSQLRetriever):
    """The same, over SQLite."""

    datasource = "sqlite"


class IntentPostgreSQLRetriever(IntentSQLRetriever):
    """The same, over PostgreSQL."""

    datasource = "postgresql"


class IntentDuckDBRetriever(IntentSQLRetriever):
    """The same, over DuckDB."""

    datasource = "duckdb"
