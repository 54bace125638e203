"""Answers, as a server sends them and as a project in process gives them."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from server.client.errors import ClientError

Outcome = Literal[
    "done",
    "failed",
    "refused",
    "held",
    "settled",
    "missing",
    "options",
    "nothing",
    "blocked",
    "replied",
]
"""`done`, `failed`: a tool ran, and gave a result or an error. `refused`: the policy let no call
run. `held`: a call waits for a yes; `settled`: one does no longer, and did not run now. `missing`:
it asks for arguments; `options`: it asks which is meant. `nothing`: no template fits. `blocked`: a
guard refused it. `replied`: words and nothing else, such as a greeting or a question back."""

_UNFINISHED: Final = "the answer is not there yet: go through all pieces first"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A call that waits for a yes. Its two ids, kept anywhere, are enough to answer it.

    With a `seal`, it runs only as it was shown. `arguments` are as they may be shown.
    """

    proposal_id: str
    session_id: str
    seal: str | None = None
    adapter: str = ""
    """Which of several adapters in process it is of; a key opens one anyway."""
    template_id: str = ""
    effect: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    expires_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, and why it is this one.

    `content` is Markdown, and `confidence` the calibrated probability that it is right, 0 to 1.
    `metadata` is as the documentation of `POST /chat` has it; the properties read from it what most
    programs ask for. `trace` is there with `explain`.
    """

    content: str
    confidence: float
    session_id: str
    metadata: Mapping[str, Any]
    trace: Sequence[Mapping[str, Any]] | None = None
    request_id: str = ""
    """Names it in the log of the server, and in feedback."""
    adapter: str = ""
    """The adapter that was asked, in process."""

    @property
    def outcome(self) -> Outcome:
        """What the question came to; of several calls in one message, the first."""
        found, proposal = self.metadata, self.metadata.get("proposal") or {}
        if "blocked" in found:
            return "blocked"
        if proposal.get("status") == "held" and "tool_execution" not in found:
            return "held"
        if execution := found.get("tool_execution"):
            if "policy" in found:
                return "refused"
            return "done" if execution["status"] == "success" else "failed"
        if proposal:
            return "settled"
        if "missing" in found:
            return "missing"
        if "options" in found:
            return "options"
        return "nothing" if "nearest" in found and found["source"] != "model" else "replied"

    @property
    def answered(self) -> bool:
        """Whether a tool ran and what it gave is the answer, of every call that was asked for."""
        calls = self.metadata.get("calls") or [self.metadata]
        return self.outcome == "done" and all(
            (call.get("tool_execution") or {}).get("status") == "success" for call in calls
        )

    @property
    def template_id(self) -> str | None:
        """The template that answers, where one does."""
        found: str | None = self.metadata.get("template_id")
        return found

    @property
    def result(self) -> Any:
        """What the tool gave; None where none ran."""
        return (self.metadata.get("tool_execution") or {}).get("result")

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the call that ran, or that waits."""
        execution = self.metadata.get("tool_execution") or {}
        proposal = self.metadata.get("proposal") or {}
        found: Mapping[str, Any] = execution.get("parameters") or proposal.get("arguments") or {}
        return found

    @property
    def proposal(self) -> Proposal | None:
        """The call that waits for a yes, if one does."""
        found = self.metadata.get("proposal") or {}
        if found.get("status") != "held":
            return None
        return Proposal(
            proposal_id=found["proposal_id"],
            session_id=self.session_id,
            seal=found.get("seal"),
            adapter=self.adapter,
            template_id=found.get("template_id", ""),
            effect=found.get("effect", ""),
            arguments=found.get("arguments") or {},
            expires_at=found.get("expires_at", ""),
        )

    @property
    def missing(self) -> Sequence[Mapping[str, Any]]:
        """The arguments that it asks for, each with `name`, `type` and what else is known."""
        found: Sequence[Mapping[str, Any]] = self.metadata.get("missing") or ()
        return found

    @property
    def options(self) -> Sequence[Mapping[str, Any]]:
        """The templates between which it asks."""
        found: Sequence[Mapping[str, Any]] = self.metadata.get("options") or ()
        return found

    @property
    def notes(self) -> Sequence[str]:
        """What the call left out of the question, each as a sentence."""
        found: Sequence[str] = self.metadata.get("notes") or ()
        return found


@dataclass(frozen=True, slots=True)
class Piece:
    """Words of an answer that is being made.

    With `reset`, all pieces before it do not count, and it says why.
    """

    text: str = ""
    reset: str | None = None


class AnswerPieces:
    """The pieces of an answer as they come; `answer` is whole when the last has come."""

    def __init__(self, source: Iterator[Piece | Answer]) -> None:
        """`source` ends with the answer."""
        self._source = source
        self._answer: Answer | None = None

    def __iter__(self) -> Iterator[Piece]:
        for each in self._source:
            if isinstance(each, Piece):
                yield each
            else:
                self._answer = each

    @property
    def answer(self) -> Answer:
        if self._answer is None:
            raise ClientError(_UNFINISHED)
        return self._answer


class AsyncAnswerPieces:
    """The pieces of an answer as they come; `answer` is whole when the last has come."""

    def __init__(self, source: AsyncIterator[Piece | Answer]) -> None:
        """`source` ends with the answer."""
        self._source = source
        self._answer: Answer | None = None

    async def __aiter__(self) -> AsyncIterator[Piece]:
        async for each in self._source:
            if isinstance(each, Piece):
                yield each
            else:
                self._answer = each

    @property
    def answer(self) -> Answer:
        if self._answer is None:
            raise ClientError(_UNFINISHED)
        return self._answer
