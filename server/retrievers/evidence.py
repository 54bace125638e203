"""What speaks for and against a call, in numbers that name no word and no library."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from server.core.coverage import Coverage
from server.extraction.frame import Frame
from server.extraction.values import Extraction
from server.library.model import Template
from server.matching.nearness import Nearness
from server.matching.selection import Ranking, TemplateCandidate
from server.retrievers.requests import is_licensed
from server.text.senses import BEARS_NOTHING, MessageSenses

ACTIONS: Final = frozenset({"action", "elsewhere"})
"""Kinds of unread verbs: of no template, and of another one."""
WORDS: Final = frozenset({"word", "name", "foreign", *ACTIONS})
"""Kinds of unread words that name something; the others are values or operators."""

_AMOUNTS: Final = frozenset({"number", "duration", "currency"})
_MOMENTS: Final = frozenset({"date", "datetime", "time", "offset"})
_OPERATORS: Final = (
    "negation", "exclusion", "comparison", "superlative", "quantity", "universal", "person",
    "restriction", "time",
    "direction", "arithmetic", "choice", "condition", "question", "reason", "sign",
)  # fmt: skip
_BINDING: Final = frozenset({"negation", "question", "reason", "condition", "exclusion"})
_TAKES_AMOUNT: Final = frozenset(
    {"number", "percentage", "money", "duration", "numbers", "currency"}
)
_TAKES_MOMENT: Final = frozenset({"date", "datetime", "written_date", "time"})
_FAR: Final = Nearness(0.0, 0.0)
_NEAR_FROM, _NEAR_TO = 0.4, 0.8
"""Cosines between which two words become near in meaning."""
_FEW, _SEVERAL = 2.0, 3.0
_LEAST_SHARE, _MOST_SHARE = 0.005, 0.93
_MOST_LEAD: Final = 2.5
_EVEN: Final = 0.08
"""What a mood counts that no example is in."""

FEATURES: Final[tuple[str, ...]] = (
    # What matching says.
    "head", "lead", "outside", "similarity",
    "head_alone", "lead_alone", "outside_alone", "alone",
    # What its examples say: their words in the question, and how people put it.
    "example_share", "example_same", "longer", "moods", "statement", "statement_write",
    "question", "question_write", "write", "novelty",
    # What the arguments say.
    "missing", "complete", "arguments", "doubtful", "by_order", "sense_in_text", "binding_in_text",
    # What was read.
    "frame", "no_frame", "actions", "licensed", "slips", "remark",
    "all_read", "all_read_write", "only_one", "rivals", "verb_missing", "verb_missing_write",
    # What was not read, and where it stands.
    "unread", "unread_new", "unread_no_parameters", "share_no_parameters", "unread_share",
    "unread_data", "unread_sums", "unread_action", "unread_name",
    "unread_foreign", "inside", "beside", "after_preposition", "modifier", "next_to_value",
    "operator_at_value", "in_open_list", "action_write",
    "near", "without_gains", "without_loses", "defaults_unread", "better_elsewhere",
    "amounts", "amounts_taken", "amounts_usual", "amounts_no_parameters",
    "moments", "moments_taken", "moments_no_parameters", "values_beside", "other_values",
    "refused", "conditional",
    *(f"op_{kind}" for kind in _OPERATORS),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """One template, and what a question gives to it.

    `nearness` tells of unread words, lower-cased, how near they are to the template's own.
    """

    ranked: TemplateCandidate
    template: Template
    frame: Frame
    found: Extraction
    coverage: Coverage
    nearness: Mapping[str, Nearness] | None = None


def evidence(
    ranking: Ranking, candidate: Candidate, others: Sequence[Candidate], senses: MessageSenses
) -> list[float]:
    """Return the value of each of `FEATURES` for one candidate of a ranking."""
    values = dict.fromkeys(FEATURES, 0.0)
    values |= _of_matching(ranking, candidate)
    values |= _of_examples(candidate, senses)
    values |= _of_arguments(candidate, senses)
    values |= _of_words(candidate, others, senses)
    return [values[name] for name in FEATURES]


def _of_matching(ranking: Ranking, candidate: Candidate) -> dict[str, float]:
    at = candidate.ranked
    rest = [one.probability for one in ranking.candidates if one is not at]
    best_other = max([*rest, ranking.out_of_scope], default=0.0)
    lead = log((at.probability + 1e-4) / (best_other + 1e-4))
    # Where there is nothing to fill, what was asked for is all in how near it is.
    alone = float(not candidate.template.parameters)
    return {
        "head": _logit(at.probability),
        "lead": max(-4.0, min(_MOST_LEAD, lead)),
        "head_alone": alone * _whole_logit(at.probability),
        "lead_alone": alone * max(-6.0, min(6.0, lead)),
        "outside_alone": alone * _whole_logit(ranking.out_of_scope),
        "alone": alone,
        "outside": _logit(ranking.out_of_scope),
        "similarity": at.similarity,
    }


def _of_examples(candidate: Candidate, senses: MessageSenses) -> dict[str, float]:
    frame, write = candidate.frame, candidate.template.effect == "write"
    telling = set(senses.telling_stems)
    share = same = 0.0
    for example in frame.examples:
        if example:
            common = len(example & telling)
            share = max(share, common / len(example))
            same = max(same, common / len(example | telling))
    usual = sum(map(len, frame.examples)) / max(1, len(frame.examples))
    mood = senses.mood
    alike = frame.moods.get(mood, 0.0)
    unlike = float(bool(frame.moods) and not alike)
    return {
        "example_share": share,
        "example_same": same,
        "longer": min(_FEW, max(0.0, log((len(telling) + 1) / (max(usual, 1.0) + 1)))),
        "moods": log((alike + _EVEN) / (1 + _EVEN)) if frame.moods else 0.0,
        "statement": unlike * (mood == "statement"),
        "statement_write": unlike * (mood == "statement" and write),
        "question": unlike * (mood == "question"),
        "question_write": unlike * (mood == "question" and write),
        "write": float(write),
        "novelty": frame.novelty,
        "refused": float(any(not is_licensed(one, senses, frame) for one in senses.refusals())),
        "conditional": float(
            any(not is_licensed(one, senses, frame) for one in senses.conditions())
        ),
    }


def _of_arguments(candidate: Candidate, senses: MessageSenses) -> dict[str, float]:
    found, grounding = candidate.found, candidate.found.grounding
    read = [source for source in found.sources.values() if source.span is not None]
    missing = 1 - grounding.read / grounding.required if grounding.required else 0.0
    texts = {p.name for p in candidate.template.parameters if p.type == "string" and not p.enum}
    binding = loose = 0
    for name, source in found.sources.items():
        if name in texts and source.span is not None and source.kind in ("example", "recognizer"):
            written = candidate.coverage.text
            for sense in senses.senses:
                at = senses.starts[sense.first]
                if sense.sense in BEARS_NOTHING or written[at].isupper():
                    continue
                if source.span[0] <= at < source.span[1]:
                    binding += sense.sense in _BINDING
                    loose += sense.sense not in _BINDING
    return {
        "missing": missing,
        "complete": float(grounding.required > 0 and missing == 0),
        "arguments": min(float(len(read)), _SEVERAL),
        "doubtful": float(bool(found.doubtful)),
        "by_order": float(bool(found.by_order)),
        "binding_in_text": min(float(binding), _FEW),
        "sense_in_text": min(float(loose), _FEW),
    }


def _of_words(
    candidate: Candidate, others: Sequence[Candidate], senses: MessageSenses
) -> dict[str, float]:
    coverage, frame, template = candidate.coverage, candidate.frame, candidate.template
    roles = Counter(word.role for word in coverage.words)
    roles["frame"] += sum(word.kind == "asked" for word in coverage.words)
    kinds = Counter(word.kind for word in coverage.words if word.role != "unread")
    unread = Counter(word.kind for word in coverage.words if word.role == "unread")
    read_actions = any(w.role == "frame" and w.kind == "action" for w in coverage.words)
    said = any(not action.groups.isdisjoint(frame.actions) for action in senses.actions)
    values = {
        "verb_missing": 0.0 if said else frame.acts,
        "verb_missing_write": 0.0 if said or template.effect == "read" else frame.acts,
        "frame": min(float(roles["frame"] + roles["operator"]), 4.0),
        "no_frame": float(roles["frame"] == 0),
        "actions": float(read_actions),
        "licensed": min(float(roles["operator"]), _FEW),
        "slips": min(float(kinds["slip"]), _FEW),
        "remark": float("remark" in kinds),
    }
    values |= _of_whole(candidate, others)
    if not unread:
        return values
    words = float(sum(unread[kind] for kind in WORDS))
    amounts = float(sum(unread[kind] for kind in _AMOUNTS))
    moments = float(sum(unread[kind] for kind in _MOMENTS))
    operators = float(sum(unread[kind] for kind in _OPERATORS))
    alone = float(not template.parameters)
    left = words + amounts + moments + operators
    least = min((sum(1 for _ in one.coverage.unread()) for one in others), default=left)
    defaults = any(source.kind == "default" for source in candidate.found.sources.values())
    open_optional = any(
        not p.required and p.name not in candidate.found.arguments for p in template.parameters
    )
    several = min(words, _SEVERAL)
    return (
        values
        | places_of_unread(candidate, senses)
        | {
            "unread": several,
            "unread_new": several * frame.novelty,
            "unread_no_parameters": several * alone,
            "share_no_parameters": alone * words / (words + roles["frame"] + roles["operator"])
            if words
            else 0.0,
            "unread_share": words / (words + roles["frame"] + roles["operator"]) if words else 0.0,
            "unread_data": several * ("records" in frame.takes),
            "unread_sums": several * (bool(template.parameters) and takes_sums(frame)),
            "unread_name": min(float(unread["name"]), _FEW),
            "unread_foreign": min(float(unread["foreign"]), _SEVERAL),
            "defaults_unread": float(defaults or open_optional),
            "better_elsewhere": min(_SEVERAL, max(0.0, left - least)),
            "amounts": min(amounts, _FEW),
            "amounts_taken": min(amounts, _FEW) * (not frame.takes.isdisjoint(_TAKES_AMOUNT)),
            "amounts_usual": min(amounts, _FEW) * (not frame.unused.isdisjoint(_AMOUNTS)),
            "amounts_no_parameters": min(amounts, _FEW) * alone,
            "moments": min(moments, _FEW),
            "moments_taken": min(moments, _FEW) * (not frame.takes.isdisjoint(_TAKES_MOMENT)),
            "moments_no_parameters": min(moments, _FEW) * alone,
            "other_values": min(sum(unread.values()) - left, _FEW),
            **{f"op_{kind}": min(float(unread[kind]), _FEW) for kind in _OPERATORS},
        }
    )


def _of_whole(candidate: Candidate, others: Sequence[Candidate]) -> dict[str, float]:
    """Whether a template accounts for everything, and whether another one does as well."""
    if not reads_all(candidate):
        return {}
    rivals = sum(map(reads_all, others))
    return {
        "all_read": 1.0,
        "all_read_write": float(candidate.template.effect == "write"),
        "only_one": float(not rivals),
        "rivals": min(float(rivals), _FEW),
    }


def says_all(candidate: Candidate) -> bool:
    """Whether a value that says by itself what is asked leaves nothing else to be read."""
    return any(word.kind == "asked" for word in candidate.coverage.words) and reads_all(candidate)


def reads_all(candidate: Candidate) -> bool:
    """Whether every word is read, the template's own among them, and nothing is missing."""
    words = candidate.coverage.words
    own = any(word.role in ("frame", "operator") or word.kind == "asked" for word in words)
    return own and not candidate.found.missing and all(word.role != "unread" for word in words)


def takes_sums(frame: Frame) -> bool:
    """Whether a template takes amounts and nothing else, as sums do."""
    return bool(frame.takes) and frame.takes <= _TAKES_AMOUNT


def places_of_unread(candidate: Candidate, senses: MessageSenses) -> dict[str, float]:
    """Where the unread words stand, each by how little its meaning has to do with the template.

    These are the features that depend on how near those words are to the template's own.
    """
    found = dict.fromkeys(_PLACES, 0.0)
    coverage, words = candidate.coverage, candidate.coverage.words
    nearness = candidate.nearness or {}
    write = candidate.template.effect == "write"
    open_list = any(
        (p.enum or p.choices) and not _is_given(p.name, candidate)
        for p in candidate.template.parameters
    )
    clauses = [senses.clause_number_at(word.start) for word in words]
    about = {
        clause
        for word, clause in zip(words, clauses, strict=True)
        if word.role in ("frame", "value", "operator")
    }
    for at, (word, clause) in enumerate(zip(words, clauses, strict=True)):
        if word.role != "unread":
            continue
        if word.kind not in WORDS:
            found["values_beside"] += clause not in about and word.kind not in _OPERATORS
            beside = [words[n] for n in (at - 1, at + 1) if 0 <= n < len(words)]
            at_value = any(one.role == "value" for one in beside)
            found["operator_at_value"] += at_value and word.kind in _OPERATORS
            continue
        near = nearness.get(coverage.text[word.start : word.end].lower(), _FAR)
        if word.kind in ACTIONS:
            near = _FAR  # verbs that are known are near to their opposites: block, unblock
        gain = min(1.0, max(0.0, (near.own - _NEAR_FROM) / (_NEAR_TO - _NEAR_FROM)))
        gain *= 1.0 if near.own >= near.other else 0.5
        far = 1.0 - gain
        found["near"] += gain
        found["without_gains"] += min(1.0, max(0.0, 5 * near.without))
        found["without_loses"] += min(1.0, max(0.0, -5 * near.without))
        found["unread_action"] += far * (word.kind in ACTIONS)
        if clause not in about:
            found["beside"] += 1
            continue
        found["inside"] += far
        neighbours = [
            words[n] for n in (at - 1, at + 1) if 0 <= n < len(words) and clauses[n] == clause
        ]
        found["next_to_value"] += far * any(one.role == "value" for one in neighbours)
        follows = at + 1 < len(words) and clauses[at + 1] == clause
        found["modifier"] += far * (follows and words[at + 1].role == "frame")
        follows_preposition = _after_preposition(at, candidate, senses)
        found["after_preposition"] += far * follows_preposition
        found["in_open_list"] += far * follows_preposition * open_list
        found["action_write"] += far * (word.kind in ACTIONS and write)
    return {name: min(value, _SEVERAL) for name, value in found.items()}


def _is_given(name: str, candidate: Candidate) -> bool:
    source = candidate.found.sources.get(name)
    return source is not None and source.kind != "default"


_PLACES: Final = (
    "near", "without_gains", "without_loses", "unread_action", "beside", "inside", "next_to_value",
    "modifier", "after_preposition", "values_beside", "operator_at_value", "in_open_list",
    "action_write",
)  # fmt: skip


def _after_preposition(at: int, candidate: Candidate, senses: MessageSenses) -> bool:
    for word in _before(at, candidate):
        if senses.reader.is_article(word):
            continue
        return senses.reader.is_preposition(word)
    return False


def _before(at: int, candidate: Candidate) -> Iterator[str]:
    text = candidate.coverage.text
    for word in reversed(candidate.coverage.words[:at]):
        yield text[word.start : word.end].lower()


def _whole_logit(share: float) -> float:
    share = min(max(share, 0.0025), 0.9975)
    return log(share / (1 - share))


def _logit(share: float) -> float:
    """Log-odds, up to where more of them says nothing more."""
    share = min(max(share, _LEAST_SHARE), _MOST_SHARE)
    return log(share / (1 - share))
