"""A report as JUnit's XML, which builds read: one test for each question."""

from collections.abc import Sequence
from xml.etree import ElementTree

from server.evaluation.outcomes import Outcome
from server.evaluation.questions import Question
from server.evaluation.report import failure_of


def junit_xml(name: str, questions: Sequence[Question], outcomes: Sequence[Outcome]) -> str:
    """Return the XML of a suite; a question that failed says what was expected and what came."""
    failed = 0
    suite = ElementTree.Element("testsuite", name=name)
    for question, outcome in zip(questions, outcomes, strict=True):
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=f"{name}.{question.template or 'nothing'}",
            name=_printable(question.ask),
            time=f"{outcome.latency_ms / 1000:.3f}",
        )
        why = failure_of(question, outcome)
        if why is not None:
            failed += 1
            ElementTree.SubElement(case, "failure", message=_printable(why))
    suite.set("tests", str(len(questions)))
    suite.set("failures", str(failed))
    suite.set("errors", "0")
    suite.set("time", f"{sum(outcome.latency_ms for outcome in outcomes) / 1000:.3f}")
    ElementTree.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(
        suite, encoding="unicode"
    )


def _printable(text: str) -> str:
    """XML has no way to write control characters."""
    return "".join(c if c >= " " or c in "\t\n" else "�" for c in text)
