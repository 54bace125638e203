"""What a verifier learns from: questions, what likely templates make of them, what is right.

Every question is read as a turn reads it, up to the verifier: ranked, extracted, accounted for.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from server.core.decision import Call, Match, MissingArguments
from server.core.json import to_json
from server.core.ports import Embedder
from server.core.turn import Caller, Turn
from server.errors import ArgumentsInvalid, ToolError
from server.evaluation.outcomes import Outcome, outcome_of
from server.evaluation.questions import Question, load_questions
from server.evaluation.report import is_right
from server.extraction.extractor import Extractor
from server.library.loader import load_library
from server.library.model import Library
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher
from server.retrievers.base import TemplateRetriever
from server.retrievers.choice import near_words, with_nearness
from server.retrievers.dependencies import DeciderDependencies
from server.retrievers.evidence import FEATURES, Candidate, evidence
from server.retrievers.requests import objection
from server.retrievers.verifier import Verifier
from server.settings.models import VectorStoreSettings
from server.tools.registry import ToolRegistry
from utils.bench._blind import BlindQuestion, Verdict, done_of, judge, read_blind

ROOT: Final = Path(__file__).resolve().parents[2]
LIBRARIES: Final = Path(__file__).parent / "libraries"
EXAMPLES: Final = ROOT / "examples" / "intent-templates"
TODAY: Final = datetime(2026, 11, 22, 12, tzinfo=UTC)
"""The day most of the questions of the libraries were written on."""
_ASKED_ON: Final = dict.fromkeys(
    (
        "brewery", "courier", "coworking", "festival", "garage", "garden", "kennel", "library",
        "marina", "optician", "pharmacy", "restaurant", "sailing", "schooloffice", "telecom",
        "theatre", "vet",
    ),
    datetime(2026, 7, 15, 12, tzinfo=UTC),
)  # fmt: skip
"""Other days that the questions of a library were written on."""
_CANDIDATES: Final = 5
_BLANK: Final = Verifier(tuple(0.0 for _ in FEATURES), 0.0, ())


@dataclass(frozen=True, slots=True)
class Row:
    """One template for one question: its features, and whether calling it so would be right.

    `objected`: the message speaks against it, so that it never runs whatever the features say.
    """

    features: Sequence[float]
    template_right: bool
    right: bool
    asks: bool
    objected: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """One question of a library with its likely templates; `weight` is what it counts."""

    library: str
    ask: str
    answerable: bool
    rows: Sequence[Row]
    weight: float = 1.0


Label = Callable[[Candidate], tuple[bool, bool]]
"""Says of a candidate whether its template is right, and whether its arguments are, too."""
Asked = tuple[str, bool, Label, float]
"""What is asked, whether anything may answer it, what is right, and what it counts."""


async def observe(
    name: str, library: Library, asked: Iterable[Asked], embedder: Embedder, state: Path
) -> list[Observation]:
    """Ask every question of one library."""
    store = TemplateStore(VectorStoreSettings(), state / "chroma")
    extractor = Extractor(library.domain)
    extractor.prepare(tuple(library.templates.values()))
    matcher = await Matcher.open(
        name, library, embedder, store, state_dir=state, telling=extractor.telling_words()
    )
    parts = DeciderDependencies(name, library, matcher, extractor, 0.5, _CANDIDATES, 0.1)
    retriever = TemplateRetriever(parts)
    caller = Caller("train", name)
    found, today = [], _ASKED_ON.get(name, TODAY)
    for text, answerable, label, weight in asked:
        reading = extractor.read(text, today)
        request = extractor.request_text(reading)
        ranking = await matcher.rank(request, limit=_CANDIDATES)
        turn = Turn("train", text, "train", caller, today)
        candidates = retriever.read_candidates(turn, reading, ranking)
        senses = extractor.senses(reading)
        rows = []
        for one in candidates:
            against = objection(one.template, one.frame, senses, one.coverage) is not None
            words = near_words([one])
            near = one
            if words and not against:
                nearness = await matcher.nearness(request, words, [one.template.id])
                near = with_nearness(one, nearness)
            others = [other for other in candidates if other is not one]
            features = evidence(ranking, near, others, senses)
            rows.append(Row(features, *label(one), bool(one.found.missing), against))
        if rows:
            found.append(Observation(name, text, answerable, rows, weight))
    await store.close()
    return found


def read_library(folder: Path) -> Library:
    """Read the library of a folder.

    Raises:
        SystemExit: it cannot be used.
    """
    files = [p for p in sorted(folder.glob("*.yaml")) if p.stem in ("templates", "tools")]
    files += sorted(folder.glob("http_tools.yaml"))
    environ = {"DEMO_SERVICES_URL": "http://127.0.0.1:1"}
    loaded = load_library(folder / "domain.yaml", files, environ)
    if loaded.library is None:
        raise SystemExit("\n".join(map(str, loaded.problems)))
    return loaded.library


def library_questions(folder: Path, library: Library) -> list[Question]:
    """Every question of the question files of a library that can be used."""
    found: list[Question] = []
    for path in sorted(folder.glob("questions*.yaml")):
        found += load_questions(path, library.templates, {})[0]
    return found


def labelled(question: Question, library: Library, weight: float = 1.0) -> Asked:
    """A question of a question file, as it is observed."""

    def label(candidate: Candidate) -> tuple[bool, bool]:
        template = candidate.template
        if template.id != question.template:
            return False, False
        if question.arguments is None and not question.asks:
            return True, not candidate.found.missing
        return True, is_right(question, _outcome(candidate, library))

    return question.ask, question.template is not None, label, weight


def _outcome(candidate: Candidate, library: Library) -> Outcome:
    match = Match(candidate.template.id, 1.0, 0.0, "")
    found = candidate.found
    ending = (
        MissingArguments(match, found.missing, found.arguments, found.sources)
        if found.missing
        else Call(match, candidate.template.call(found.arguments, found.sources))
    )
    return outcome_of(ending, library.templates, latency_ms=0.0)


def labelled_intent(text: str, intent: str | None) -> Asked:
    """A question of an intent set: its intent is all there is to be right about."""

    def label(candidate: Candidate) -> tuple[bool, bool]:
        return (candidate.template.id == intent,) * 2

    return text, intent is not None, label, 1.0


async def agent_questions(library: Library) -> list[Asked]:
    """The blind questions for the agent that ships, each judged by what a call would come to."""
    tools = ToolRegistry.build(clock=lambda: TODAY)
    asked = []
    for path in sorted((LIBRARIES / "agent").glob("*.jsonl")):
        for question in read_blind(path):
            label = _judged_by_result(question, tools, library)
            asked.append((question.ask, not question.nothing_may_run, label, 1.0))
    return asked


def _judged_by_result(question: BlindQuestion, tools: ToolRegistry, library: Library) -> Label:
    def label(candidate: Candidate) -> tuple[bool, bool]:
        if question.nothing_may_run or candidate.found.missing:
            return False, False
        call = candidate.template.call(candidate.found.arguments, candidate.found.sources)
        ending = Call(Match(candidate.template.id, 1.0, 0.0, ""), call)
        execution: Mapping[str, Any] = {"status": "error"}
        if call.tool in tools.names:
            with suppress(ToolError, ArgumentsInvalid):
                result = tools.get(call.tool).run(call.operation, call.arguments)
                execution = {"status": "success", "result": json.loads(to_json(result))}
        right = judge(question, done_of(ending, execution, library.templates)) is Verdict.RIGHT
        return right, right

    return label


def read_intents(data: Path) -> tuple[dict[str, list[str]], list[Mapping[str, Any]]]:
    """Ten examples of each intent, and every other question of the two sets to learn from."""
    examples: dict[str, list[str]] = {}
    for line in _lines(data / "train_10shot.jsonl"):
        examples.setdefault(line["intent"], []).append(line["text"])
    questions = _lines(data / "validation.jsonl") + _lines(data / "oos_validation.jsonl")
    return examples, questions[::2]


def _lines(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
