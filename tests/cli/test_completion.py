"""`completion`: what Tab offers, in a real bash and for the other shells."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from server.cli.completion import SCRIPTS, complete
from server.cli.main import COMMANDS, command_line
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

ROOT = Path(__file__).parents[2]
OPTIONS_OF_ASK = ["--adapter", "--config", "--data", "--user", "--role", "--json", "--yes"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    sums, times = tmp_path / "sums", tmp_path / "times"
    adapters = [
        adapter("sums", write_library(sums, [PERCENTAGE])),
        adapter("sometimes", write_library(times, [NOW])),
    ]
    configure(tmp_path, adapters)
    return tmp_path


def offered(*words: str) -> list[str]:
    return [value for value, _ in complete(words)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["s"], [name for name in COMMANDS if name.startswith("s")]),
        ([], list(COMMANDS)),
        (["keys", "re"], ["revoke"]),
        (["keys", "revoke", "--"], ["--config", "--data", "--json"]),
        (["ask", "what is 15% of 200", "--"], OPTIONS_OF_ASK),
        (["ask", "--json", "what", "--"], [o for o in OPTIONS_OF_ASK if o != "--json"]),
        (["keys", "create", "--limit", "5/hour", "--l"], ["--limit", "--label"]),
        (["schema", "d"], ["domain"]),
        (["schema", "--write", "d"], []),
        (["completion", ""], ["bash", "zsh", "fish"]),
        (["ask", "what", ""], []),
        (["ask", "what", "--config", ""], []),
        (["nothing", "--"], []),
        (["keys", "nothing", "--"], []),
    ],
)
def test_what_a_line_may_go_on_with(words: list[str], expected: list[str]) -> None:
    assert offered(*words) == expected


def test_names_come_from_the_configuration_that_the_line_names(project: Path) -> None:
    config = ["--config", str(project)]
    assert offered("ask", "what", *config, "--adapter", "") == ["sums", "sometimes"]
    assert offered("ask", "what", str(project), "--adapter", "som") == ["sometimes"]
    assert offered("ask", "what", *config, "--adapter", "=", "su") == ["sums"]
    assert offered("ask", "what", *config, "--adapter", "=") == ["sums", "sometimes"]
    assert offered("ask", "what", *config, "--adapter=su") == ["--adapter=sums"]
    search = ["audit", "search", *config]
    assert offered(*search, "--template", "") == [PERCENTAGE["id"], NOW["id"]]
    assert offered(*search, "--adapter", "sums", "--template", "") == [PERCENTAGE["id"]]


def test_a_broken_configuration_offers_nothing(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("adapters: 5\n")
    assert offered("ask", "what", "--config", str(tmp_path), "--adapter", "") == []


@pytest.mark.parametrize(
    ("shell", "expected"),
    [
        ("bash", "--yes"),
        ("fish", "--yes\tSay yes to what needs it, and do it."),
        ("zsh", "--yes:Say yes to what needs it, and do it."),
    ],
)
def test_shells_that_show_it_are_told_what_an_option_is_for(shell: str, expected: str) -> None:
    app = command_line("completion", "ask")
    done = CliRunner().invoke(app, ["completion", shell, "--", "ask", "x", "--y"])
    assert done.stdout == f"{expected}\n"


def test_an_unknown_shell_is_named() -> None:
    done = CliRunner().invoke(command_line("completion", "ask"), ["completion", "tcsh"])
    assert (done.exit_code, "'tcsh' is none of the shells bash, zsh, fish" in done.stderr) == (
        2,
        True,
    )


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_scripts_are_what_the_shell_reads(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = tmp_path / "script"
    script.write_text(SCRIPTS[shell])
    subprocess.run([shell, "-n", str(script)], check=True)


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_scripts_ask_the_command_that_was_typed(shell: str) -> None:
    script = SCRIPTS[shell]
    assert f"completion {shell} -- " in script
    assert all(name in script.splitlines()[-1] or shell == "fish" for name in ("orbit", "orbit.sh"))


def test_tab_in_bash(project: Path) -> None:
    launcher = project / "my bin" / "orbit.sh"
    launcher.parent.mkdir()
    run = f"PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)}"
    launcher.write_text(f'#!/usr/bin/env bash\n{run} -m server "$@"\n')
    launcher.chmod(0o755)

    def pressed(*words: str) -> list[str]:
        line = " ".join(map(shlex.quote, [str(launcher), *words]))
        script = (
            f'eval "$({shlex.quote(str(launcher))} completion bash)"\n'
            f"complete -p orbit.sh >/dev/null || exit 1\n"
            f"COMP_WORDS=({line})\nCOMP_CWORD={len(words)}\n_orbit_completion\n"
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "--norc", "-c", script], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONWARNINGS": ""},
        )  # fmt: skip
        return done.stdout.split()

    assert pressed("sta") == ["start", "status"]
    assert pressed("ask", "what is 15% of 200", "--ad") == ["--adapter"]
    config = ["--config", str(project), "--adapter"]
    assert pressed("ask", "what is 15% of 200", *config, "") == ["sums", "sometimes"]


def test_completing_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from server.cli.completion import complete\n"
        "list(complete(['']))\n"
        "few = 'server.settings.models' not in sys.modules\n"
        "list(complete(['ask', 'x', '--adapter', '']))\n"
        "list(complete(['check', '--']))\n"
        "heavy = {'server.library', 'server.text', 'numpy', 'httpx', 'sqlalchemy', 'server.api'}\n"
        "print(few, sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "True []\n"


def test_tab_installs_nothing(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    launcher = shutil.copy(ROOT / "bin" / "orbit.sh", tmp_path / "bin")
    done = subprocess.run(
        [launcher, "completion", "bash", "--", "as"], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr, list(tmp_path.iterdir())) == ("", "", [tmp_path / "bin"])
