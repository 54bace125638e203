"""Reading a question for its expression."""

from datetime import datetime

from server.text.expressions import FoundExpression, find_expression
from server.text.parsed_text import ParsedText

MONDAY = datetime(2025, 5, 5, 12)


def parsed(text: str) -> ParsedText:
    return ParsedText(text, MONDAY, "mdy", ("en",))


def find(text: str) -> FoundExpression | None:
    return find_expression(parsed(text))


def worked_out(text: str) -> str:
    """Return the reading and the answer: `80 − 20% = 64`, or the words of the error."""
    found = find(text)
    if found is None:
        return ""
    error = found.expression.error
    return error or f"{found.expression.text} = {found.expression.value}"
