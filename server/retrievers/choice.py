"""Which template a question means, and whether it is sure enough to be called."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from math import inf, log
from typing import Any, Final

from server.core.decision import (
    Call,
    Clarify,
    Decision,
    Match,
    MissingArguments,
    NoMatch,
    SeveralCalls,
)
from server.core.tools import Source
from server.library.sql_model import SqlExecution
from server.matching.nearness import Nearness
from server.matching.selection import Ranking, choose_template
from server.retrievers.calibration import Calibration
from server.retrievers.dependencies import DeciderDependencies
from server.retrievers.evidence import (
    WORDS,
    Candidate,
    evidence,
    places_of_unread,
    reads_all,
    says_all,
)
from server.retrievers.requests import Objection, objection, verbs_apart
from server.retrievers.verifier import Verifier
from server.settings.adapters import AdapterConfig
from server.text.parsed_text import ParsedText
from server.text.senses import MessageSenses
from server.text.stems import stem
from server.text.tokens import split_words
from server.tools.sql.analysis import counts_rows

_RULES_AGREE: Final = log(20)
"""What it weighs that a template declares to be for what the rule engine found."""
_SAYS_ALL: Final = log(20)
"""What it weighs that a value by itself says all that is asked, as a sum does."""
_COUNTS: Final = log(20)
"""What it weighs that a template counts rows, where how many there are is asked, and where not."""
_HOPELESS: Final = 0.1
"""How likely the likeliest call is, at the most, where none is any good."""
_NEARLY_AS_LIKELY: Final = 0.5
_OBJECTED: Final = 0.02
"""How likely a call still is that the message speaks against."""
_ASKED_FOR: Final = 0.6
"""The share of the threshold at which missing arguments are asked for: that does nothing yet."""
_ASKED_FOR_ALL_READ: Final = 0.4
"""That share where every word of the question was read."""
_HARMLESS: Final = 0.9
"""The share of the threshold at which a template runs that reads and takes nothing."""
_ALTERNATIVE: Final = 0.02
"""The share of the threshold from which on data may tell that another template is meant."""
_FREE: Final = frozenset({"example", "recognizer"})
"""Where values come from that are none of a list."""
_FAR_AHEAD: Final = 3.0
_MOST_COMPARED: Final = 4
"""Unread words whose meaning is looked at; with more of them nothing is sure anyway."""
_MOST_NEAR: Final = 3
_REFUSING: Final = frozenset({"negation", "counter"})
"""Objections that hold where a template has no examples, which would tell how people ask."""
_NEAREST, _FARTHEST = Nearness(1.0, 0.0, -1.0), Nearness(0.0, 1.0, 1.0)
WITHOUT_EXAMPLES: Final = 0.6
"""The threshold for templates that have a description alone, which nothing was learnt from."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its confidence; `against` says what speaks against doing it."""

    candidate: Candidate
    match: Match
    objection: Objection | None = None
    score: float = -inf
    """The logarithm of the odds that the verifier gives it, whatever speaks against."""

    @property
    def against(self) -> str:
        return f"{self.objection.kind}: {self.objection.words}" if self.objection else ""


def most_wrong(config: AdapterConfig, calibration: Calibration | None = None) -> float:
    """Return the risk that an adapter takes: its own, or else the one it was calibrated for."""
    if calibration is None or calibration.max_wrong is None:
        return config.max_wrong
    return config.max_wrong if "max_wrong" in config.model_fields_set else calibration.max_wrong


def least_confidence(
    config: AdapterConfig, verifier: Verifier, calibration: Calibration | None = None
) -> float:
    """Return the threshold of an adapter: as it is written, or what its risk comes to.

    `verifier` is as the calibration has made it, where there is one.
    """
    if config.confidence_threshold is not None:
        return config.confidence_threshold
    return verifier.threshold(most_wrong(config, calibration))


def is_settled(ranking: Ranking, best: Candidate) -> bool:
    """Whether the likeliest candidate reads every word, so that no other could read more."""
    others = [one.probability for one in ranking.candidates[1:2]]
    ahead = not others or best.ranked.probability > _FAR_AHEAD * others[0]
    complete = not best.found.missing and best.found.grounding.agrees is None
    return (
        ahead
        and complete
        and not _takes_any_name(best)
        and not any(best.coverage.unread())
        and bool(best.frame.examples)
    )


async def judge(
    parts: DeciderDependencies,
    asked: str,
    reading: ParsedText,
    ranking: Ranking,
    candidates: Sequence[Candidate],
    *,
    compare: bool = True,
) -> list[Judged]:
    """Say of each candidate how likely it is what was asked for, the likeliest first.

    Without `compare`, what unread words mean is not looked at, which nothing is embedded for.

    Raises:
        ProviderError: unread words had to be compared, and cannot be embedded.
    """
    senses = parts.extractor.senses(reading)
    verifier = parts.verifier
    judged_as = partial(_judged, verifier, ranking, candidates=candidates, senses=senses)
    found = [judged_as(one) for one in candidates]
    near = list[Judged]()
    if compare:
        likely = (one for one in found if _may_gain(one) and _may_decide(one, parts, senses))
        near = list(islice(likely, _MOST_NEAR))
    words = near_words([one.candidate for one in near])
    if words:
        ids = [one.candidate.template.id for one in near]
        nearness = await parts.matcher.nearness(asked, words, ids)
        compared = [with_nearness(one, nearness) for one in candidates]
        found = [judged_as(one, candidates=compared) for one in compared]
    found.sort(key=lambda one: -one.match.confidence)
    return found


def choose(
    parts: DeciderDependencies, judged: Sequence[Judged], ranking: Ranking
) -> Judged | Clarify | NoMatch:
    """Return the candidate that is meant, the few that may be, or none."""
    if not judged:
        return NoMatch("there is nothing in the question to match")
    best = judged[0]
    if not best.candidate.template.nl_examples:
        return _choose_by_description(parts, judged, ranking)
    threshold = parts.confidence_threshold
    options = tuple(one.match for one in judged)
    floor = threshold * _share_needed(best.candidate)
    coverage = best.candidate.coverage
    if best.objection is None and best.match.confidence >= floor:
        return replace(best, match=replace(best.match, runner_up=_runner_up(judged, ranking)))
    close = [one for one in judged if _is_close(one, best, parts.clarify_margin)]
    if len(close) > 1 and sum(one.match.confidence for one in close) >= threshold:
        return Clarify(tuple(one.match for one in close), coverage)
    if best.objection is not None:
        return _objected(best, best.objection, options)
    if best.match.confidence < _HOPELESS:
        # None is any good: what is told is of the one that the question is most like.
        likely = sorted(judged, key=lambda one: -one.candidate.ranked.probability)
        best = _most_alike(likely)
        options = tuple(one.match for one in (best, *(one for one in likely if one is not best)))
        coverage = best.candidate.coverage
    unread = coverage.phrases("unread")
    why = f"the likeliest template is {best.match.confidence:.0%} sure, and {floor:.0%} is needed"
    if ranking.out_of_scope > 0.5:
        why = f"the question is most likely for no template at all ({ranking.out_of_scope:.0%})"
    elif unread:
        why += f"; it has no use for {', '.join(unread)}"
    return NoMatch(why, options, unread, coverage=coverage)


def _most_alike(likely: Sequence[Judged]) -> Judged:
    """Of those nearly as likely as the first, the one that the question has most words of.

    A number alone may make sums likely, which are not what "cancel task 3" is about.
    """
    least = likely[0].candidate.ranked.probability * _NEARLY_AS_LIKELY
    near = [one for one in likely if one.candidate.ranked.probability >= least]
    return max(near, key=lambda one: sum(w.role == "frame" for w in one.candidate.coverage.words))


def _takes_any_name(candidate: Candidate) -> bool:
    """Whether it takes a text that the data may not have, but those behind another template."""
    if not isinstance(candidate.template.execution, SqlExecution):
        return False
    return any(source.kind in _FREE for source in _free_texts(candidate))


def _free_texts(candidate: Candidate) -> list[Source]:
    """Where the values come from that may be any text."""
    sources = candidate.found.sources
    texts = (p.name for p in candidate.template.parameters if p.type == "string" and not p.enum)
    return [sources[name] for name in texts if name in sources]


def alternatives(parts: DeciderDependencies, judged: Sequence[Judged]) -> list[Judged]:
    """Those that read every word of the question and lack nothing, the likeliest first."""
    floor = parts.confidence_threshold * _ALTERNATIVE
    return [
        one
        for one in judged
        if one.objection is None and one.match.confidence >= floor and reads_all(one.candidate)
    ]


def _runner_up(judged: Sequence[Judged], ranking: Ranking) -> Match | None:
    """The next best template; as matching has it, where the best one reads every word."""
    if len(judged) > 1:
        return judged[1].match
    chosen = judged[0].candidate.ranked
    for other in ranking.candidates:
        if other is not chosen:
            why = f"nearest to “{other.nearest_example}”"
            template, likely = other.template_id, other.probability
            return Match(template, likely, other.similarity, why, other.nearest_example)
    return None


def _share_needed(candidate: Candidate) -> float:
    """What share of the threshold a call needs: the less, the less harm it could do.

    What is missing is only asked for where a word of the template's own is said, be it one that
    its author's patterns look for.
    """
    if candidate.found.missing:
        own = any(word.role in ("frame", "operator") for word in candidate.coverage.words)
        sources = candidate.found.sources.values()
        if not own and not any(source.kind == "template_pattern" for source in sources):
            return 1.0
        return _ASKED_FOR if any(candidate.coverage.unread()) else _ASKED_FOR_ALL_READ
    harmless = candidate.template.effect == "read" and not candidate.template.parameters
    return _HARMLESS if harmless else 1.0


def describe_choice(decision: Decision) -> dict[str, Any]:
    """What was decided, as the trace tells it."""
    match decision:
        case SeveralCalls(calls, skipped):
            ids = [call.match.template_id for call in calls]
            return {"decision": "call several", "templates": ids, "skipped": len(skipped)}
        case Clarify(options):
            ids = [option.template_id for option in options]
            return {"decision": "ask which is meant", "options": ids, "why": options[0].why}
        case Call(match) | MissingArguments(match):
            called = isinstance(decision, Call)
            return {
                "decision": "call" if called else "ask for what is missing",
                "template_id": match.template_id,
                "confidence": round(match.confidence, 4),
                "why": match.why,
            }
        case NoMatch(why):
            return {"decision": "nothing fits", "why": why}
    return {}


def _judged(
    verifier: Verifier,
    ranking: Ranking,
    candidate: Candidate,
    candidates: Sequence[Candidate],
    senses: MessageSenses,
) -> Judged:
    asks = senses.asks_how_many
    others = [one for one in candidates if one is not candidate and (asks or not _counts(one))]
    score = verifier.score(evidence(ranking, _weighed(candidate), others, senses))
    if says_all(candidate) and not any(
        one.ranked is ranking.candidates[0] and reads_all(one) for one in others
    ):
        score += _SAYS_ALL
    if _counts(candidate):
        score += (_COUNTS if reads_all(candidate) else 0.0) if asks else -_COUNTS
    agrees = candidate.found.grounding.agrees
    if agrees is not None:
        score = score + _RULES_AGREE if agrees else -inf
    against = _counter(candidate, senses) or objection(
        candidate.template, candidate.frame, senses, candidate.coverage
    )
    confidence = 0.0 if score == -inf else verifier.probability(score)
    if against is not None:
        confidence *= _OBJECTED
    return Judged(candidate, _match(candidate, confidence), against, score)


def _weighed(candidate: Candidate) -> Candidate:
    """What is weighed: what the person is asked about anyway speaks neither for nor against it."""
    if candidate.template.unused_values != "ask":
        return candidate
    return replace(candidate, coverage=candidate.coverage.allow_values())


def _counts(candidate: Candidate) -> bool:
    execution = candidate.template.execution
    return isinstance(execution, SqlExecution) and counts_rows(execution.sql)


def _counter(candidate: Candidate, senses: MessageSenses) -> Objection | None:
    """What its author wrote against the template, where the question is nearer to that.

    One that only its verb sets apart, such as unblock, speaks against questions that have it. None
    speaks against a question with a name that is wholly read, and has no word in common with it:
    what makes them alike is then that there is a name.
    """
    ranked = candidate.ranked
    if ranked.counter <= 0:
        return None
    if ranked.counter < 1:
        named = any(_free_texts(candidate)) and reads_all(candidate)
        if named and not _shares_words(candidate, ranked.counter_example, senses):
            return None
        apart = verbs_apart(ranked.counter_example, candidate.frame, senses.reader)
        words = {stem(word, senses.reader.code) for word in senses.words}
        if apart and not apart & words:
            return None
    return Objection("counter", ranked.counter_example)


def _shares_words(candidate: Candidate, counter: str, senses: MessageSenses) -> bool:
    """Whether a counter example has a word of what the question is about, if that has words."""
    coverage, code = candidate.coverage, senses.reader.code
    about = {
        stem(coverage.text[word.start : word.end].lower(), code)
        for word in coverage.words
        if word.role == "frame"
    }
    return not about or any(stem(word, code) in about for word in split_words(counter))


def _objected(best: Judged, against: Objection, options: tuple[Match, ...]) -> NoMatch:
    name, coverage = best.match.template_id, best.candidate.coverage
    if against.kind == "counter":
        why = f"it is like “{against.words}”, a counter example of {name}"
        return NoMatch(why, options, (), against.kind, coverage)
    why = f"“{against.words}” speaks against {name}"
    return NoMatch(why, options, (against.words,), against.kind, coverage)


def _match(candidate: Candidate, confidence: float) -> Match:
    ranked, found = candidate.ranked, candidate.found
    why = [f"{round(confidence, 4):.0%} sure; nearest to “{ranked.nearest_example}”"]
    grounding = found.grounding
    if grounding.agrees is not None:
        why.append(f"it is {'' if grounding.agrees else 'not '}for what the rules found")
    if grounding.required:
        read = f"{grounding.read} of {grounding.required} arguments"
        held = "every argument" if grounding.read == grounding.required else read
        why.append(f"the question holds {held} it needs")
    if unread := candidate.coverage.phrases("unread"):
        why.append("it has no use for " + ", ".join(unread[:3]))
    return Match(
        template_id=ranked.template_id,
        confidence=confidence,
        similarity=ranked.similarity,
        why="; ".join(why),
        nearest_example=ranked.nearest_example,
    )


def near_words(candidates: Sequence[Candidate]) -> list[str]:
    """The unread words of candidates whose meaning is looked at; none where there are too many."""
    words = sorted({word for one in candidates for word in _unread_words(one)})
    return words if len(words) <= _MOST_COMPARED else []


def _unread_words(candidate: Candidate) -> set[str]:
    coverage = candidate.coverage
    return {
        coverage.text[word.start : word.end].lower()
        for word in coverage.unread()
        if word.kind in WORDS
    }


def _may_gain(judged: Judged) -> bool:
    """Whether it can matter how near the unread words of a candidate are to its own."""
    return judged.objection is None and bool(_unread_words(judged.candidate))


def _may_decide(judged: Judged, parts: DeciderDependencies, senses: MessageSenses) -> bool:
    """Whether the decision depends on how near the unread words of a candidate are."""
    words, weighed = _unread_words(judged.candidate), _weighed(judged.candidate)
    floor = parts.confidence_threshold * _share_needed(judged.candidate)
    verifier, now = parts.verifier, places_of_unread(weighed, senses)

    def confidence(near: Nearness) -> float:
        then = replace(weighed, nearness=dict.fromkeys(words, near))
        change = verifier.change(now, places_of_unread(then, senses))
        return verifier.probability(judged.score + change)

    return confidence(_FARTHEST) < floor <= confidence(_NEAREST)


def with_nearness(
    candidate: Candidate, nearness: Mapping[str, Mapping[str, Nearness]]
) -> Candidate:
    near = nearness.get(candidate.template.id)
    return candidate if near is None else replace(candidate, nearness=near)


def _is_close(one: Judged, best: Judged, margin: float) -> bool:
    return (
        one.objection is None
        and best.match.confidence - one.match.confidence < margin
        and not any(one.candidate.coverage.unread())
    )


def _choose_by_description(
    parts: DeciderDependencies, judged: Sequence[Judged], ranking: Ranking
) -> Judged | Clarify | NoMatch:
    """Choose where the likeliest template has no examples: by likeness and arguments alone."""
    groundings = {
        template.id: replace(found.grounding, unused=())
        if template.unused_values == "ask"
        else found.grounding
        for template, found in ((one.candidate.template, one.candidate.found) for one in judged)
    }
    floor = min(parts.confidence_threshold, WITHOUT_EXAMPLES)
    margin = parts.clarify_margin
    chosen = choose_template(ranking, groundings, floor=floor, margin=margin)
    if not isinstance(chosen, Match):
        return chosen
    best = next(one for one in judged if one.candidate.template.id == chosen.template_id)
    if best.objection is not None and best.objection.kind in _REFUSING:
        return _objected(best, best.objection, (chosen,))
    return replace(best, match=chosen)
