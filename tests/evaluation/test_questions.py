"""Questions are read whole or refused with their line."""

from pathlib import Path

from server.evaluation.questions import Question, load_questions


def load(folder: Path, text: str, templates: set[str] | None = None) -> tuple[object, list[str]]:
    path = folder / "questions.yaml"
    path.write_text(text, encoding="utf-8")
    questions, problems = load_questions(path, templates, environ={"CITY": "Oslo"})
    return questions, [str(p).replace(str(path), "questions.yaml") for p in problems]


def test_every_field_is_read(tmp_path: Path) -> None:
    text = """\
questions:
  - ask: "What is 15% of 200?"
    template: calculate_percentage
    arguments: {value: 200, percentage: 15}
    answer: "15% of 200 is **30**"
  - ask: days since 2025-03-04
    template: date_difference
    arguments:
      date1: 2025-03-04
    asks: [date2]
  - {ask: what is love, template: null}
  - {ask: "weather in ${CITY}", template: null}
"""
    assert load(tmp_path, text) == (
        (
            Question(
                ask="What is 15% of 200?",
                template="calculate_percentage",
                arguments={"value": 200, "percentage": 15},
                answer="15% of 200 is **30**",
            ),
            Question(
                ask="days since 2025-03-04",
                template="date_difference",
                arguments={"date1": "2025-03-04"},
                asks=("date2",),
            ),
            Question(ask="what is love", template=None),
            Question(ask="weather in Oslo", template=None),
        ),
        [],
    )


def test_what_cannot_be_used_is_named_with_its_line_and_the_rest_is_kept(tmp_path: Path) -> None:
    text = """\
title: mine
questions:
  - ask: no template given
  - ask: "  "
    template: null
  - template: a
  - ask: twice
    template: a
    argumnets: {}
  - ask: [not, text]
    template: a
  - just text
  - ask: what is love
    template: null
    arguments: {x: 1}
  - ask: given and asked
    template: a
    arguments: {x: 1}
    asks: [x]
  - ask: unknown
    template: b
  - {ask: fine, template: a}
  - {ask: fine, template: a}
"""
    questions, problems = load(tmp_path, text, {"a"})
    assert questions == (Question(ask="fine", template="a"),) * 2
    assert problems == [
        "unknown key 'title'; a file of questions holds `questions:` alone @ questions.yaml:1",
        "a question needs `template:` (null when nothing may answer it) @ questions.yaml:3",
        "ask: a question of blanks asks nothing @ questions.yaml:4",
        "a question needs `ask:` @ questions.yaml:6",
        "unknown key 'argumnets'; a question has ask, template, arguments, answer, asks"
        " @ questions.yaml:9",
        "ask: Input should be a valid string @ questions.yaml:10",
        "a question is written as `ask:` and `template:` @ questions.yaml:12",
        "`arguments` means nothing beside `template: null` @ questions.yaml:15",
        "'x' is both given and asked for @ questions.yaml:19",
        "no template is called 'b' @ questions.yaml:21",
        "warning: is asked before, on line 22 @ questions.yaml:23",
    ]


def test_files_that_hold_no_questions_are_problems_not_crashes(tmp_path: Path) -> None:
    listless = "expected `questions:` with a list of questions @ questions.yaml:1"
    assert load(tmp_path, "questions: 3\n") == ((), [listless])
    assert load(tmp_path, "questions:\n  ask: x\n") == ((), [listless])
    questions, problems = load_questions(tmp_path / "none.yaml", environ={})
    assert (questions, [p.kind for p in problems]) == ((), ["not-found"])
    assert load(tmp_path, "- ask: x\n")[0] == ()
    assert load(tmp_path, "questions: [\n")[0] == ()
