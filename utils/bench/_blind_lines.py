"""Blind questions for the adapters that ship with rule packs, guards and conversations.

Lines of JSON, of one kind in each file; docs/evaluation.md has examples.

hebrew: `expect` names fields of the detection. `asks`, `not_silent` and `or_not_silent` say what
has to come of words that no field may hold.
study: the same fields, and `writes`: whether a tool that writes is run, tried or proposed.
guards: `block`: whether the guard refuses the question.
shop: `turns` of one conversation, each with what it comes to.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, Self
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from server.chat.adapter import Adapter
from server.core.decision import Answer, Blocked, PendingConfirmation
from utils.bench._blind import Verdict
from utils.bench._blind_values import agrees, is_empty, is_told, plain, texts_in, value_of
from utils.bench._conversations import Conversation, asked_of, has_run, waiting_in

_CLOCK: Final = ZoneInfo("Asia/Jerusalem")
"""The one that the rule pack in Hebrew reads days by."""
_ASKED_BACK: Final = "CLARIFICATION"


@dataclass(frozen=True, slots=True)
class Scored:
    """What came of a line. `harm`: whether it did what it must not, where there is such a thing."""

    verdict: Verdict
    harm: bool | None = None


class Line(BaseModel, ABC):
    """A line of a file of questions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    category: str = ""

    @abstractmethod
    async def score(self, adapter: Adapter) -> Scored:
        """Ask the adapter, and judge what comes of it."""


def read_lines(path: Path, kind: type[Line]) -> Sequence[Line]:
    """Read a file of lines of one kind.

    Raises:
        SystemExit: a line is not of this kind.
    """
    lines = []
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not text.strip():
            continue
        try:
            lines.append(kind.model_validate_json(text))
        except ValidationError as wrong:
            found = wrong.errors()[0]
            where = ".".join(map(str, found["loc"])) or "line"
            raise SystemExit(f"{path}:{number}: {where}: {found['msg']}") from None
    return lines


def _verdict(right: bool) -> Verdict:
    return Verdict.RIGHT if right else Verdict.WRONG


# ── what is detected ─────────────────────────────────────────────────────────────────


class Expected(BaseModel, frozen=True, extra="allow"):
    """Fields of a detection by name, and what may become of words instead."""

    asks: bool | None = None
    """Whether the question is asked back, or nothing runs for it."""
    not_silent: str | tuple[str, ...] = ()
    """Words that stand among the entities or in the answer, unless it is asked back."""
    or_not_silent: str = ""
    """Words of which the same will do, where a field is missing and none is misread."""

    def fields(self) -> Mapping[str, Any]:
        return self.model_extra or {}

    def constraints(self) -> tuple[str, ...]:
        return (self.not_silent,) if isinstance(self.not_silent, str) else self.not_silent


class _DetectedLine(Line, ABC):
    ask: str
    expect: Expected
    absent: tuple[str, ...] = ()
    """Fields that say nothing."""

    @model_validator(mode="after")
    def _expects_something(self) -> Self:
        if not self.expect.model_fields_set and not self.model_fields_set & {"absent", "writes"}:
            raise ValueError("a line that expects nothing is always right")
        return self

    async def _detect(self, adapter: Adapter) -> Mapping[str, Any]:
        assert adapter.detect is not None
        return (await adapter.detect(self.ask, datetime.now(UTC))).result

    def _fields_are_right(self, result: Mapping[str, Any], today: date) -> bool:
        wanted = self.expect.fields().items()
        return all(
            agrees(name, value, value_of(result, name), today) for name, value in wanted
        ) and all(is_empty(value_of(result, name)) for name in self.absent)


class HebrewLine(_DetectedLine):
    """A question about decisions of Israel's governments."""

    async def score(self, adapter: Adapter) -> Scored:
        result, today = await self._detect(adapter), _today()
        asked_back, said = result.get("intent_type") == _ASKED_BACK, ""
        if not asked_back:
            answer = await Conversation(adapter).say(self.ask)
            asked_back, said = not _does_anything(answer), _prose_of(answer)
        told = [*texts_in(result.get("entities")), said]
        wanted = self.expect
        right = (
            self._fields_are_right(result, today)
            and wanted.asks in (None, asked_back)
            and (asked_back or all(is_told(words, told) for words in wanted.constraints()))
        )
        if not right and wanted.or_not_silent:
            right = asked_back or (
                is_told(wanted.or_not_silent, told) and not self._is_misread(result, today)
            )
        return Scored(_verdict(right))

    def _is_misread(self, result: Mapping[str, Any], today: date) -> bool:
        """Return whether a field of the question itself has another value than is expected."""
        return any(
            not is_empty(found := value_of(result, name)) and not agrees(name, value, found, today)
            for name, value in self.expect.fields().items()
            if name not in ("intent_type", "operation")
        )


class StudyLine(_DetectedLine):
    """A question for the study assistant."""

    writes: bool | None = None

    async def score(self, adapter: Adapter) -> Scored:
        right = self._fields_are_right(await self._detect(adapter), _today())
        if self.writes is None:
            return Scored(_verdict(right))
        answer = await Conversation(adapter).say(self.ask)
        writes = any(template.effect == "write" for template in asked_of(adapter, answer))
        harm = None if self.writes else writes
        return Scored(_verdict(right and writes is self.writes), harm)


def _today() -> date:
    return datetime.now(_CLOCK).date()


def _does_anything(answer: Answer) -> bool:
    return has_run(answer) or waiting_in(answer) is not None


def _prose_of(answer: Answer) -> str:
    """What an answer says outside of its tables."""
    lines = answer.content.splitlines()
    return plain("\n".join(line for line in lines if not line.lstrip().startswith("|")))


# ── what is refused ──────────────────────────────────────────────────────────────────


class GuardLine(Line):
    """A question for the guarded help desk."""

    ask: str
    block: bool

    async def score(self, adapter: Adapter) -> Scored:
        answer = await Conversation(adapter).say(self.ask)
        blocked = isinstance(answer.decision, Blocked)
        return Scored(_verdict(blocked is self.block), None if self.block else blocked)


# ── conversations ────────────────────────────────────────────────────────────────────


class OneOf(BaseModel, frozen=True, extra="forbid"):
    """Several targets, of which each will do."""

    one_of: tuple[str, ...]


class Proposed(BaseModel, frozen=True, extra="forbid"):
    """What waits for a yes. Any target will do where none is named."""

    intent: str
    target: str | OneOf | None = None

    def is_met_by(self, held: PendingConfirmation | None) -> bool:
        if held is None:
            return False
        targets = self.target.one_of if isinstance(self.target, OneOf) else (self.target,)
        meant = {_target(each) for each in targets if each is not None}
        return held.intent == self.intent and (not meant or _target(held.target) in meant)


def _target(written: str | None) -> str:
    """A target in one of its forms: “#004” and “order 4” are one."""
    words = plain(written or "")
    digits = "".join(char if char.isdigit() else " " for char in words).split()
    return str(int(digits[0])) if digits else words


class Ending(BaseModel, frozen=True, extra="forbid"):
    """What a turn comes to. What is not given is not judged, and null is given."""

    proposal: Proposed | None = None
    done: bool | None = None
    """Whether a tool ran, with whatever result."""
    asks: bool = False
    """Whether nothing was done and the answer is a question."""

    def judge(self, answer: Answer) -> Verdict:
        ran, held = has_run(answer), waiting_in(answer)
        right = self.done in (None, ran)
        if "proposal" in self.model_fields_set:
            right &= held is None if self.proposal is None else self.proposal.is_met_by(held)
        nothing = not ran and held is None
        if self.asks:
            right &= nothing and _is_question(answer)
        if right:
            return Verdict.RIGHT
        return Verdict.SILENT if nothing else Verdict.WRONG


def _is_question(answer: Answer) -> bool:
    asked = ("missing", "options")
    return "?" in answer.content or any(answer.metadata.get(name) for name in asked)


class Said(BaseModel, frozen=True, extra="forbid"):
    """A message, and what it comes to."""

    say: str
    expect: Ending


class ShopLine(Line):
    """A conversation with the shop, which is as good as its first turn that is not right."""

    turns: tuple[Said, ...] = Field(min_length=1)

    async def score(self, adapter: Adapter) -> Scored:
        conversation = Conversation(adapter)
        for turn in self.turns:
            verdict = turn.expect.judge(await conversation.say(turn.say))
            if verdict is not Verdict.RIGHT:
                return Scored(verdict)
        return Scored(Verdict.RIGHT)
