"""A question about rows without what differs from data to data.

“red cars, newest first” and “open orders, largest first” ask for the same of other rows.
"""

from datetime import UTC, datetime
from typing import Final

from server.text.parsed_text import ParsedText
from server.text.rows.reader import read_row_question

_ANY_DAY: Final = datetime(2025, 1, 1, tzinfo=UTC)
_DATA: Final = "this data"
_LONGEST: Final = 200_000


def said_of_rows(text: str) -> str:
    """Return `text` with names of columns, values and what the rows are called in plain words.

    A text that is no such question to its last word is returned as it is.
    """
    if len(text) > _LONGEST or not ("[" in text or "\n" in text):
        return text
    reading = ParsedText(text, _ANY_DAY, "mdy")
    blocks = reading.of("array")
    if len(blocks) != 1:
        return text
    found = read_row_question(reading, blocks[0])
    if found.query is None:
        return text
    kinds = dict.fromkeys(found.nouns, "rows")
    kinds |= dict.fromkeys(found.named, "field") | dict.fromkeys(found.valued, "value")
    parts, done, last = list[str](), 0, ""
    tokens = reading.tokens
    kinds[blocks[0].first] = _DATA
    for at in sorted(kinds):
        between = reading.clean[done : tokens.starts[at]]
        parts.append(between if between.strip() or kinds[at] != last else "")
        if between.strip() or kinds[at] != last:
            parts.append(f" {kinds[at]} " if kinds[at] == _DATA else kinds[at])
        done, last = tokens.ends[at], kinds[at]
    return "".join((*parts, reading.clean[done:]))
