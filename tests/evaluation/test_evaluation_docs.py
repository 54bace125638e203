"""The page on evaluation shows a file that loads, and names what the report prints."""

from pathlib import Path

from server.evaluation.questions import Question, load_questions
from server.evaluation.report import score

PAGE = Path(__file__).parents[2] / "docs" / "evaluation.md"


def test_the_questions_shown_load(tmp_path: Path) -> None:
    _, _, after = PAGE.read_text(encoding="utf-8").partition(
        "<!-- loads as: questions -->\n```yaml\n"
    )
    shown, _, _ = after.partition("```")
    (tmp_path / "questions.yaml").write_text(shown, encoding="utf-8")
    questions, problems = load_questions(tmp_path / "questions.yaml", environ={})
    assert (len(questions), problems) == (4, ())


def test_every_key_and_every_figure_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = [*Question.model_fields, *score([], []).to_dict()]
    names.remove("questions")
    assert [name for name in names if f"`{name}`" not in text] == []
