"""A tool's result in the words of a model, which may only say what the result says."""

import asyncio
import re
import unicodedata
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Final

from server.core.chat_messages import Message, Reply
from server.core.decision import Answer, Trace
from server.core.streaming import StreamListener, TurnDeadline
from server.core.tools import ToolCall, ToolResult, ToolResultStatus
from server.library.model import Template
from server.llm.fact_check import CheckResult, FactChecker, without_echo
from server.llm.fact_tokens import VALUE_KINDS, read_tokens
from server.llm.prompts import MODEL_FAILURES, PromptedModel, as_data
from server.llm.truncation import TruncatedResult, truncate_result
from server.text.dates import MONTHS
from server.text.tokens import DateOrder

_LEAST_TOKENS: Final = 80
_TOKENS_PER_ROW: Final = 20
_MOST_ROWS_TOLD: Final = 20
_LAST_SPACE: Final = re.compile(r"\s(?=\S*\Z)")


@dataclass(frozen=True, slots=True)
class RewriteRequest:
    """A call that ran, and the answer that its template makes of it."""

    question: str
    language: str
    template: Template
    call: ToolCall
    result: ToolResult
    answer: Answer


class ResponseSynthesizer:
    """Has a model word results; when it fails or says what is not so, the answer stands."""

    def __init__(self, model: PromptedModel, *, result_tokens: int, date_order: DateOrder) -> None:
        self._model = model
        self._result_tokens = result_tokens
        self._date_order = date_order

    async def rewrite(
        self, request: RewriteRequest, trace: Trace, deadline: TurnDeadline
    ) -> Answer:
        """Return the answer in a model's words; as it is when the model fails or is wrong.

        Never raises for what a model or provider does.
        """
        if request.result.status is not ToolResultStatus.SUCCESS:
            return request.answer
        with trace.stage("synthesis") as details:
            details |= self._model.details
            if request.template.policy.sensitive_params:
                return _keep(request.answer, details, "no model is told of sensitive parameters")
            # Long results take a while to be read, and others wait on the event loop.
            checker, shown = await asyncio.to_thread(self._prepare, request)
            if not checker.has_value:
                return _keep(request.answer, details, "the result has no value to be worded")
            stream = StreamChecker(checker, deadline.listener, request.template.id)
            try:
                messages = self.messages(request, shown)
                async with deadline.step_timeout(self._model.timeout_s):
                    checked = await self._collect(messages, stream, checker.row_count, details)
            except MODEL_FAILURES as failed:
                checked = CheckResult(self._model.explain_failure(failed))
            details["said"] = stream.text
            if not checked.passed:
                if deadline.listener is not None:
                    deadline.listener.reset(checked.why)
                return _keep(request.answer, details, checked.why, self._model.model.name)
            details["outcome"] = "spoken"
            return self._answer(request, stream.text, checked, shown)

    def messages(self, request: RewriteRequest, shown: TruncatedResult) -> tuple[Message, ...]:
        """Return what the model is given."""
        answer = request.answer.content.replace("**", "")
        if shown.is_cut:
            answer = f"{answer[:400]}…"
        return self._model.prompt.render(
            question=as_data(request.question),
            result=as_data(shown.data),
            arguments=as_data(dict(request.call.arguments)),
            answer=as_data(answer),
            description=as_data(request.template.description),
            language=request.language,
            cut=shown.is_cut,
            shown=shown.shown,
            total=shown.total,
        )

    def _prepare(self, request: RewriteRequest) -> tuple[FactChecker, TruncatedResult]:
        result = request.result.result
        checker = FactChecker(
            *(request.question, result, request.call.arguments, request.answer.content),
            description=request.template.description,
            date_order=self._date_order,
        )
        return checker, truncate_result(without_echo(result), self._result_tokens)

    async def _collect(
        self,
        messages: tuple[Message, ...],
        stream: "StreamChecker",
        rows: int,
        details: dict[str, Any],
    ) -> CheckResult:
        most = _LEAST_TOKENS + _TOKENS_PER_ROW * min(rows, _MOST_ROWS_TOLD)
        async with aclosing(self._model.model.stream(messages, max_tokens=most)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Reply):
                    details["tokens"] = [piece.tokens.prompt, piece.tokens.completion]
                    if piece.cut:
                        return CheckResult("it ran into its limit of tokens")
                    break
                checked = stream.feed(piece)
                if not checked.passed:
                    return checked
                if stream.is_over:
                    break
        return stream.finish()

    def _answer(
        self, request: RewriteRequest, text: str, checked: CheckResult, shown: TruncatedResult
    ) -> Answer:
        answer = request.answer
        if checked.complete:
            notes = request.result.notes(request.call.sources, said=text)
            content = text + "".join(f"\n({note}.)" for note in notes)
        else:  # the sentence counts the rows; the table has them
            content = f"{text}\n\n{answer.content}"
        synthesis: dict[str, Any] = {"model": self._model.model.name}
        if shown.is_cut:
            synthesis["cut"] = shown.metadata
        metadata = {**answer.metadata, "synthesized": True, "synthesis": synthesis}
        return replace(answer, content=content, metadata=metadata)


class StreamChecker:
    """Collects a model's words, and sends the listener what later words cannot change."""

    def __init__(
        self, checker: FactChecker, listener: StreamListener | None, template_id: str | None
    ) -> None:
        self._checker = checker
        self._listener = listener
        self._template_id = template_id
        self._sent = 0
        self.text = ""

    def feed(self, piece: str) -> CheckResult:
        """Add to the text, and check what is settled of it by now."""
        self.text = (self.text + piece).lstrip()
        settled = _settled(self.text)
        if settled <= self._sent:
            return CheckResult()
        checked = self._checker.check(self.text[:settled], whole=False)
        if checked.passed:
            # The space behind the last word goes with the next one.
            self._send(len(self.text[:settled].rstrip()))
        return checked

    @property
    def is_over(self) -> bool:
        """Whether the first paragraph has ended: an answer has no more."""
        return "\n\n" in self.text

    def finish(self) -> CheckResult:
        """Check the text as a whole, and send the rest of it."""
        self.text = self.text.partition("\n\n")[0].strip()
        checked = self._checker.check(self.text) if self.text else CheckResult("it says nothing")
        if checked.passed:
            self._send(len(self.text))
        return checked

    def _send(self, end: int) -> None:
        if self._listener is not None and end > self._sent:
            self._listener.send(self.text[self._sent : end], self._template_id)
            self._sent = end


def _settled(text: str) -> int:
    """Return the length of what no later word can change: a number may yet become a date."""
    space = _LAST_SPACE.search(text)
    if space is None:
        return 0
    if not text.isascii() and unicodedata.normalize("NFKC", text) != text:
        return 0  # tokens are counted in other characters
    end = space.end()
    tokens = read_tokens(text[:end])
    while tokens:
        last = tokens.pop()
        open_ended = last.kind in VALUE_KINDS or last.kind == "sign" or last.value in MONTHS
        after_value = bool(tokens) and tokens[-1].kind in VALUE_KINDS
        if not open_ended and not (last.value in ("of", "the") and after_value):
            break
        end = last.start
    return end


def _keep(answer: Answer, details: dict[str, Any], why: str, model: str = "") -> Answer:
    details |= {"outcome": "the template's answer stands", "why": why}
    if not model:
        return answer
    return replace(answer, metadata={**answer.metadata, "synthesis": {"model": model, "why": why}})
