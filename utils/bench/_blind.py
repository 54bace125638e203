"""Questions that nobody tuned anything to, and what is right of their answers.

A line is `{"ask": …, "expect": …, "category": …}`. What is expected is a number, a text that the
result holds, a list of rows or values, `{"tool": …, "args": {…}}` for a function over HTTP, or
null where nothing may run. `relative`, a Python expression of `today`, stands in for an `expect`
that changes from day to day.
"""

import json
import re
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from math import isclose
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from server.core.decision import Answer, Call, Ending, PendingConfirmation
from server.core.tools import ToolCall
from server.evaluation.outcomes import Outcome
from server.evaluation.questions import Question
from server.evaluation.report import score
from server.library.model import BuiltinExecution, Template


class Verdict(StrEnum):
    """What an answer is worth. Silent: nothing was done, and something was to be done."""

    RIGHT = "right"
    SILENT = "silent"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class BlindQuestion:
    """A question for the agent that ships, with what should come of it."""

    ask: str
    expect: Any
    category: str = ""
    relative: str = ""

    @property
    def nothing_may_run(self) -> bool:
        return self.expect is None and not self.relative

    def expected(self) -> Any:
        """What is expected now."""
        if not self.relative:
            return self.expect
        # Runs as Python: a file of questions is as trusted as a script.
        names: dict[str, Any] = {
            "today": datetime.now().astimezone().date(),
            "date": date,
            "datetime": SimpleNamespace(datetime=datetime, date=date, timedelta=timedelta),
            "timedelta": timedelta,
            "zoneinfo": zoneinfo,
        }
        value = eval(self.relative, names)
        return value.isoformat()[:10] if isinstance(value, date) else value


@dataclass(frozen=True, slots=True)
class Done:
    """What was done for a question: nothing at all where `call` is None.

    `result` is None where the call was only proposed or rehearsed, or its service refused it.
    """

    call: ToolCall | None = None
    result: Any = None


NOTHING: Final = Done()

TOOLS: Final[Mapping[str, str]] = {
    "weather": "get_current_weather",
    "forecast": "get_weather_forecast",
    "places": "search_locations",
    "place": "search_locations",
    "stock": "get_stock_quote",
    "currency": "convert_currency",
    "notify": "send_notification",
    "task": "create_task",
}
"""What questions call the functions of the agent that ships."""


def read_blind(path: Path) -> list[BlindQuestion]:
    """Read a file of questions.

    Raises:
        SystemExit: a line is no question, or names a tool that is not known.
    """
    questions = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            row = json.loads(line)
            question = BlindQuestion(
                row["ask"], row["expect"], row.get("category", ""), row.get("relative") or ""
            )
        except (ValueError, TypeError, KeyError) as wrong:
            raise SystemExit(f"{where}: no question: {wrong!r}") from None
        if isinstance(question.expect, dict) and question.expect.get("tool") not in TOOLS:
            named = question.expect.get("tool")
            raise SystemExit(f"{where}: tool {named!r} is not one of {', '.join(TOOLS)}")
        questions.append(question)
    return questions


def done_by(answer: Answer, templates: Mapping[str, Template]) -> Done:
    """What an answer did."""
    refused = "policy" in answer.metadata
    execution = None if refused else answer.metadata.get("tool_execution")
    return done_of(answer.decision, execution, templates)


def done_of(
    ending: Ending, execution: Mapping[str, Any] | None, templates: Mapping[str, Template]
) -> Done:
    """What a decision and the run of its tool did.

    A tool of this process that refuses its arguments has done nothing. A service that was asked
    was asked, whatever it said; and a write that was only rehearsed would have been made.
    """
    match ending:
        case PendingConfirmation(call=call):
            return Done(call)
        case Call(call=call) if execution is not None:
            if execution["status"] == "success":
                return Done(call, execution["result"])
            builtin = isinstance(templates[call.template_id].execution, BuiltinExecution)
            return NOTHING if builtin else Done(call)
    return NOTHING


def judge(question: BlindQuestion, done: Done) -> Verdict:
    """Say whether what was done is what was asked for."""
    if question.nothing_may_run:
        return Verdict.RIGHT if done.call is None else Verdict.WRONG
    if done.call is None:
        return Verdict.SILENT
    expected = question.expected()
    if isinstance(expected, Mapping):
        right = done.call.template_id == TOOLS[expected["tool"]] and all(
            _is_given(name, value, done.call.arguments)
            for name, value in expected.get("args", {}).items()
        )
    else:
        right = done.result is not None and holds(done.result, expected)
    return Verdict.RIGHT if right else Verdict.WRONG


def judge_outcome(question: Question, outcome: Outcome) -> Verdict:
    """Say whether a library did what was asked for, with the arguments that were given."""
    report = score([question], [outcome])
    if question.template is None:
        right = report.abstain_recall == 1
    elif question.arguments is None:
        right = report.template_accuracy == 1 and set(outcome.asked) == set(question.asks)
    else:
        right = report.argument_accuracy == 1
    if right:
        return Verdict.RIGHT
    return Verdict.WRONG if outcome.called else Verdict.SILENT


# ── values ───────────────────────────────────────────────────────────────────────────

_INPUTS: Final = frozenset({"input", "parameters", "operation", "interpreted_as"})
"""Fields of a result that say what was asked, and not what came of it."""


def holds(found: Any, expected: Any) -> bool:
    """Return whether a result is what is expected, or one of its parts is.

    Parts are the fields of an object, and the only row of a list.
    """
    if _same(found, expected):
        return True
    match found:
        case Mapping():
            return any(holds(part, expected) for name, part in found.items() if name not in _INPUTS)
        case [only]:
            return holds(only, expected)
    return False


def _same(found: Any, expected: Any) -> bool:
    """Return whether a value is the expected one: numbers by value, and a text by what it holds."""
    match expected:
        case bool() | None:
            return found is expected
        case int() | float():
            number = _number(found)
            return number is not None and isclose(number, expected, rel_tol=1e-6, abs_tol=1e-6)
        case str():
            return isinstance(found, str) and expected.casefold() in found.casefold()
        case Mapping():
            return (
                isinstance(found, Mapping)
                and found.keys() == expected.keys()
                and all(_same(found[name], value) for name, value in expected.items())
            )
        case [only] if not isinstance(found, list | Mapping):
            return _same(found, only)
        case list():
            rows = _rows(found)
            return (
                rows is not None
                and len(rows) == len(expected)
                and all(map(_same_row, rows, expected))
            )
    return False


def _rows(found: Any) -> Sequence[Any] | None:
    """The rows of a list, or of an object that has one value for each group."""
    if isinstance(found, Mapping):
        return [{"group": name, "value": value} for name, value in found.items()]
    return found if isinstance(found, list) else None


def _same_row(found: Any, expected: Any) -> bool:
    """Return whether a row is the expected one, or stands for the one value that is expected.

    A row of one field stands for its value, and a row of a group and a value for the value.
    """
    if _same(found, expected):
        return True
    if not isinstance(found, Mapping):
        return False
    values = list(found.values())
    if isinstance(expected, list):
        return len(values) == len(expected) and all(map(_same, values, expected))
    return len(values) in (1, 2) and _same(values[-1], expected)


def _number(value: Any) -> float | None:
    match value:
        case bool():
            return None
        case int() | float() | Decimal():
            return float(value)
        case str():
            try:
                return float(value.replace(",", "").rstrip("%"))
            except ValueError:
                return None
    return None


# ── arguments ────────────────────────────────────────────────────────────────────────


def _is_given(name: str, expected: Any, arguments: Mapping[str, Any]) -> bool:
    """Return whether a call has an argument; questions need not know what parameters are called.

    Where one goes by the name (`from` for `from_currency`), only that one counts.
    """
    named = [v for n, v in arguments.items() if n == name or n.startswith(f"{name}_")]
    return any(_said(value, expected) for value in named or arguments.values())


def _said(found: Any, expected: Any) -> bool:
    """Return whether an argument is what was said, in as many words or nearly.

    A text may have two words more, such as “please” or “right now”, or lack up to half of them.
    """
    if isinstance(expected, int | float):
        return _same(found, expected)
    said, meant = _words(found), _words(expected)
    if not said or not meant:
        return said == meant
    if len(said) > len(meant):
        return len(said) <= len(meant) + 2 and _runs_in(meant, said)
    return 2 * len(said) >= len(meant) and _runs_in(said, meant)


def _words(value: Any) -> list[str]:
    return re.findall(r"[^\W_]+", str(value).casefold())


def _runs_in(few: Sequence[str], many: Sequence[str]) -> bool:
    places = range(len(many) - len(few) + 1)
    return any(many[place : place + len(few)] == few for place in places)
