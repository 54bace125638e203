"""How often a function without examples is called rightly, and an irrelevant one not at all.

`python -m utils.bench.bfcl DATA_DIR [--by rules|model|both] [--provider P] [--model M]
[--every N] [--json]`

DATA_DIR holds `simple_python.jsonl`, `simple_python_answers.jsonl` and `irrelevance.jsonl`
of the Berkeley function-calling leaderboard. The functions of each question become a
library of their own, templates with descriptions and no examples, opened and asked as an
adapter is. `--by model` leaves the decision and all arguments to a model; `--by both` lets it
fill what the rules ask for, as `agent.function_model` does. `--every N` asks every Nth.
"""

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Literal

from server.core.chat_messages import Message
from server.core.decision import Call, MissingArguments, Trace
from server.core.ports import ChatModel, Embedder
from server.core.streaming import TurnDeadline
from server.core.turn import Caller, Turn
from server.errors import ProviderError
from server.evaluation.outcomes import percentile, share
from server.extraction.extractor import Extractor
from server.library.loader import load_library
from server.library.model import Library
from server.llm.function_calls import request_function_call
from server.llm.prompts import PromptedModel, load_prompts
from server.llm.slot_filling import SlotFiller
from server.matching.index.store import TemplateStore
from server.matching.matcher import Matcher
from server.providers.chat.factory import build_chat_model
from server.providers.embeddings.factory import build_embedder
from server.retrievers.base import DeciderDependencies
from server.retrievers.choice import WITHOUT_EXAMPLES
from server.retrievers.implementations.intent import IntentAgentRetriever
from server.settings.adapters import AdapterConfig
from server.settings.models import (
    EmbeddingsSettings,
    MatchingSettings,
    ModelsSettings,
    VectorStoreSettings,
)
from utils.bench._bfcl import Asked, arguments_right, read_questions, write_library
from utils.bench._machine import describe_machine

By = Literal["rules", "model", "both"]

_NOW: Final = datetime(2025, 3, 5, 12, tzinfo=UTC)
_MODEL_TIMEOUT_S: Final = 300.0
_PATIENT: Final = ModelsSettings.model_validate(
    {"llama_cpp": {"timeout_s": _MODEL_TIMEOUT_S, "max_tokens": 256}}
)
_FIELDS: Final = AdapterConfig.model_fields


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question: the function that would run, or what was asked for instead."""

    asked: Asked
    called: str | None
    arguments: Mapping[str, Any]
    missing: Sequence[str]
    latency_ms: float

    @property
    def function_right(self) -> bool:
        """Whether the right function was found, be it called or asked arguments for."""
        return self.called == self.asked.function

    @property
    def arguments_right(self) -> bool:
        accepted = self.asked.accepted
        return accepted is not None and not self.missing and arguments_right(
            self.arguments, accepted
        )  # fmt: skip

    @property
    def runs(self) -> bool:
        """Whether a function would run without anything more being asked."""
        return self.called is not None and not self.missing


@dataclass(slots=True)
class Bench:
    """What all questions share."""

    by: By
    folder: Path
    store: TemplateStore
    embedder: Embedder
    model: ChatModel | None = None
    opened: int = field(default=0)

    async def ask(self, asked: Asked) -> Outcome:
        """Open the question's own library, and ask it."""
        library = read_library(asked, self.folder)
        if self.by == "model" and self.model is not None:
            return await by_model(asked, library, self.model)
        self.opened += 1
        name = f"functions-{self.opened}"
        matcher = await Matcher.open(
            name, library, self.embedder, self.store, state_dir=self.folder / "heads"
        )
        parts = DeciderDependencies(
            adapter=name,
            library=library,
            matcher=matcher,
            extractor=Extractor(library.domain),
            confidence_threshold=WITHOUT_EXAMPLES,
            max_templates=_FIELDS["max_templates"].default,
            clarify_margin=MatchingSettings().clarify_margin,
        )
        retriever = IntentAgentRetriever(parts)
        turn = Turn(name, asked.text, name, Caller("bench", name), _NOW)
        started = perf_counter()
        decision = await retriever.decide(turn, Trace())
        if isinstance(decision, MissingArguments) and self.model is not None:
            decision = await self._filled(decision, turn, library)
        took = (perf_counter() - started) * 1000
        match decision:
            case Call(match, call):
                given = {
                    name: value
                    for name, value in call.arguments.items()
                    if call.sources[name].kind != "default"
                }
                return Outcome(asked, match.template_id, given, (), took)
            case MissingArguments(match, missing):
                names = [one.name for one in missing]
                return Outcome(asked, match.template_id, {}, names, took)
        return Outcome(asked, None, {}, (), took)

    async def _filled(
        self, decision: MissingArguments, turn: Turn, library: Library
    ) -> MissingArguments | Call:
        assert self.model is not None
        prompts, _ = load_prompts(None, {})
        assert prompts is not None
        model = PromptedModel(self.model, prompts["filling"], _MODEL_TIMEOUT_S)
        filler = SlotFiller(model, library)
        deadline = TurnDeadline(asyncio.get_running_loop().time() + _MODEL_TIMEOUT_S)
        return await filler.fill(decision, turn, Trace(), deadline)


def read_library(asked: Asked, folder: Path) -> Library:
    """The question's functions as a library, read from YAML as any other.

    Raises:
        SystemExit: they make no library.
    """
    domain, tools = write_library(asked.functions, folder)
    loaded = load_library(domain, [tools], {})
    if loaded.library is None or loaded.library.left_out:
        raise SystemExit("\n".join([asked.id, *map(str, loaded.problems)]))
    return loaded.library


async def by_model(asked: Asked, library: Library, model: ChatModel) -> Outcome:
    """Leave it all to the model: whether to call, and with what."""
    functions = {t.function_name: t for t in library.templates.values()}
    started = perf_counter()
    try:
        call = await request_function_call(
            model,
            [Message("user", asked.text)],
            [template.to_tool_definition() for template in functions.values()],
        )
    except ProviderError:
        call = None
    took = (perf_counter() - started) * 1000
    if call is None:
        return Outcome(asked, None, {}, (), took)
    return Outcome(asked, functions[call.name].id, call.arguments, (), took)


async def ask_all(
    data: Path, by: By, provider: str, model: str | None, every: int
) -> dict[str, list[Outcome]]:
    """Every Nth question of both files, one at a time."""
    questions = {name: read_questions(data, name) for name in ("simple_python", "irrelevance")}
    outcomes: dict[str, list[Outcome]] = {}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(
            by,
            Path(folder),
            TemplateStore(VectorStoreSettings(), Path(folder)),
            build_embedder("local", None, EmbeddingsSettings()),
        )
        if by != "rules":
            bench.model = build_chat_model(provider, model, _PATIENT, os.environ, folder=Path.cwd())
        for name, asked in questions.items():
            outcomes[name] = [await bench.ask(one) for one in asked[::every]]
        if bench.model is not None:
            await bench.model.close()
        await bench.embedder.close()
        await bench.store.close()
    return outcomes


def report(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    """Shares of all questions, and of those with even and with odd numbers by themselves.

    The rules were made looking at questions with even numbers alone.
    """
    found: dict[str, Any] = {"all": _figures(outcomes)}
    for half, odd in (("even", 0), ("odd", 1)):
        found[half] = _figures(
            {
                name: [one for one in some if one.asked.number % 2 == odd]
                for name, some in outcomes.items()
            }
        )
    return found


def _figures(outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    simple, irrelevant = outcomes["simple_python"], outcomes["irrelevance"]
    return {
        "questions": len(simple),
        "function_right": share(one.function_right for one in simple),
        "arguments_right": share(one.arguments_right for one in simple if one.function_right),
        "both_right": share(one.function_right and one.arguments_right for one in simple),
        "asked_for_more": share(bool(one.missing) for one in simple),
        "ran_wrongly": share(one.runs and not one.arguments_right for one in simple),
        "irrelevant_questions": len(irrelevant),
        "irrelevant_not_called": share(not one.runs for one in irrelevant),
        "irrelevant_not_matched": share(one.called is None for one in irrelevant),
        "latency_ms_p50": percentile([one.latency_ms for one in (*simple, *irrelevant)], 50),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--by", choices=("rules", "model", "both"), default="rules")
    parser.add_argument("--provider", default="llama_cpp")
    parser.add_argument("--model", default=None)
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = report(
        asyncio.run(ask_all(given.data, given.by, given.provider, given.model, given.every))
    )
    if given.json:
        print(json.dumps({"machine": describe_machine(), "by": given.by, **found}, indent=2))
        return
    names = list(found["all"])
    print(f"{'':<26}" + "".join(f"{half:>10}" for half in found))
    for name in names:
        shown = [found[half][name] for half in found]
        cells = (f"{v:>10.3f}" if isinstance(v, float) else f"{v!s:>10}" for v in shown)
        print(f"{name:<26}" + "".join(cells))


if __name__ == "__main__":
    main()
