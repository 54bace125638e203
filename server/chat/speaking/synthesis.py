"""From a tool's result to a sentence of a model, which may only say what the result says."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Final

from server.chat.respond import notes_of
from server.chat.response_format import RenderingFailed
from server.chat.speaking.budget import Cut, cut_to
from server.chat.speaking.facts import Facts, facts_of
from server.chat.speaking.prompting import Prompt, as_data
from server.chat.speaking.sentence import Sentence
from server.chat.speaking.stating import Checker, Finding
from server.chat.speaking.waiting import within
from server.chat.streaming import Listening
from server.core.answer import Answer, Trace
from server.core.chat_messages import Message, Reply
from server.core.ports import ChatModel
from server.core.tools import ToolCall, ToolResult, ToolResultStatus
from server.errors import ProviderError
from server.library.model import Template
from server.text.tokens import DateOrder

_LEAST_TOKENS: Final = 80
_TOKENS_PER_ROW: Final = 20
_MOST_ROWS_TOLD: Final = 20


@dataclass(frozen=True, slots=True)
class Spoken:
    """A call that ran, and the answer that its template composes of it."""

    question: str
    language: str
    template: Template
    call: ToolCall
    result: ToolResult
    answer: Answer


class Synthesizer:
    """Has a model word results. The template's answer stands wherever that does not work out."""

    def __init__(
        self,
        model: ChatModel,
        prompt: Prompt,
        *,
        timeout_s: float,
        result_tokens: int,
        date_order: DateOrder,
    ) -> None:
        self._model = model
        self._prompt = prompt
        self._timeout_s = timeout_s
        self._result_tokens = result_tokens
        self._date_order = date_order

    async def phrase(
        self,
        spoken: Spoken,
        trace: Trace,
        *,
        left_s: float,
        listening: Listening | None = None,
    ) -> Answer:
        """The answer in a model's words, or as it is when they are not to be had or not true.

        `left_s` is what the turn has left. Never raises for what a model or provider does.
        """
        if spoken.result.status is not ToolResultStatus.SUCCESS:
            return spoken.answer
        with trace.stage("synthesis") as details:
            details |= {"model": self._model.name, "prompt": self._prompt.described}
            if spoken.template.policy.sensitive_params:
                return _stands(spoken.answer, details, "no model is told of sensitive parameters")
            # Long results take a while to be read, and others wait on the event loop.
            facts, checker, cut = await asyncio.to_thread(self._read, spoken)
            if not (facts.stated or facts.rows or facts.truth is not None):
                return _stands(spoken.answer, details, "the result has no value to be worded")
            sentence = Sentence(checker, listening, spoken.template.id)
            try:
                messages = self._messages(spoken, cut)
                async with within(self._timeout_s, left_s):
                    finding = await self._listen(messages, sentence, facts, details)
            except (ProviderError, RenderingFailed, TimeoutError) as failed:
                why = str(failed) or f"{self._model.name} was not done in time"
                finding = Finding(why)
            details["said"] = sentence.text
            if not finding.good:
                if listening is not None:
                    listening.take_back(finding.why)
                return _stands(spoken.answer, details, finding.why, self._model.name)
            details["outcome"] = "spoken"
            return self._spoken(spoken, sentence.text, finding, cut)

    def _read(self, spoken: Spoken) -> tuple[Facts, Checker, Cut]:
        """What is known of the call, and as much of its result as the model is shown."""
        facts = facts_of(
            spoken.question,
            spoken.result.result,
            spoken.call.arguments,
            spoken.answer.content,
            description=spoken.template.description,
            order=self._date_order,
        )
        cut = cut_to(_without_echo(spoken.result.result), self._result_tokens)
        return facts, Checker(facts), cut

    def _messages(self, spoken: Spoken, cut: Cut) -> tuple[Message, ...]:
        return self._prompt.render(
            question=as_data(spoken.question),
            result=as_data(cut.data),
            arguments=as_data(dict(spoken.call.arguments)),
            answer=as_data(_plain(spoken.answer.content, cut)),
            description=as_data(spoken.template.description),
            language=spoken.language,
            cut=cut.is_cut,
            shown=cut.shown,
            total=cut.total,
        )

    async def _listen(
        self,
        messages: tuple[Message, ...],
        sentence: Sentence,
        facts: Facts,
        details: dict[str, Any],
    ) -> Finding:
        most = _LEAST_TOKENS + _TOKENS_PER_ROW * min(len(facts.rows), _MOST_ROWS_TOLD)
        async with aclosing(self._model.stream(messages, max_tokens=most)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    details["tokens"] = [piece.tokens.prompt, piece.tokens.completion]
                    if piece.cut:
                        return Finding("it ran into its limit of tokens")
                    break
                finding = sentence.hear(piece)
                if not finding.good:
                    return finding
                if sentence.is_over:
                    break
        return sentence.end()

    def _spoken(self, spoken: Spoken, text: str, finding: Finding, cut: Cut) -> Answer:
        answer = spoken.answer
        if finding.whole:
            notes = notes_of(spoken.call.sources, spoken.result, said=text)
            content = text + "".join(f"\n({note}.)" for note in notes)
        else:  # the sentence counts the rows; the table has them
            content = f"{text}\n\n{answer.content}"
        told: dict[str, Any] = {"model": self._model.name}
        if cut.is_cut:
            told["cut"] = cut.described
        metadata = {**answer.metadata, "synthesized": True, "synthesis": told}
        return replace(answer, content=content, metadata=metadata)


def _stands(answer: Answer, details: dict[str, Any], why: str, model: str = "") -> Answer:
    """The template's answer, with the reason in the trace, and in the metadata if a model spoke."""
    details |= {"outcome": "the template's answer stands", "why": why}
    if not model:
        return answer
    told = {"model": model, "why": why}
    return replace(answer, metadata={**answer.metadata, "synthesis": told})


def _without_echo(result: Any) -> Any:
    """The result without what only repeats the call."""
    if not isinstance(result, Mapping):
        return result
    return {name: value for name, value in result.items() if name not in ("operation", "input")}


def _plain(written: str, cut: Cut) -> str:
    """The template's answer without emphasis; of a result that is cut, its beginning."""
    text = written.replace("**", "")
    return text if not cut.is_cut else f"{text[:400]}…"
