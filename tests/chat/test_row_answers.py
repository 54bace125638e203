"""What a database found, in words and as a chart."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from server.chat.chart import describe_chart
from server.chat.respond import describe_outcome
from server.core.tools import ToolCall, ToolResult, ToolResultStatus
from server.library.model import Domain, Library, ResponseConfig, Template
from server.library.sql_model import ResultShape, SqlExecution
from server.library.sql_text import parse_sql
from server.library.value_formats import ValueRules, ValueWriter
from server.text.language import shipped_names
from server.tools.policy.chain import CallOutcome

GROUPED = "SELECT city, count(*) AS orders, avg(total) AS mean FROM orders GROUP BY city"


def found(
    *rows: Sequence[Any], columns: str = "city orders", truncated: bool = False
) -> dict[str, Any]:
    names = columns.split()
    listed = [dict(zip(names, row, strict=True)) for row in rows]
    return {"columns": names, "rows": listed, "row_count": len(rows), "truncated": truncated}


def said(
    result: Mapping[str, Any],
    shape: ResultShape = "table",
    *,
    language: str = "en",
    sql: str = GROUPED,
    text: str = "",
    **more: Any,
) -> str:
    execution = SqlExecution(parse_sql(sql), shape, more.pop("effect", "read"))
    texts = {"en": text} if text else {}
    template = Template(
        id="t", description="Orders of each city", kind="sql", nl_examples=(), parameters=(),
        execution=execution, response_template=texts,
    )  # fmt: skip
    response = ResponseConfig("en", tuple(shipped_names()))
    library = Library(Domain("shop", response=response), {"t": template})
    call = ToolCall("t", "sql", "query", more)
    done = ToolResult("sql", "query", ToolResultStatus.SUCCESS, 1.0, more, result)
    return describe_outcome(library, template, CallOutcome(done, call, "success"), language)[0]


PORTO, CORK = ("Porto", 1200), ("Co|rk", 3)
TABLE = "| city | orders |\n| --- | --- |\n| Porto | 1,200 |\n| Co\\|rk | 3 |"


@pytest.mark.parametrize(
    ("shape", "result", "content"),
    [
        ("table", found(PORTO, CORK), f"{TABLE}\n\n2 in all."),
        ("table", found(PORTO, CORK, truncated=True), f"{TABLE}\n\nThe first 2; there are more."),
        ("table", found(PORTO), "| city | orders |\n| --- | --- |\n| Porto | 1,200 |"),
        ("summary", found(PORTO), "- city: **Porto**\n- orders: **1,200**"),
        (
            "summary",
            found(PORTO, CORK),
            "- Porto: **1,200**\n- Co\\|rk: **3**\n\n2 in all.\n\nTogether: orders **1,203**",
        ),
        (
            "summary",
            found((*PORTO, 2.5), (*CORK, 4), columns="city orders mean"),
            "| city | orders | mean |\n| --- | --- | --- |\n| Porto | 1,200 | 2.5 |\n"
            "| Co\\|rk | 3 | 4 |\n\n2 in all.\n\nTogether: orders **1,203**",
        ),
        (
            "summary",
            found(PORTO, CORK, truncated=True),
            "- Porto: **1,200**\n- Co\\|rk: **3**\n\nThe first 2; there are more.",
        ),
        ("single", found((60,), columns="open_orders"), "open orders: **60**"),
        ("single", found((60,), columns="count(*)"), "Orders of each city: **60**"),
        ("single", found((None,), columns="sum"), "Nothing was found."),
        ("single", found(PORTO), "- city: **Porto**\n- orders: **1,200**"),
        *((shape, found(), "Nothing was found.") for shape in ("table", "summary", "single")),
    ],
)
def test_rows_are_said_in_the_form_that_the_template_names(
    shape: ResultShape, result: Mapping[str, Any], content: str
) -> None:
    assert said(result, shape) == content


@pytest.mark.parametrize(
    ("rows", "truncated", "end"),
    [
        (57, False, "The first 20 of 57."),
        (1000, True, "The first 20 of more than 1,000."),
        (20, False, "20 in all."),
    ],
)
def test_a_cut_is_told(rows: int, truncated: bool, end: str) -> None:
    content = said(found(*((str(n), n) for n in range(rows)), truncated=truncated))
    lines = content.splitlines()
    assert (len(lines), lines[-1]) == (2 + 20 + 2, end)


@pytest.mark.parametrize("language", shipped_names())
def test_every_language_says_it_itself(language: str) -> None:
    rows = found(*((str(n), 1000 + n) for n in range(30)), truncated=True)
    spoken = [
        said(found(), language=language),
        said(rows, language=language).splitlines()[-1],
        said({**found(), "row_count": 2}, language=language, effect="write"),
    ]
    english = [
        "Nothing was found.", "The first 20 of more than 30.", "2 rows were changed.",
    ]  # fmt: skip
    assert ("30" in spoken[1], "2" in spoken[2]) == (True, True)
    assert all(a != b for a, b in zip(spoken, english, strict=True)) is (language != "en")


@pytest.mark.parametrize(
    ("text", "rows", "content"),
    [
        ("{{ orders }} from {{ city }}", [PORTO], "1200 from Porto"),
        ("{{ arguments.city }} is {{ city }}", [PORTO], "porto is Porto"),
        ("{{ formatted[0].orders }} of {{ row_count }}", [PORTO], "1,200 of 1"),
        ("{{ columns | join('+') }} {{ truncated }}", [PORTO, CORK], "city+orders no"),
        ("{% for row in rows %}{{ row.city }};{% endfor %}", [PORTO, CORK], "Porto;Co|rk;"),
        ("{{ orders }}", [PORTO, CORK], f"{TABLE}\n\n2 in all."),
    ],
)
def test_an_authors_text_sees_rows_and_the_fields_of_a_row_that_is_alone(
    text: str, rows: Sequence[Any], content: str
) -> None:
    assert said(found(*rows), text=text, city="porto") == content


def test_what_a_result_says_of_itself_wins_over_the_columns_of_its_row() -> None:
    assert said(found((7,), columns="row_count"), text="{{ row_count }}") == "1"


DAYS = [(f"2026-03-{day:02}", day) for day in range(1, 32)]


def chart_of(result: Any) -> dict[str, Any] | None:
    return describe_chart(result, ValueWriter(ValueRules(), "en"))


@pytest.mark.parametrize(
    ("result", "mark", "fields"),
    [
        (found(PORTO, CORK), "bar", ("city", "orders")),
        (found(*DAYS), "line", ("city", "orders")),
        (found((2024, 5), (2025, 7), columns="year orders"), "bar", ("year", "orders")),
        (found(("a", 1), ("b", 2), columns="a.b n"), "bar", ("a\\.b", "n")),
        (
            found(("a", 1, 2), ("b", 2, 1), columns="city orders visits"),
            "bar",
            ("city", "value"),
        ),
        (
            found(("a", 1, 2.5), ("b", 2, 1), columns="city orders revenue"),
            "bar",
            ("city", "orders"),
        ),
    ],
)
def test_categories_are_bars_and_dates_a_line(
    result: Any, mark: str, fields: tuple[str, str]
) -> None:
    chart = chart_of(result)
    assert chart is not None
    across, up = chart["encoding"]["x"], chart["encoding"]["y"]
    assert (chart["mark"]["type"], (across["field"], up["field"])) == (mark, fields)
    assert (chart["data"], chart["usermeta"]["rows"]) == (
        {"name": "rows"},
        "tool_execution.result.rows",
    )
    assert across.get("sort", None) is None  # as the rows are


@pytest.mark.parametrize(
    "result",
    [
        found(PORTO),
        found((60,), columns="orders"),
        found(PORTO, CORK, truncated=True),
        found(PORTO, PORTO),
        found(*((str(n), n) for n in range(51))),
        found(("a", "b"), ("c", "d")),
        found((1, "a", 3), (2, "b", 4), columns="id city orders"),
        found((None, 1), ("a", 2)),
        found(("a", "[REDACTED]"), ("b", 2)),
        {"result": [1, 2], "operation": "x"},
        None,
        7,
    ],
)
def test_no_chart_is_drawn_of_what_is_none(result: Any) -> None:
    assert chart_of(result) is None


def test_other_tables_of_rows_have_charts_as_well() -> None:
    rows = found(PORTO, CORK)["rows"]
    for result, path in (({"result": rows}, "tool_execution.result.result"),
                         (rows, "tool_execution.result")):  # fmt: skip
        assert (chart_of(result) or {})["usermeta"] == {"rows": path}
    assert chart_of({"result": rows, "complete": False, "total": 9}) is None
