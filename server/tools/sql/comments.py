"""Comments within the text of a `CREATE TABLE`, which SQLite keeps as it was written."""

import re
from collections.abc import Mapping
from typing import Final

_TOKEN: Final = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\[[^\]]*\]|\n|[(),]"
    r"|[^\s(),'\"`\[/-]+|\S",
    re.DOTALL,
)


def comments_of(create: str) -> tuple[str, Mapping[str, str]]:
    """Return the comment of a table, and those of its columns by name in small letters.

    A comment is of the last column that begins on its line, else of the next one; of the table
    where it stands before or right behind the opening parenthesis, or behind the closing one.
    """
    table: list[str] = []
    columns: dict[str, list[str]] = {}
    waiting: list[str] = []
    depth, on_line, opened, expects = 0, "", False, False
    for piece in _TOKEN.findall(create):
        if piece.startswith(("--", "/*")):
            said = " ".join(piece.removesuffix("*/").strip("-/* ").split())
            if depth == 0 or opened:
                table.append(said)
            elif on_line:
                columns.setdefault(on_line, []).append(said)
            else:
                waiting.append(said)
        elif piece == "\n":
            on_line, opened = "", False
        elif piece == "(":
            depth += 1
            expects = opened = depth == 1
        elif piece == ")":
            depth -= 1
        elif piece == "," and depth == 1:
            expects = True
        elif expects:
            on_line = piece.strip('"`[]').lower()
            columns.setdefault(on_line, []).extend(waiting)
            expects = opened = False
            waiting.clear()
    return "; ".join(table), {name: "; ".join(said) for name, said in columns.items() if said}
