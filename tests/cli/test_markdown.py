"""Answers and tables as a terminal shows them."""

import os
import pty
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from server.cli.ask import print_stages
from server.cli.markdown import MarkdownWriter, lay_out, shown_markdown
from server.core.decision import Trace
from tests.support.configuring import adapter, configure, write_library

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TABLE = """\
Two:
| name | e-mail |
| --- | --- |
| **Ada** | ada@example.org |
| a\\|b | x |

End **1**"""


def plain(text: str, width: int = 80) -> str:
    return shown_markdown(text, colours=False, width=width)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15% of 200 is **30**", "15% of 200 is 30"),
        ("**a b**, and **c**.\n- **d**", "a b, and c.\n- d"),
        ("see [the page](https://a.example/x)", "see the page (https://a.example/x)"),
        ("[https://a.example](https://a.example)", "https://a.example"),
        ("**[x](https://a.example)**", "x (https://a.example)"),
        ("red \x1b[31m\x07", "red [31m"),
        # These are values, and no Markdown of an answer.
        ("2*3*4 = 24", "2*3*4 = 24"),
        ("2**3**4", "2**3**4"),
        ("a ** b ** c", "a ** b ** c"),
        ("**open", "**open"),
        ("# 12\n1. x_y_z", "# 12\n1. x_y_z"),
        ("`**as it is**`", "`**as it is**`"),
        ("[1] Yes (2)", "[1] Yes (2)"),
        ("| no table", "| no table"),
        ("| a |\n| b |", "| a |\n| b |"),
        ("", ""),
        ("x\n\n", "x\n\n"),
        (TABLE, "Two:\nname  e-mail\nAda   ada@example.org\na|b   x\n\nEnd 1"),
    ],
)
def test_without_colours_the_signs_go(text: str, expected: str) -> None:
    assert plain(text) == expected


def test_colours_take_their_place() -> None:
    shown = shown_markdown("**30** [x](https://a.example)", colours=True, width=80)
    assert shown == "\x1b[1m30\x1b[0m x (\x1b[4mhttps://a.example\x1b[0m)"


def test_a_table_that_is_too_wide_is_a_list_of_its_rows() -> None:
    rows = "name: Ada\ne-mail:\n  ada@example.org\n\nname: a|b\ne-mail: x"
    assert plain(TABLE, width=20) == f"Two:\n{rows}\n\nEnd 1"


@given(
    st.text(alphabet="*`[]()| ab\n-:/", max_size=60) | st.sampled_from([TABLE, "**a**b **c**"]),
    st.lists(st.integers(0, 60), max_size=8),
)
def test_the_pieces_in_which_an_answer_comes_make_no_difference(text: str, at: list[int]) -> None:
    writer, shown, before = MarkdownWriter(colours=True, width=40), "", 0
    for cut in [*sorted(min(each, len(text)) for each in at), len(text)]:
        shown += writer.feed(text[before:cut])
        before = cut
    assert shown + writer.flush() == shown_markdown(text, colours=True, width=40)


def test_words_are_shown_as_they_come() -> None:
    writer = MarkdownWriter(colours=False, width=80)
    pieces = ["It is ", "**3", "0** eu", "ro [1", "] or"]
    assert [writer.feed(piece) for piece in pieces] == ["It is ", "", "30 eu", "ro ", "[1] or"]


@pytest.mark.parametrize("width", [60, 80, None])
def test_no_value_of_a_table_is_broken(width: int | None) -> None:
    values = ["a" * 40, "b" * 45, "some words " * 9]
    lines = lay_out(["one", "two", "three"], [values, ["x", "y", "z"]], width)
    assert all(value in "\n".join(lines) for value in values[:2])
    assert width is None or max(map(len, lines)) <= width
    assert (len(lines) == 3) is (width is None)


@pytest.mark.parametrize("width", [60, 80])
def test_explain_breaks_no_value(width: int) -> None:
    identifiers = ["calculate_the_percentage_of_a_number", "nearest_example_of_the_template"]
    trace = Trace()
    with trace.stage("match") as details:
        details["why"] = "several words " * 10
        details["candidates"] = [
            {
                "template_id": name,
                "probability": 0.1234,
                "arguments": {"expression": "1+1"},
                "x": name,
            }
            for name in identifiers
        ]
    written = StringIO()
    console = Console(file=written, force_terminal=True, width=width, soft_wrap=True)
    print_stages(console, trace)
    shown = re.sub(r"\x1b\[[\d;]*m", "", written.getvalue())
    assert max(map(len, shown.splitlines())) <= width
    for name in identifiers:
        assert f"template_id: {name}\n" in shown or f"{name}  " in shown
    assert '{"expression":"1+1"}' in shown


def test_ask_styles_its_answer_at_a_terminal_alone(tmp_path: Path) -> None:
    configure(tmp_path, [adapter("sums", write_library(tmp_path / "library"))])
    words = ["ask", "What is 15% of 200?", "--config", str(tmp_path), "--data", str(tmp_path / "d")]
    ours, theirs = pty.openpty()
    environ = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    seen = {}
    for name, out in (("pipe", subprocess.PIPE), ("terminal", theirs)):
        done = subprocess.run(
            [sys.executable, "-m", "server", *words],
            stdout=out, stderr=subprocess.PIPE, cwd=ROOT, env=environ, check=True, timeout=120,
        )  # fmt: skip
        seen[name] = done.stdout or os.read(ours, 1000)
    os.close(ours)
    os.close(theirs)
    assert seen == {
        "pipe": b"15% of 200 is **30**\n",
        "terminal": b"15% of 200 is \x1b[1m30\x1b[0m\r\n",
    }
