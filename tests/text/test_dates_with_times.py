"""A time that goes with a date stays with it, but where only the date is asked for."""

from datetime import UTC, datetime

import pytest

from server.extraction.extractor import Extractor
from server.library.model import BuiltinExecution, Domain, Parameter, Template

NOW = datetime(2025, 3, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "type_name", "question", "value"),
    [
        ("start_date", "string", "tomorrow at 5pm", "2025-03-06T17:00:00"),
        ("start_date", "string", "2025-03-04 10:00", "2025-03-04T10:00:00"),
        ("start_date", "string", "tomorrow", "2025-03-06"),
        ("start_date", "date", "tomorrow at 5pm", "2025-03-06"),
        ("date_string", "string", "tomorrow at 5pm", "2025-03-06T17:00:00"),
        ("date_string", "string", "5pm on March 7", "2025-03-07T17:00:00"),
        ("date_string", "string", "March 7", "March 7"),
    ],
)
def test_the_time_is_kept(name: str, type_name: str, question: str, value: str) -> None:
    template = Template(
        "t", "d", "function", ("x",), (Parameter(name, type_name),), BuiltinExecution("a", "b")
    )
    found = Extractor(Domain("d")).extract(question, template, now=NOW)
    assert (found.arguments, found.grounding.unused) == ({name: value}, ())
