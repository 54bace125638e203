"""A template that asks a database: its SQL, and how what comes back is shown."""

import re
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from server.core.tools import ROW_RESULT, Effect
from server.library.sql_text import SqlText

SQL_TOOL: Final = "sql"
"""The tool name of calls that ask a database."""

ResultShape = Literal["table", "summary", "single"]
"""How rows are shown: as a table, as figures by name, or as the one value there is."""

ROW_FIELDS: Final = ROW_RESULT | {"result", "formatted", "arguments"}
"""What a text of an answer may always name, beside the columns of a row that is alone."""

_FIRST_TABLE: Final = re.compile(r"\bFROM\s+(?:\w+\.)?[\"`\[]?(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SqlExecution:
    """Ask the adapter's database."""

    sql: SqlText
    result_format: ResultShape = "table"
    effect: Effect = "read"
    tool: ClassVar[str] = SQL_TOOL

    @property
    def table(self) -> str:
        """The table that it lists rows of: the first that it names, or empty."""
        found = _FIRST_TABLE.search(self.sql.source)
        return found[1] if found else ""

    @property
    def operation(self) -> str:
        return "query" if self.effect == "read" else "change"
