"""The agent example: complete, sound, and tested by questions it was not taught."""

import asyncio
import re
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from server.chat.respond import describe_outcome
from server.evaluation.example_check import example_problems
from server.evaluation.questions import Question, load_questions
from server.extraction.extractor import Extractor
from server.library.loader import load_library
from server.library.model import BuiltinExecution, Library
from server.tools.executor import ToolExecutor
from server.tools.policy.chain import CallOutcome
from server.tools.registry import ToolRegistry
from server.tools.rows.forms import BUILT_ON_QUERY
from server.tools.template_lint import template_problems

FOLDER = Path(__file__).parents[2] / "examples" / "intent-templates" / "agent-template"
A_SUNDAY = datetime(2025, 6, 15, 12, tzinfo=UTC)


@cache
def library() -> Library:
    loaded = load_library(FOLDER / "domain.yaml", [FOLDER / "tools.yaml"], {})
    assert loaded.problems == ()
    assert loaded.library is not None
    return loaded.library


@cache
def questions() -> tuple[Question, ...]:
    listed: tuple[Question, ...] = ()
    for name in (
        "questions.yaml",
        "questions-sums.yaml",
        "questions-dates.yaml",
        "questions-rows.yaml",
    ):
        found, problems = load_questions(FOLDER / name, library().templates, {})
        assert problems == ()
        listed += found
    return listed


def plain(text: str) -> str:
    """The words of a text, however they are capitalised and set apart."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def test_every_template_fits_the_tool_it_names() -> None:
    assert template_problems(library(), ToolRegistry.build()) == []


def test_every_operation_of_every_builtin_tool_has_a_template() -> None:
    registry = ToolRegistry.build()
    offered = {(tool.name, name) for tool in registry for name in tool.operations}
    executions = (template.execution for template in library().templates.values())
    used = {(e.tool, e.operation) for e in executions if isinstance(e, BuiltinExecution)}
    # The rest of them are queries of one shape, and asked for by questions about rows.
    shapes = {("json_transform", definition.name) for definition, _ in BUILT_ON_QUERY}
    assert ("json_transform", "query") in used
    assert used | shapes == offered


def test_every_example_gives_every_argument_it_needs() -> None:
    assert example_problems(library(), Extractor(library().domain)) == []


def test_every_template_has_examples_enough_to_learn_from() -> None:
    assert {
        template.id: len(template.nl_examples)
        for template in library().templates.values()
        if len(template.nl_examples) < 8
    } == {}


def test_no_two_examples_say_the_same() -> None:
    said = Counter(
        plain(example)
        for template in library().templates.values()
        for example in template.nl_examples
    )
    assert [example for example, times in said.items() if times > 1] == []


def test_no_question_is_an_example() -> None:
    taught = {plain(e) for t in library().templates.values() for e in t.nl_examples}
    assert [q.ask for q in questions() if plain(q.ask) in taught] == []


def test_there_are_questions_for_every_template_and_many_for_none() -> None:
    counts = Counter(question.template for question in questions())
    assert len(questions()) >= 200
    assert counts[None] >= 50
    assert {name: counts[name] for name in library().templates if counts[name] < 6} == {}


def test_arguments_of_the_questions_are_parameters_of_their_templates() -> None:
    for question in questions():
        if question.template is not None:
            known = {p.name for p in library().templates[question.template].parameters}
            assert {*(question.arguments or {}), *question.asks} <= known, question.ask


def test_the_right_template_reads_its_arguments() -> None:
    """Extraction alone, with the template given: what it misses, no matching can mend."""
    extractor = Extractor(library().domain)
    misread = []
    for question in questions():
        if question.template is None or question.arguments is None:
            continue
        template = library().templates[question.template]
        found = extractor.extract(question.ask, template, now=A_SUNDAY)
        missing = tuple(m.name for m in found.missing)
        expected = {p.name: p.default for p in template.parameters if p.default is not None}
        if (dict(found.arguments), missing) != ({**expected, **question.arguments}, question.asks):
            misread.append((question.ask, found.arguments, missing))
    assert misread == []


def test_each_text_of_a_template_fits_its_result_in_each_language() -> None:
    executor = ToolExecutor(ToolRegistry.build(clock=lambda: A_SUNDAY))
    spoken: dict[str, dict[str, str]] = {}
    for question in questions():
        template = library().templates.get(question.template or "")
        if template is None or question.arguments is None or "fr" not in template.response_template:
            continue
        defaults = {p.name: p.default for p in template.parameters if p.default is not None}
        call = template.call({**defaults, **question.arguments}, {})
        result = asyncio.run(executor.execute(call, timeout_s=30))
        if result.error_message is None:
            outcome = CallOutcome(result, call, "success")
            texts = spoken[template.id] = {}
            for language in ("en", "fr"):
                texts[language], by = describe_outcome(library(), template, outcome, language)
                assert by == "response_template", (question.ask, by)
    executor.close()
    french = {t.id for t in library().templates.values() if "fr" in t.response_template}
    assert spoken.keys() == french - {"calculate"}  # which writes the sum, in no language
    assert [name for name, texts in spoken.items() if texts["en"] == texts["fr"]] == []
