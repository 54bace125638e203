"""A library is measured by itself, whatever models its adapter names."""

import asyncio
from pathlib import Path

import yaml

from server.evaluation.trial import LibraryTrial
from tests.support.configuring import adapter, configure, write_library

QUESTIONS = [
    {
        "ask": "What is 15% of 200?",
        "template": "calculate_percentage",
        "answer": "15% of 200 is **30**",
    }
]


def test_no_model_words_an_answer(tmp_path: Path) -> None:
    library = write_library(tmp_path / "library")
    script = tmp_path / "script.yaml"
    script.write_text(yaml.safe_dump({"replies": ["The answer is 30: 15% of 200."]}))
    models = {"inference_model_provider": "scripted", "inference_model": str(script)}
    found = configure(tmp_path, [adapter("sums", library, **models)])
    questions = tmp_path / "questions.yaml"
    questions.write_text(yaml.safe_dump({"questions": QUESTIONS}))
    trial = LibraryTrial(found.settings, found.environ, found.adapter("sums"), questions)
    assert asyncio.run(trial.measure()).report.answer_accuracy == 1.0
