"""Which template a question means: pure, from what matching and extraction say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, log
from operator import itemgetter
from typing import Final, NamedTuple

from server.core.decision import ArgumentCoverage, Clarify, Match, NoMatch


@dataclass(frozen=True, slots=True)
class TemplateCandidate:
    """A template a question may mean.

    `probability` is calibrated; `similarity` the cosine to the `nearest_example` or description.
    `counter` says how much nearer than any example the `counter_example` is, if one is; it is 1
    where the question is that counter example, but for its values.
    """

    template_id: str
    probability: float
    similarity: float
    nearest_example: str
    counter: float = 0.0
    counter_example: str = ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates, most probable first.

    `out_of_scope` is the probability that the question is for no template of the library;
    `readings` are the texts that were compared: without values, and with slips put right.
    """

    candidates: tuple[TemplateCandidate, ...]
    out_of_scope: float
    readings: tuple[str, ...] = ()


# How much what stands in a question says for or against a template, as logarithms of
# odds. A template that finds all it needs is this much likelier to be meant; one that
# finds nothing, or leaves a value of the question untouched, this much less.
_COMPLETE: Final = log(2)
_NOTHING_FOUND: Final = -log(5)
_LEFT_OVER: Final = -log(5)
_MOST_LEFT_OVER: Final = 2
# What a template declares to be for weighs more than that, if the rule engine found it;
# against what it found, no likeness helps.
_AGREES: Final = log(20)
_FAR_LIKELIER: Final = 1.5
"""So many times likelier before anything was read, it is no near tie that evidence may decide."""


def choose_template(
    ranking: Ranking, groundings: Mapping[str, ArgumentCoverage], *, floor: float, margin: float
) -> Match | Clarify | NoMatch:
    """Return the template that is meant, the few that may be, or none.

    Probabilities are weighed with what extraction found, where it looked. Candidates within
    `margin` of the best, together at or over `floor`, are asked about. The best answers at or over
    `floor`, if it leaves no value unused and is there for no far likelier one that does.
    """
    if not ranking.candidates:
        return NoMatch("there is nothing in the question to match")
    weighed = _weigh(ranking, groundings)
    if not weighed:
        return NoMatch("every template is for something else than what the rules found")
    best = weighed[0]
    close = [other for other in weighed if best.confidence - other.confidence < margin]
    if len(close) > 1 and sum(other.confidence for other in close) >= floor:
        return Clarify(tuple(_match(one) for one in close))
    if best.confidence < floor:
        why = f"the likeliest template is {best.confidence:.0%} sure, and {floor:.0%} is needed"
        if ranking.out_of_scope > 0.5:
            share = f"{ranking.out_of_scope:.0%}"
            why = f"the question is most likely for no template at all ({share})"
        return NoMatch(why, tuple(_match(one) for one in weighed))
    likeliest = best.candidate is ranking.candidates[0]
    if not likeliest and (far := _far_likelier(best, weighed)):
        unused = far.coverage.unused if far.coverage is not None else ()
        why = f"{far.candidate.template_id} is far likelier, and has no use for {', '.join(unused)}"
        return NoMatch(why, tuple(_match(one) for one in weighed), unused)
    if unused := best.coverage.unused if best.coverage is not None else ():
        # A value that nobody takes means that something else was asked: 10 - 4 - 3.
        why = f"nothing here has a use for {', '.join(unused)}"
        return NoMatch(why, tuple(_match(one) for one in weighed), unused)
    return _match(best, *(_match(one) for one in weighed[1:2]))


class _Weighed(NamedTuple):
    confidence: float
    candidate: TemplateCandidate
    coverage: ArgumentCoverage | None


def _weigh(ranking: Ranking, groundings: Mapping[str, ArgumentCoverage]) -> list[_Weighed]:
    found = [groundings.get(candidate.template_id) for candidate in ranking.candidates]
    given = [candidate.probability for candidate in ranking.candidates]
    weights = [
        share if one is None else share * exp(_evidence(one))
        for share, one in zip(given, found, strict=True)
    ]
    total = sum(weights) + max(0.0, 1 - sum(given))
    confidences = [weight / total for weight in weights if total > 0]
    weighed = map(_Weighed, confidences, ranking.candidates, found)
    return sorted(weighed, key=itemgetter(0), reverse=True)


def _evidence(coverage: ArgumentCoverage) -> float:
    """What a template finds in the question says for or against it, as logarithm of odds."""
    if coverage.agrees is False:
        return -inf
    evidence = _LEFT_OVER * min(len(coverage.unused), _MOST_LEFT_OVER)
    if coverage.required:
        missing = 1 - coverage.read / coverage.required
        evidence += _NOTHING_FOUND * missing if missing else _COMPLETE
    return evidence + _AGREES if coverage.agrees else evidence


def _far_likelier(best: _Weighed, weighed: Sequence[_Weighed]) -> _Weighed | None:
    """What matching alone would choose by far, and that lost for the values it leaves unused."""
    if best.coverage is not None and best.coverage.agrees:
        return None
    first = max(weighed, key=lambda one: (one.confidence > 0, one.candidate.probability))
    leaves = first.coverage is not None and first.coverage.unused
    least = best.candidate.probability * _FAR_LIKELIER
    return first if leaves and first.candidate.probability > least else None


def _match(one: _Weighed, runner_up: Match | None = None) -> Match:
    candidate, coverage = one.candidate, one.coverage
    why = [f"{one.confidence:.0%} sure; nearest to “{candidate.nearest_example}”"]
    if coverage is not None and coverage.agrees is not None:
        why.append(f"it is {'' if coverage.agrees else 'not '}for what the rules found")
    if coverage is not None and coverage.required:
        read = f"{coverage.read} of {coverage.required} arguments"
        held = "every argument" if coverage.read == coverage.required else read
        why.append(f"the question holds {held} it needs")
    if coverage is not None and coverage.unused:
        why.append("it has no use for " + ", ".join(coverage.unused[:3]))
    return Match(
        template_id=candidate.template_id,
        confidence=one.confidence,
        similarity=candidate.similarity,
        why="; ".join(why),
        nearest_example=candidate.nearest_example,
        runner_up=runner_up,
    )
