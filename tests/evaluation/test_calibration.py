"""How sure to be, from a library's own questions."""

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from server.adapters.check import load_adapter
from server.errors import RequestInvalid
from server.evaluation.calibration import (
    Calibrated,
    ScoredCall,
    calibrate,
    expected,
    fit,
    held_out,
    scored_call,
)
from server.evaluation.outcomes import Outcome
from server.evaluation.questions import Question
from server.evaluation.trial import LibraryTrial
from server.retrievers.calibration import read_calibration
from server.retrievers.choice import least_confidence, most_wrong
from server.retrievers.verifier import probability, shipped_verifier
from server.settings.adapters import AdapterConfig
from tests.support.configuring import NOW, PERCENTAGE, adapter, configure, write_library

SHIPPED = shipped_verifier()
PATHS: dict[str, Any] = {"domain_config_path": "d", "template_library_path": "t"}


def calls(count: int, *, scale: float = 1.0, shift: float = 0.0) -> list[ScoredCall]:
    """Questions whose odds are stretched and shifted from what they should be."""
    chance = random.Random(3)
    found = []
    for _ in range(count):
        score = chance.gauss(1.0, 2.5)
        right = chance.random() < probability(scale * score + shift)
        found.append(ScoredCall(score, right, runs=True))
    return found


def test_many_questions_find_the_two_numbers() -> None:
    scale, shift = fit(calls(5000, scale=1.5, shift=-1.0))
    assert scale == pytest.approx(1.5, abs=0.1)
    assert shift == pytest.approx(-1.0, abs=0.15)


def test_few_questions_change_little() -> None:
    few, many = fit(calls(30, scale=1.5, shift=-1.0)), fit(calls(3000, scale=1.5, shift=-1.0))
    assert abs(few[0] - 1) < abs(many[0] - 1)
    assert abs(few[1]) < abs(many[1])
    assert fit([]) == (1.0, 0.0)


def test_a_library_where_nothing_goes_wrong_has_a_lower_threshold_the_more_it_shows() -> None:
    thresholds = [SHIPPED.threshold(0.03)]
    for count in (30, 100, 1000):
        right = [ScoredCall(2.0, right=True, runs=True)] * count
        found = calibrate(right, SHIPPED, library="", max_wrong=None)
        thresholds.append(found.applied(SHIPPED).threshold(0.03))
    assert thresholds == sorted(thresholds, reverse=True)
    assert thresholds[-1] < thresholds[0]


def test_a_library_where_much_goes_wrong_has_a_higher_threshold() -> None:
    mixed = [ScoredCall(1.5, right=n % 3 > 0, runs=True) for n in range(200)]
    mixed += [ScoredCall(4.0, right=True, runs=True)] * 200
    found = calibrate(mixed, SHIPPED, library="", max_wrong=None)
    least = found.applied(SHIPPED).threshold(0.03)
    assert expected(mixed, least, found.scale, found.shift).wrong <= 0.03
    assert held_out(mixed, SHIPPED, 0.03).wrong <= 0.05


def test_what_asks_for_more_or_was_not_weighed_goes_wrong_for_nobody() -> None:
    asks = ScoredCall(3.0, right=False, runs=False)
    silent = ScoredCall(None, right=False, runs=True)
    assert expected([asks, silent], 0.1).wrong == 0


@pytest.mark.parametrize(
    ("question", "right"),
    [
        (Question(ask="q", template="t"), True),
        (Question(ask="q", template="t", arguments={"a": 1}), True),
        (Question(ask="q", template="t", arguments={"a": 2}), False),
        (Question(ask="q", template="other"), False),
        (Question(ask="q", template=None), False),
    ],
)
def test_a_call_is_right_by_its_template_and_its_arguments(question: Question, right: bool) -> None:
    outcome = Outcome("t", called=True, confidence=0.75, latency_ms=1, arguments={"a": 1})
    found = scored_call(question, outcome, by_verifier=True)
    assert found.score == pytest.approx(1.0986, abs=1e-3)
    assert (found.right, found.runs) == (right, True)
    assert scored_call(question, outcome, by_verifier=False).score is None


def test_what_is_written_is_read(tmp_path: Path) -> None:
    domain = tmp_path / "domain.yaml"
    assert read_calibration(domain).calibration is None
    found = calibrate(calls(50), SHIPPED, library="x", max_wrong=0.02)
    found.save(tmp_path / "calibration.json")
    assert read_calibration(domain).calibration == found
    assert [path.name for path in tmp_path.iterdir()] == ["calibration.json"]


def test_the_risk_is_the_adapters_own_if_it_has_one_and_else_that_of_the_calibration() -> None:
    found = calibrate(calls(50), SHIPPED, library="x", max_wrong=0.02)
    plain, own, fixed = (
        AdapterConfig.model_validate(PATHS | more)
        for more in ({}, {"max_wrong": 0.1}, {"confidence_threshold": 0.4})
    )
    assert most_wrong(plain) == 0.025
    assert (most_wrong(plain, found), most_wrong(own, found)) == (0.02, 0.1)
    assert least_confidence(fixed, found.applied(SHIPPED), found) == 0.4


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("{", "EOF"),
        ({"scale": -1}, "scale"),
        ({"risk": []}, "risk"),
        ({"risk": [[0.5, 0.1], [0.4, 0.1]]}, "ascend"),
        ({"more": 1}, "more"),
        ({"shift": None}, "shift"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, change: str | dict[str, Any], said: str) -> None:
    path = tmp_path / "calibration.json"
    calibrate(calls(50), SHIPPED, library="x", max_wrong=None).save(path)
    written = (
        change if isinstance(change, str) else json.dumps(json.loads(path.read_text()) | change)
    )
    path.write_text(written)
    problem = read_calibration(tmp_path / "domain.yaml").problem
    assert problem is not None
    assert (problem.kind, problem.is_error, said in problem.what) == ("bad-calibration", True, True)


QUESTIONS = [
    *({"ask": f"what is {n}% of {n * 7}", "template": PERCENTAGE["id"]} for n in range(5, 27)),
    *({"ask": f"{ask}{end}", "template": NOW["id"]}
      for ask in ("what time is it", "current time") for end in ("", "?", " please")),
    *({"ask": ask, "template": None}
      for ask in ("tell me a joke", "what is love", "sort my socks", "who won the cup")),
]  # fmt: skip


def calibrated(folder: Path, questions: Sequence[object], **settings: object) -> Calibrated:
    library = write_library(folder / "library")
    found = configure(folder, [adapter("sums", library, config=settings)])
    found = found.with_data_dir(folder / "data")
    path = folder / "questions.yaml"
    path.write_text(yaml.safe_dump({"questions": list(questions)}))
    trial = LibraryTrial(found.settings, found.environ, found.adapter("sums"), path)
    return asyncio.run(trial.calibrate(0.05))


def test_a_library_is_calibrated_used_and_known_to_have_changed(tmp_path: Path) -> None:
    done = calibrated(tmp_path, QUESTIONS)
    assert (done.calibration.questions, done.max_wrong) == (len(QUESTIONS), 0.05)
    assert done.before.questions == done.after.questions == len(QUESTIONS)
    said = done.to_dict()
    assert said["after"]["threshold"] < said["before"]["threshold"]
    assert said["after"]["wrong_call_rate"] <= 0.05
    assert "before" in done.to_text()

    found = configure(tmp_path, [adapter("sums", tmp_path / "library")])
    loaded = load_adapter(found.adapter("sums"), {}, found.settings)
    assert (loaded.calibration, loaded.problems) == (done.calibration, ())
    changed = PERCENTAGE | {"nl_examples": ["What is 5% of 7?", "percentage of it", "9% of 3"]}
    write_library(tmp_path / "library", [changed, NOW])
    (old,) = load_adapter(found.adapter("sums"), {}, found.settings).problems
    assert (old.kind, old.is_error) == ("old-calibration", False)
    assert old.what.endswith("run: orbit eval --calibrate --adapter sums")


def test_too_few_questions_write_nothing(tmp_path: Path) -> None:
    with pytest.raises(RequestInvalid, match="12 questions"):
        calibrated(tmp_path, QUESTIONS[:12])
    assert not (tmp_path / "library" / "calibration.json").exists()
