"""Every benchmark runs, with counts so small that its figures mean nothing."""

import json
import shutil
import sys
from collections.abc import Callable
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.databases.record_shop import make_record_shop
from tests.support.configuring import adapter, configure, write_library
from tests.support.local_model import needs_local_model
from utils.bench._bfcl import arguments_right

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    path.stem for path in (ROOT / "utils" / "bench").glob("*.py") if not path.stem.startswith("_")
)

FEW: dict[str, tuple[str, ...]] = {
    "ask": ("--rounds", "1", "--json"),
    "bfcl": ("{bfcl}", "--json"),
    "big_library": ("--templates", "40", "--questions", "120", "--large-from", "2", "--json"),
    "blind": (
        *("--agent", "{blind}/some.jsonl", "{blind}/more.jsonl", "--library", "{blind}/sums"),
        *("--model", "{blind}/replies.yaml", "--provider", "scripted", "--json"),
    ),
    "chat": (
        *("--clients", "2", "--seconds", "0.3", "--questions", "5", "--json"),
        *("--config", "{config}"),
    ),
    "clinc150": ("{clinc150}", "--json"),
    "console": ("--templates", "30", "--rounds", "1", "--json"),
    "csv_rows": ("--rows", "2000", "--json"),
    "databases": ("--runs", "3", "--orders", "50", "--json"),
    "composite": ("--questions", "3", "--rounds", "1", "--json"),
    "drafts": ("--database", "{shop}", "--questions", "{questions}", "--errors", "--json"),
    "embedding": ("--questions", "16", "--json"),
    "extraction": ("--runs", "2", "--json"),
    "guards": ("--questions", "6", "--json"),
    "hops": ("--json",),
    "http": ("--runs", "5", "--json"),
    "intents": ("--rounds", "1", "--json"),
    "matching": ("--sizes", "3", "--runs", "3", "--json"),
    "synthesis": ("--results", "1"),
    "policy": ("--runs", "5", "--json"),
    "tools": ("--runs", "5", "--json"),
    "workers": ("--rounds", "1", "--seconds", "0.5", "--config", "{config}", "--json"),
}
"""What makes each benchmark short."""


def write(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def clinc150(tmp_path: Path) -> Path:
    """Two intents in the form of CLINC150."""
    shown = {
        "rain": ["will it rain", "is rain coming", "how wet will it be today"],
        "tea": ["make me some tea", "i want a cup of tea", "brew a pot of green tea"],
    }
    examples = [{"text": text, "intent": name} for name, some in shown.items() for text in some]
    write(tmp_path / "train_10shot.jsonl", examples)
    write(tmp_path / "validation.jsonl", [{"text": "brew me a tea", "intent": "tea"}])
    write(tmp_path / "oos_validation.jsonl", [{"text": "who won the match", "intent": None}])
    return tmp_path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A server with the least that answers."""
    served = adapter("intent-agent-example", write_library(tmp_path / "library"))
    configure(tmp_path, [served])
    return tmp_path / "config.yaml"


@pytest.fixture
def bfcl(tmp_path: Path) -> Path:
    """Two questions for a function and one for none, in the form of the leaderboard."""
    weigh = {
        "name": "scales.weigh",
        "description": "Weigh some fruit on the scales and say what it weighs.",
        "parameters": {
            "type": "dict",
            "properties": {
                "fruit": {"type": "string", "description": "The kind of fruit."},
                "pieces": {"type": "integer", "description": "How many pieces to weigh."},
                "tare": {"type": "float", "description": "The weight of the bowl in grams."},
                "labels": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["fruit", "pieces"],
        },
    }
    asked = ("Weigh 3 pieces of fruit, called 'plums', on the scales", "Weigh 4 pieces of fruit")
    lines = [
        {"id": f"simple_python_{n}", "question": [[{"role": "user", "content": text}]]}
        | {"function": [weigh]}
        for n, text in enumerate(asked)
    ]
    accepted = {"fruit": ["plums"], "tare": [""], "labels": [""]}
    answers = [
        {"id": f"simple_python_{n}", "ground_truth": [{"scales.weigh": accepted | {"pieces": [p]}}]}
        for n, p in enumerate((3, 4))
    ]
    write(tmp_path / "simple_python.jsonl", lines)
    write(tmp_path / "simple_python_answers.jsonl", answers)
    other = "Who was the first to fly across the ocean?"
    stray = {"id": "irrelevance_0", "question": [[{"role": "user", "content": other}]]}
    write(tmp_path / "irrelevance.jsonl", [stray | {"function": [weigh]}])
    return tmp_path


@pytest.fixture
def blind(tmp_path: Path) -> Path:
    """Blind questions for the agent that ships, and for a library of two templates."""
    forecast = {"tool": "forecast", "args": {"location": "Turin", "days": 5}}
    sums: list[dict[str, Any]] = [
        {"ask": "what is 15% of 200", "expect": 30, "category": "calc"},
        {"ask": "what is the best colour", "expect": None, "category": "null"},
    ]
    write(tmp_path / "some.jsonl", sums)
    write(tmp_path / "more.jsonl", [{"ask": "5 day forecast for Turin", "expect": forecast}])
    library = write_library(tmp_path / "sums")
    (library / "questions.yaml").write_text(
        "questions:\n"
        "- {ask: calculate 12% of 50, template: calculate_percentage,"
        " arguments: {value: 50, percentage: 12}}\n"
        "- {ask: who was Napoleon, template: null}\n"
    )
    reply = {"name": "calculate_percentage", "arguments": {"value": 50, "percentage": 12}}
    replies = {"replies": [{"when": "50", "calls": [reply]}, {"text": "None of them."}]}
    (tmp_path / "replies.yaml").write_text(json.dumps(replies))
    return tmp_path


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A few lines of each kind for the adapters that ship; of each, one expects what is not so."""
    education = {"intent_type": "QUERY", "operation": "count", "topic": "חינוך"}
    flashcards = {"intent": "CREATE_FLASHCARDS", "level": "N4", "count": 10}
    cancel = {"proposal": {"intent": "cancel_order", "target": "order 7"}, "done": False}
    ran = {"proposal": None, "done": True}
    lines: dict[str, list[dict[str, Any]]] = {
        "hebrew": [
            {"ask": "כמה החלטות יש בנושא חינוך?", "expect": education, "absent": ["limit"]},
            {"ask": "החלטות ממשלה 37", "expect": {"not_silent": "37"}, "category": "words"},
            {"ask": "החלטות ממשלה 37", "expect": {"topic": "חינוך", "or_not_silent": "37"}},
            {"ask": "החלטות ממשלה 37", "expect": {"government_number": 36, "or_not_silent": "37"}},
        ],
        "study": [
            {"ask": "Make me 10 N4 flashcards about verbs", "expect": flashcards, "writes": True},
            {"ask": "Don't make me any flashcards", "expect": {}, "writes": False},
            {"ask": "Make me 10 N4 flashcards about kanji", "expect": flashcards, "writes": False},
        ],
        "guards": [
            {"ask": "Will Litecoin go up tomorrow?", "block": True},
            {"ask": "How do I back up my wallet?", "block": False},
            {"ask": "Should I buy Litecoin now?", "block": False},
        ],
        "shop": [
            {"turns": [{"say": "cancel #007", "expect": cancel}, {"say": "yes", "expect": ran}]},
            {"turns": [{"say": "I want to cancel an order", "expect": {"asks": True}}]},
            {"turns": [{"say": "cancel #007", "expect": ran}]},
            {"turns": [{"say": "hello", "expect": cancel}]},
        ],
    }
    for kind, some in lines.items():
        write(tmp_path / f"{kind}.jsonl", some)
    write(tmp_path / "more.jsonl", [{"ask": "What is MWEB?", "block": False}])
    return tmp_path


Bench = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    """Run a benchmark by its name, and give what it prints."""

    def ran(module: str, *given: str) -> str:
        monkeypatch.setattr(sys, "argv", [module, *given])
        import_module(f"utils.bench.{module}").main()
        return capsys.readouterr().out

    return ran


def test_every_benchmark_is_here() -> None:
    assert sorted(FEW) == MODULES


OWN_TEST = ("bfcl", "blind", "console", "drafts", "synthesis")


@pytest.mark.parametrize("module", [m for m in MODULES if m not in OWN_TEST])
def test_it_runs(module: str, clinc150: Path, config: Path, run: Bench) -> None:
    given = (one.format(clinc150=clinc150, config=config) for one in FEW[module])
    assert json.loads(run(module, *given))


def test_drafts_are_judged_by_rows(run: Bench, tmp_path: Path) -> None:
    shop, questions = make_record_shop(tmp_path / "shop.db"), tmp_path / "questions.jsonl"
    lines: list[dict[str, Any]] = [
        {"ask": "how many genres are there?", "sql": "SELECT COUNT(*) FROM genres"},
        {"ask": "how many artists are there?", "sql": ["SELECT 99", "SELECT 98"]},
        {"ask": "who directed Album A", "sql": None},
    ]
    write(questions, lines)
    given = (one.format(shop=shop, questions=questions) for one in FEW["drafts"])
    found = json.loads(run("drafts", *given))
    assert (found["right"], found["wrong_of_all"], found["needless"]) == (0.5, 0.333, 0)


def test_the_console_is_measured_in_a_browser(run: Bench) -> None:
    if not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip("there is no Chromium here")
    pytest.importorskip("playwright", reason="./bin/orbit.sh install browser")
    found = json.loads(run("console", *FEW["console"]))
    assert 0 < found["first_view"]["sign_in_kb"]["max"] < found["first_view"]["whole_kb"]["max"]
    opened = [each["step"] for each in found["interactions"] if each["shown_ms"] is not None]
    assert opened[:2] == ["open the library", "open the map"]


@needs_local_model
def test_wording_is_measured(run: Bench) -> None:
    assert "states the right value" in run("synthesis", *FEW["synthesis"])


def test_calls_are_judged(bfcl: Path, run: Bench) -> None:
    found = json.loads(run("bfcl", *(one.format(bfcl=bfcl) for one in FEW["bfcl"])))
    assert found["even"]["both_right"] == 1
    assert found["odd"]["asked_for_more"] == 1
    assert found["all"]["irrelevant_not_called"] == 1


def test_blind_questions_are_judged_in_whole_turns(blind: Path, run: Bench) -> None:
    found = json.loads(run("blind", *(one.format(blind=blind) for one in FEW["blind"])))
    rows = {(row["set"], row["by"].rpartition(" ")[0] or row["by"]): row for row in found["rows"]}
    whole = {name: row for (name, by), row in rows.items() if by == "whole"}
    assert [whole[name]["right"]["hits"] for name in ("some", "more", "all agent files")] == [
        2,
        1,
        3,
    ]
    assert [whole["sums"][name]["hits"] for name in ("template", "arguments", "abstain")] == [
        1,
        1,
        1,
    ]
    assert whole["sums"]["wrong_call"]["value"] == 0
    assert whole["everything"]["questions"] == 5
    assert rows["sums", "nearest"]["template"]["of"] == 1
    [by_model] = [row for (_, by), row in rows.items() if by.endswith("replies.yaml")]
    assert (by_model["template"]["hits"], by_model["abstain"]["hits"]) == (1, 1)


def test_blind_questions_for_the_adapters_that_ship_are_judged(shipped: Path, run: Bench) -> None:
    files = {"hebrew": "hebrew", "study": "study", "guards": "guards more", "shop": "shop"}
    given = [
        [f"--{kind}", *(str(shipped / f"{name}.jsonl") for name in names.split())]
        for kind, names in files.items()
    ]
    found = json.loads(run("blind", *chain(*given), "--json"))
    rows = {
        row["set"]: {n: (f["hits"], f["of"]) for n, f in row.items() if isinstance(f, dict)}
        for row in found["rows"]
    }
    assert rows == {
        "hebrew": {"right": (3, 4)},
        "study": {"right": (2, 3), "wrote": (1, 2)},
        "guards": {"right": (2, 3), "falsely_blocked": (1, 2)},
        "more": {"right": (1, 1), "falsely_blocked": (0, 1)},
        "all guards files": {"right": (3, 4), "falsely_blocked": (1, 3)},
        "shop": {"right": (2, 4), "silent": (1, 4), "wrong": (1, 4)},
    }


def test_values_are_added_to_questions_and_both_ways_are_measured(
    clinc150: Path, run: Bench
) -> None:
    found = json.loads(run("clinc150", str(clinc150), "--values", "--every", "1", "--json"))
    assert found["questions"] == 2
    for way in ("whole_turns", "matcher_alone"):
        assert found[way]["template_accuracy_before_abstaining"]["of"] == 1


@pytest.mark.parametrize(
    ("given", "accepted", "right"),
    [
        ({"a": "New York, NY"}, {"a": ["new york ny", "NYC"]}, True),
        ({"a": 5}, {"a": [5.0]}, True),
        ({"a": "5"}, {"a": [5]}, False),
        ({"a": True}, {"a": [1]}, False),
        ({"a": [1, 2]}, {"a": [[2, 1], [1, 2]]}, True),
        ({"a": [1]}, {"a": [[1, 2]]}, False),
        ({"a": {"b": "X"}}, {"a": [{"b": ["x"], "c": ["", 1]}]}, True),
        ({"a": {"b": "X"}}, {"a": [{"b": ["x"], "c": [1]}]}, False),
        ({}, {"a": ["", 1]}, True),
        ({}, {"a": [1]}, False),
        ({"a": 1, "b": 2}, {"a": [1]}, False),
    ],
)
def test_arguments_are_right_when_each_is_accepted(
    given: dict[str, Any], accepted: dict[str, list[Any]], right: bool
) -> None:
    assert arguments_right(given, accepted) is right
