"""Guards as the server uses them: categories, and what one makes of a question."""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Action = Literal["block", "route", "allow", "flag"]
Method = Literal["regex", "semantic", "allow_list", "default", "failure"]

FAILED: Final = "router_failure"
"""The category of a verdict when a guard refuses because it could not judge."""

NOTHING: Final = "none"
"""The category of a verdict when no category fits."""


@dataclass(frozen=True, slots=True)
class GuardRoute:
    adapter: str | None = None
    template: str | None = None

    def to_dict(self) -> dict[str, str]:
        return {n: v for n, v in (("adapter", self.adapter), ("template", self.template)) if v}


@dataclass(frozen=True, slots=True)
class Category:
    """One kind of question, and what is done about it.

    `responses` are Jinja texts by language; those under `""` are for every language.
    """

    name: str
    action: Action
    patterns: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    threshold: float | None = None
    route: GuardRoute | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """A question that passes whatever it is: exactly, or whatever is as similar."""

    question: str
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class GuardSet:
    """Categories in the order in which they are asked, and what they share."""

    name: str
    categories: tuple[Category, ...]
    failure_responses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    read_as: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Words and names by what meaning reads in their place."""
    allowed: tuple[Allowed, ...] = ()

    @property
    def semantic(self) -> tuple[Category, ...]:
        return tuple(category for category in self.categories if category.examples)

    @property
    def sides(self) -> tuple[int, ...]:
        """For each of `semantic` a number, equal where they do the same with a question."""
        done = [(category.action, category.route) for category in self.semantic]
        known = list(dict.fromkeys(done))
        return tuple(known.index(each) for each in done)

    def category(self, name: str) -> Category | None:
        return next((c for c in self.categories if c.name == name), None)


@dataclass(frozen=True, slots=True)
class GuardVerdict:
    """What a guard makes of one question; `action` is None when no category fits.

    `confidence` is 1 for a pattern, else a calibrated probability. `enforced` is False in
    shadow mode. `failures` are the stages that could not judge.
    """

    action: Action | None
    category: str = NOTHING
    method: Method = "default"
    confidence: float = 0.0
    why: str = ""
    response: str = ""
    route: GuardRoute | None = None
    enforced: bool = True
    failures: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        if self.action is None:
            return "pass"
        if not self.enforced and self.action in ("block", "route"):
            return f"would_{self.action}"
        return self.action

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "outcome": self.outcome,
            "category": self.category,
            "method": self.method,
            "confidence": round(self.confidence, 4),
        }
        route = self.route.to_dict() if self.route else {}
        optional = {"why": self.why, "route_to": route, "failed": list(self.failures)}
        return data | {name: value for name, value in optional.items() if value}


_DEFAULT_RESPONSE: Final = "I cannot help with that type of question."
WHEN_FAILED: Final = "I cannot answer that at the moment. Please try again later."
"""The response when a guard could not judge, and its packs have no words for it."""


def choose_response(
    responses: Mapping[str, Sequence[str]], languages: Sequence[str], seed: str
) -> tuple[str, str]:
    """Return a Jinja text and its language, `` when it is for every language.

    `languages` are best first; `fr-CA` finds `fr`. `seed` always chooses the same text.
    """
    by_tag = {tag.lower(): tag for tag in responses}
    wanted = [c for tag in languages for c in (tag.lower(), tag.lower().split("-")[0])]
    found = next((by_tag[tag] for tag in (*wanted, "", *by_tag) if tag in by_tag), None)
    texts = [text for text in responses.get(found, ()) if text.strip()] if found is not None else []
    if found is None or not texts:
        return _DEFAULT_RESPONSE, ""
    return texts[zlib.crc32(seed.encode()) % len(texts)], found


_SECRETS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"), "[email]"),
    (re.compile(r"\bhttps?://\S+"), "[link]"),
    (re.compile(r"\b(?=\w*\d)\w{16,}\b"), "[id]"),
    (re.compile(r"\+?\d[\d .-]{4,}\d"), "[number]"),
)


def redact_question(text: str, *, limit: int) -> str:
    """Return the beginning of `text`, without what may name a person or open something."""
    if limit <= 0:
        return ""
    # Cut first, but not inside what is to be taken out.
    plain = " ".join(text[: limit * 8].split())
    for pattern, instead in _SECRETS:
        plain = pattern.sub(instead, plain)
    return plain if len(plain) <= limit else f"{plain[: limit - 1]}…"
