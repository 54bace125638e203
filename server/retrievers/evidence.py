"""What speaks for and against a call, in numbers that name no word and no library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from server.core.coverage import Coverage
from server.extraction.frame import Frame, telling_stems
from server.extraction.values import Extraction
from server.library.model import Template
from server.matching.nearness import Nearness
from server.matching.selection import Ranking, TemplateCandidate
from server.retrievers.requests import is_licensed, mood_of
from server.text.language import load_language
from server.text.senses import MessageSenses

_MOST: Final = 3
_FAR: Final = Nearness(0.0, 0.0)
_ENGLISH = load_language("en")
_ARTICLES, _PREPOSITIONS = _ENGLISH.group("articles"), _ENGLISH.group("prepositions")
WORDS: Final = frozenset({"word", "name", "foreign", "action"})
_AMOUNTS: Final = frozenset({"number", "duration", "currency"})
_MOMENTS: Final = frozenset({"date", "datetime", "time", "offset"})
_OPERATORS: Final = (
    "negation", "exclusion", "comparison", "superlative", "quantity", "restriction", "time",
    "direction", "arithmetic", "choice", "condition", "question", "sign",
)  # fmt: skip
_TAKING: Final[Mapping[str, frozenset[str]]] = {
    "amount": frozenset({"number", "percentage", "money", "duration", "numbers", "currency"}),
    "moment": frozenset({"date", "datetime", "written_date", "time"}),
}

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


FEATURES: Final[tuple[str, ...]] = (
    "head", "lead", "outside", "similarity", "missing", "complete", "agrees", "disagrees", "arguments", "free_text",
    "unread", "unread_action", "action_far", "actions", "unread_name", "unread_foreign", "unread_new", "names_new", "no_parameters_unread",
    "near", "near_other", "drop_bad", "drop_good", "inside", "outside_clause", "verb_unread", "modifier", "after_preposition", "in_slot", "beside_value", "sense_in_text", "refusal_in_text", "value_inside", "value_outside", "operator_inside", "operator_outside", "unread_share", "frame", "no_frame", "example_share", "example_same", "longer",
    "amounts", "amounts_taken", "amounts_usual", "amounts_no_parameters", "moments", "moments_taken", "moments_no_parameters", "other_values",
    "defaults_unread", "remark", "leading", "slips", "licensed", "write", "moods", "question_", "question_write", "statement", "statement_write",
    "refused", "conditional", "better_elsewhere", "by_order", "novelty",
    *_OPERATORS,
)  # fmt: skip


def evidence(
    ranking: Ranking,
    candidate: Candidate,
    others: Sequence[Candidate],
    senses: MessageSenses,
) -> list[float]:
    """Return the value of each of `FEATURES` for one candidate of a ranking."""
    at = candidate.ranked
    rest = [c.probability for c in ranking.candidates if c is not at]
    best_other = max([*rest, ranking.out_of_scope], default=0.0)
    coverage, frame, found = candidate.coverage, candidate.frame, candidate.found
    template = candidate.template
    counts: dict[str, int] = {}
    for word in coverage.words:
        if word.role == "unread":
            counts[word.kind] = counts.get(word.kind, 0) + 1
    unread = float(sum(counts.get(kind, 0) for kind in WORDS))
    near = near_other = drop_bad = drop_good = 0.0
    gains: dict[int, float] = {}
    if candidate.nearness is not None:
        for word in coverage.unread():
            if word.kind in WORDS:
                mine, other, drop = candidate.nearness.get(coverage.text[word.start : word.end].lower(), _FAR)
                gain = min(1.0, max(0.0, (mine - 0.4) / 0.4))
                gain = gain if mine >= other else 0.5 * gain
                gains[word.start] = gain
                near += gain
                near_other += min(1.0, max(0.0, (other - mine) / 0.3))
                drop_bad += min(1.0, max(0.0, drop * 5))
                drop_good += min(1.0, max(0.0, -drop * 5))
    places = _places(candidate, senses, gains)
    roles = [word.role for word in coverage.words]
    telling = set(telling_stems(senses)) if senses.words else set()
    frames = sum(role == "frame" for role in roles)
    operators = sum(role == "operator" for role in roles)
    best = max((len(ex & telling) / len(ex) for ex in frame.examples if ex), default=0.0)
    same = max((len(ex & telling) / len(ex | telling) for ex in frame.examples if ex | telling), default=0.0)
    no_parameters = not template.parameters
    amounts = float(sum(counts.get(kind, 0) for kind in _AMOUNTS))
    moments = float(sum(counts.get(kind, 0) for kind in _MOMENTS))
    others_values = float(sum(counts.get(k, 0) for k in counts if k not in WORDS | _AMOUNTS | _MOMENTS and k not in _OPERATORS))
    takes_amount = not frame.takes.isdisjoint(_TAKING["amount"])
    takes_moment = not frame.takes.isdisjoint(_TAKING["moment"])
    usual = not frame.unused.isdisjoint(_AMOUNTS)
    grounding = found.grounding
    missing = 1 - grounding.read / grounding.required if grounding.required else 0.0
    write = template.effect == "write"
    mood = mood_of(senses)
    question = mood == "question" and not frame.moods.get("question")
    statement = mood == "statement" and not frame.moods.get("statement")
    in_moods = 0.0 if not frame.moods else log((frame.moods.get(mood, 0.0) + 0.08) / 1.08)
    defaults = sum(source.kind == "default" for source in found.sources.values())
    defaults += sum(p.name not in found.arguments for p in template.parameters if not p.required)
    mine = unread + amounts + moments + sum(counts.get(k, 0) for k in _OPERATORS)
    elsewhere = min((_left(other) for other in others), default=mine)
    kinds = [word.kind for word in coverage.words]
    read = [source for source in found.sources.values() if source.span is not None]
    usual_words = max(1.0, sum(map(len, frame.examples)) / max(1, len(frame.examples)))
    values = {
        "head": _logit(at.probability),
        "lead": max(-6.0, min(6.0, log((at.probability + 1e-4) / (best_other + 1e-4)))),
        "outside": _logit(ranking.out_of_scope),
        "similarity": at.similarity,
        "missing": missing,
        "complete": float(grounding.required > 0 and missing == 0),
        "agrees": float(grounding.agrees is True),
        "disagrees": float(grounding.agrees is False),
        "arguments": float(min(len(read), _MOST)),
        "free_text": float(any(s.kind in ("example", "recognizer") and n not in found.sure for n, s in found.sources.items())),
        "unread": min(unread, _MOST),
        "unread_action": float(min(counts.get("action", 0), 2)),
        "unread_name": float(min(counts.get("name", 0), 2)),
        "unread_foreign": float(min(counts.get("foreign", 0), _MOST)),
        "unread_new": min(unread, _MOST) * frame.novelty,
        "names_new": min(counts.get("name", 0), 2) * frame.novelty,
        "no_parameters_unread": min(unread, _MOST) * no_parameters,
        "near": min(near, _MOST),
        "near_other": min(near_other, _MOST),
        "drop_bad": min(drop_bad, 2.0),
        "drop_good": min(drop_good, 2.0),
        **places,
        "action_far": sum(1 - gains.get(w.start, 0.0) for w in coverage.unread() if w.kind == "action"),
        "actions": float(any(word.kind == "action" and word.role == "frame" for word in coverage.words)),
        "unread_share": unread / max(1.0, unread + frames + operators),
        "frame": float(min(frames + operators, 4)),
        "no_frame": float(frames == 0),
        "example_share": best,
        "example_same": same,
        "longer": min(2.0, max(0.0, log((len(telling) + 1) / (usual_words + 1)))),
        "amounts": min(amounts, 2.0),
        "amounts_taken": min(amounts, 2.0) * takes_amount,
        "amounts_usual": min(amounts, 2.0) * usual,
        "amounts_no_parameters": min(amounts, 2.0) * no_parameters,
        "moments": min(moments, 2.0),
        "moments_taken": min(moments, 2.0) * takes_moment,
        "moments_no_parameters": min(moments, 2.0) * no_parameters,
        "other_values": min(others_values, 2.0),
        "defaults_unread": float(defaults > 0 and mine > 0),
        "remark": float("remark" in kinds),
        "leading": float("leading" in kinds),
        "slips": float(min(kinds.count("slip"), 2)),
        "licensed": float(min(operators, 2)),
        "write": float(write),
        "moods": in_moods,
        "question_": float(question),
        "question_write": float(question and write),
        "statement": float(statement),
        "statement_write": float(statement and write),
        "refused": float(any(not is_licensed(one, senses, frame) for one in senses.refusals())),
        "conditional": float(any(not is_licensed(one, senses, frame) for one in senses.conditions())),
        "better_elsewhere": min(_MOST, max(0.0, mine - elsewhere)),
        "by_order": 0.0,
        "novelty": frame.novelty,
    }  # fmt: skip
    for kind in _OPERATORS:
        values[kind] = float(min(counts.get(kind, 0), 2))
    return [values[name] for name in FEATURES]


def _places(candidate: Candidate, senses: MessageSenses, gains: Mapping[int, float]) -> dict[str, float]:
    """Where the unread words stand: in the request or beside it, as its verb, before a noun."""
    coverage = candidate.coverage
    words = coverage.words
    found = dict.fromkeys(("inside", "outside_clause", "verb_unread", "modifier", "after_preposition", "in_slot", "beside_value", "sense_in_text", "refusal_in_text", "value_inside", "value_outside", "operator_inside", "operator_outside"), 0.0)
    starts = senses.starts
    def clause_of(at: int) -> int:
        for number, clause in enumerate(senses.clauses):
            if starts[clause.first] <= at < (starts[clause.last] if clause.last < len(starts) else 10**9):
                return number
        return -1
    weight: dict[int, int] = {}
    for word in words:
        if word.role in ("frame", "value", "operator"):
            weight[clause_of(word.start)] = weight.get(clause_of(word.start), 0) + 1
    main = max(weight, key=lambda n: (weight[n], -n), default=-1)
    seen_telling: set[int] = set()
    for n, word in enumerate(words):
        clause = clause_of(word.start)
        telling = word.role != "filler"
        if word.role == "unread" and word.kind in WORDS:
            if clause == main or weight.get(clause):
                found["inside"] += 1 - gains.get(word.start, 0.0)
                before = words[n - 1] if n else None
                after = words[n + 1] if n + 1 < len(words) else None
                if clause not in seen_telling:
                    found["verb_unread"] += 1 - gains.get(word.start, 0.0)
                if after is not None and after.role in ("frame",) and clause_of(after.start) == clause:
                    found["modifier"] += 1 - gains.get(word.start, 0.0)
                if (after is not None and after.role == "value") or (before is not None and before.role == "value"):
                    found["beside_value"] += 1 - gains.get(word.start, 0.0)
                at = n - 1
                while at >= 0 and coverage.text[words[at].start : words[at].end].lower() in _ARTICLES:
                    at -= 1
                if at >= 0 and coverage.text[words[at].start : words[at].end].lower() in _PREPOSITIONS:
                    found["after_preposition"] += 1 - gains.get(word.start, 0.0)
            else:
                found["outside_clause"] += 1
        elif word.role == "unread" and word.kind in _AMOUNTS | _MOMENTS:
            found["value_inside" if clause == main or weight.get(clause) else "value_outside"] += 1
        elif word.role == "unread" and word.kind in _OPERATORS:
            found["operator_inside" if clause == main or weight.get(clause) else "operator_outside"] += 1
        if telling:
            seen_telling.add(clause)
    # Words that do something in what was taken for a name.
    texts = [source.span for name, source in candidate.found.sources.items() if source.span and source.kind in ("example", "recognizer") and any(p.name == name and p.type == "string" for p in candidate.template.parameters)]
    for first, last in texts:
        for sense in senses.senses:
            if first <= starts[sense.first] < last:
                if sense.sense in ("negation", "question", "condition", "exclusion"):
                    found["refusal_in_text"] += 1
                else:
                    found["sense_in_text"] += 1
    return {name: min(value, 3.0) for name, value in found.items()}


def _left(candidate: Candidate) -> float:
    return float(sum(1 for _ in candidate.coverage.unread()))


def _logit(share: float) -> float:
    share = min(max(share, 0.0025), 0.9975)
    return log(share / (1 - share))
