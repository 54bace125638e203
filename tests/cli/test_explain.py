"""`explain` shows the question with its words marked, and what was in the way."""

from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from server.cli.main import command_line
from server.cli.marked_sentence import legend, marked, obstacle, print_marked
from server.core.decision import Call, Clarify, Ending, MissingArguments, MissingParameter, NoMatch
from server.core.redaction import REDACTED
from server.core.tools import ToolCall
from tests.support.configuring import adapter, configure, write_library
from tests.support.deciding import MATCH

QUESTION = "What's 15% off  of 200, if it rains?"
WORDS = [
    {"text": "What's", "span": [0, 6], "as": "filler"},
    {"text": "15%", "span": [7, 10], "as": "value", "of": "percentage"},
    {"text": "off", "span": [11, 14], "as": "operator", "of": "discount"},
    {"text": "of", "span": [16, 18], "as": "frame", "of": "discount"},
    {"text": "200", "span": [19, 22], "as": "value", "of": "value"},
    {"text": "if", "span": [24, 26], "as": "unread"},
    {"text": "it", "span": [27, 29], "as": "unread"},
    {"text": "rains", "span": [30, 35], "as": "unread"},
]
SIGNS = "(What's) [15%=percentage] {off}  of [200=value], *if it rains*?"


def test_without_colours_signs_mark_the_words() -> None:
    assert marked(QUESTION, WORDS, colours=False).plain == SIGNS
    said = "[value=argument] frame {operator} (filler) *unread*"
    assert legend(colours=False).plain == said


def test_colours_leave_the_question_as_it_was_asked() -> None:
    shown = marked(QUESTION, WORDS, colours=True)
    assert shown.plain == QUESTION.replace("15%", "15%=percentage").replace("200", "200=value")
    styles = {shown.plain[span.start : span.end]: span.style for span in shown.spans}
    assert styles["if it rains"] == "underline red"
    assert (styles["What's"], styles["15%"]) == ("dim", "bold green")


@pytest.mark.parametrize(
    ("terminal", "no_color", "coloured"),
    [(True, False, True), (True, True, False), (False, False, False)],
)
def test_signs_stand_where_there_is_no_colour(
    *, terminal: bool, no_color: bool, coloured: bool
) -> None:
    system = "truecolor" if terminal else None
    console = Console(
        force_terminal=terminal,
        no_color=no_color,
        color_system=system,  # type: ignore[arg-type]
        soft_wrap=True,
    )
    with console.capture() as captured:
        print_marked(console, QUESTION, WORDS)
    shown = captured.get()
    assert ("\x1b[" in shown, SIGNS in shown) == (coloured, not coloured)


def test_of_a_masked_question_nothing_else_is_shown() -> None:
    masked = [*WORDS[:3], {**WORDS[3], "text": REDACTED}, *WORDS[4:]]
    shown = marked(QUESTION, masked, colours=False).plain
    assert shown == f"(What's) [15%=percentage] {{off}} {REDACTED} [200=value] *if it rains*"


@pytest.mark.parametrize(
    ("ending", "said"),
    [
        (NoMatch("w", (), ("don't",), "negation"), "“don't”: it says not to"),
        (NoMatch("60% is needed", (), ("x",)), "“x” was not read; 60% is needed"),
        (NoMatch("it has no use for x", (), ("x",)), "it has no use for x"),
        (MissingArguments(MATCH, (MissingParameter("value"),)), "value is not in the question"),
        (
            Clarify((MATCH, MATCH)),
            "calculate_percentage and calculate_percentage are too close to choose between",
        ),
        (Call(MATCH, ToolCall("t", "tool", "run", {})), ""),
    ],
)
def test_one_line_says_what_was_in_the_way(ending: Ending, said: str) -> None:
    assert obstacle(ending) == said


def test_the_command_prints_the_marked_question(tmp_path: Path) -> None:
    configure(tmp_path, [adapter("sums", write_library(tmp_path / "library"))])
    options = ["--config", str(tmp_path / "config.yaml"), "--data", str(tmp_path / "data")]
    app = command_line("explain")
    done = CliRunner().invoke(app, ["explain", "What is 15% of 200?", *options])
    assert "\n(What is) [15%=percentage] (of) [200=value]?\n" in done.stdout
    assert "nothing ran" not in done.stdout
    done = CliRunner().invoke(app, ["explain", "Don't calculate 15% of 200", *options])
    assert "\nnothing ran: “Don't”: it says not to\n" in done.stdout
    assert "*Don't*" in done.stdout
