"""How often a model's wording of a result is right, with the check of the server and without.

    python -m utils.bench.synthesis [--results 100] [--show] [--said FILE]

Questions of the agent example are answered by their tools; a model words each result once.
A sentence states the right value when every value that the tool gave stands in it, and it
is wrong when a number stands in it that neither the tool nor the question has. That is
judged here from the raw result, and not by what is measured. `--said` keeps what the model
said in a file, so that another check can be measured without asking it again.
"""

import argparse
import asyncio
import json
import os
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from server.adapters.local import open_adapter
from server.adapters.resources import SharedResources
from server.chat.adapter import Adapter
from server.chat.pipeline import run_turn
from server.core.chat_messages import Reply
from server.core.decision import Answer, Call, Trace
from server.core.ports import ChatModel
from server.core.streaming import TurnDeadline
from server.core.tools import ToolResult, ToolResultStatus
from server.core.turn import Caller, Turn
from server.evaluation.questions import load_questions
from server.llm.prompts import PromptedModel, Prompts, load_prompts
from server.llm.response_synthesizer import ResponseSynthesizer, RewriteRequest
from server.llm.truncation import truncate_result
from server.providers.chat.scripted import ScriptedChat
from server.settings.loader import load_settings
from utils.bench._machine import describe_machine

EXAMPLE = Path("examples/intent-templates/agent-template")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?")

CONFIG = f"""
data_dir: {{data}}
models: {{{{llama_cpp: {{{{timeout_s: 600, threads: 1}}}}}}}}
adapters:
  - name: bench
    config:
      domain_config_path: {(EXAMPLE / "domain.yaml").absolute()}
      template_library_path: {(EXAMPLE / "tools.yaml").absolute()}
"""


@dataclass(frozen=True, slots=True)
class Worded:
    """One result: what the model said of it, and what the server answered."""

    request: RewriteRequest
    raw: str
    answer: Answer
    ms: float

    @property
    def taken(self) -> bool:
        return self.answer.metadata["synthesized"] is True


def numbers(text: str) -> set[Decimal]:
    return {Decimal(found.replace(",", "")) for found in NUMBER.findall(text)}


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield value


def payload(request: RewriteRequest) -> Any:
    result = request.result.result
    return result["result"] if isinstance(result, Mapping) else result


def states(text: str, request: RewriteRequest) -> bool:
    """Whether every value that the tool gave stands in the text, rounded to two places at most."""
    said = numbers(text)
    plain = text.replace(",", "").casefold()
    for leaf in leaves(payload(request)):
        if isinstance(leaf, int | float | Decimal):
            exact = Decimal(str(leaf))
            if not any(abs(exact - number) <= Decimal("0.005") for number in said):
                return False
        elif str(leaf).replace(",", "").casefold() not in plain and not written(str(leaf), text):
            return False
    return True


def written(value: str, text: str) -> bool:
    """Whether a moment stands in the text, as it is or in words: March 5, 2025, at 10:30."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return False
    in_words = f"{moment:%B}" in text and {Decimal(moment.day), Decimal(moment.year)} <= numbers(
        text
    )
    has_time = len(value) > len("2025-03-05")
    return (f"{moment:%Y-%m-%d}" in text or in_words) and (
        not has_time or f"{moment:%H:%M}" in text or f"{moment:%-I:%M}" in text
    )


def makes_up(text: str, request: RewriteRequest) -> bool:
    """Whether a number stands in the text that nobody gave."""
    known = numbers(f"{request.question} {request.result.result} {request.answer.content}")
    known |= numbers(str(dict(request.call.arguments)))
    known |= {abs(number) for number in known}
    return any(
        all(abs(number - each) > Decimal("0.005") for each in known) for number in numbers(text)
    )


async def request_of(adapter: Adapter, text: str) -> RewriteRequest | None:
    """The call that a question becomes, when it runs."""
    caller = Caller("bench", adapter.name, "bench")
    turn = Turn("bench", text, "bench", caller, datetime.now(UTC))
    answer = await run_turn(adapter, turn, timeout_s=60)
    if not isinstance(answer.decision, Call):
        return None
    execution = answer.metadata["tool_execution"]
    if execution["status"] != "success" or isinstance(payload_of(execution), bool):
        return None
    result = ToolResult(
        execution["tool_name"],
        execution["operation"],
        ToolResultStatus.SUCCESS,
        execution["execution_time_ms"],
        execution["parameters"],
        execution["result"],
    )
    template = adapter.library.templates[answer.metadata["template_id"]]
    return RewriteRequest(text, "en", template, answer.decision.call, result, answer)


def payload_of(execution: Mapping[str, Any]) -> Any:
    return execution["result"].get("result")


def synthesizer(model: ChatModel, prompts: Prompts) -> ResponseSynthesizer:
    prompted = PromptedModel(model, prompts["synthesis"], 600)
    return ResponseSynthesizer(prompted, result_tokens=1000, date_order="mdy")


Said = dict[str, tuple[str, bool, float]]
"""What the model said to each question, whether it was cut, and the milliseconds it took."""


async def word(request: RewriteRequest, model: ChatModel, prompts: Prompts, said: Said) -> Worded:
    """Ask the model once, and give what it said to the server's check."""
    if request.question not in said:
        cut = truncate_result({"result": payload(request)}, 1000)
        messages = synthesizer(model, prompts).messages(request, cut)
        begun = perf_counter()
        reply = await model.complete(messages, max_tokens=120)
        said[request.question] = (reply.text, reply.cut, (perf_counter() - begun) * 1000)
    text, was_cut, ms = said[request.question]
    deadline = TurnDeadline(asyncio.get_running_loop().time() + 600)
    again = ScriptedChat([Reply(text, "said", cut=was_cut)])
    answer = await synthesizer(again, prompts).rewrite(request, Trace(), deadline)
    return Worded(request, text.strip(), answer, ms)


async def measure(count: int, said: Said) -> list[Worded]:
    """Word the results of `count` questions; what the model says is added to `said`."""
    questions, _ = load_questions(EXAMPLE / "questions.yaml")
    prompts, _ = load_prompts(None, {})
    assert prompts is not None
    with TemporaryDirectory() as folder:
        config = Path(folder) / "config.yaml"
        config.write_text(CONFIG.format(data=folder))
        loaded = load_settings(config, dict(os.environ))
        assert loaded.settings is not None, loaded.problems
        settings = loaded.settings
        resources = await SharedResources.open(settings, loaded.environ)
        model = resources.chat_model("llama_cpp", None)
        async with open_adapter(settings, loaded.environ, settings.adapters[0]) as adapter:
            answerable = [question.ask for question in questions if question.template]
            results = [await request_of(adapter, ask) for ask in answerable]
            able = [request for request in results if request is not None]
            step = max(1, len(able) // count)
            worded = [await word(request, model, prompts, said) for request in able[::step][:count]]
        await resources.close()
    return worded


def report(worded: list[Worded], *, show: bool) -> None:
    total = len(worded)

    def share(name: str, count: int) -> None:
        print(f"{name:<58} {count / total:.3f}  ({count} of {total})")

    for name, value in describe_machine().items():
        print(f"{name:<58} {value}")
    share("states the right value, model alone", sum(states(w.raw, w.request) for w in worded))
    share(
        "holds a number nobody gave, model alone", sum(makes_up(w.raw, w.request) for w in worded)
    )
    share(
        "states the right value, with the check",
        sum(states(w.answer.content, w.request) for w in worded),
    )
    share(
        "holds a number nobody gave, with the check",
        sum(makes_up(w.answer.content, w.request) for w in worded),
    )
    share("the model's words were taken", sum(w.taken for w in worded))
    good = [w for w in worded if states(w.raw, w.request) and not makes_up(w.raw, w.request)]
    kept = sum(w.taken for w in good)
    print(f"{'right sentences that the check let through':<58} {kept} of {len(good)}")
    seconds = statistics.median(w.ms for w in worded) / 1000
    print(f"{'seconds for one wording, median':<58} {seconds:.1f}")
    if show:
        for one in worded:
            why = one.answer.metadata.get("synthesis", {}).get("why", "")
            print(f"\n{one.request.question}\n  {one.raw!r}\n  {'taken' if one.taken else why}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=100)
    parser.add_argument("--show", action="store_true", help="print every sentence")
    parser.add_argument("--said", type=Path, help="a file that keeps what the model said")
    given = parser.parse_args()
    kept: Said = json.loads(given.said.read_text()) if given.said and given.said.exists() else {}
    measured = asyncio.run(measure(given.results, kept))
    if given.said:
        given.said.write_text(json.dumps(kept))
    report(measured, show=given.show)


if __name__ == "__main__":
    main()
