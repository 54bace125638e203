"""Which value goes to which parameter, among parameters that could take the same ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, NamedTuple

from server.extraction.plan import ParameterPlan
from server.extraction.value_kinds import GROUPS
from server.extraction.values import HINT, Candidate
from server.text.language import load_language
from server.text.rows.words import Tag, row_lexicon
from server.text.tokens import Tokens, is_digits, is_word

Scored = Sequence[tuple[int, Candidate]]
Place = tuple[int, int]
"""The words from the first up to the last of a value."""

_ROLES: Final = load_language("en").roles
_STARTS, _ENDS = _ROLES.starts, _ROLES.ends

_RANGES: Final = {(("from",), ("to",)), (("min",), ("max",))}

_MAX_TRIED: Final = 40


@dataclass(frozen=True, slots=True)
class Assignment:
    """What each parameter got.

    `sure` are those whose value could be nothing else; `unclear` has the values of a required
    parameter between which nothing decides. `by_order` are those that have one of several values
    for no other reason than the order in which these were mentioned.
    """

    chosen: Mapping[str, Candidate]
    sure: frozenset[str]
    unclear: Mapping[str, Sequence[Candidate]]
    by_order: frozenset[str] = frozenset()


def assign(
    plans: Sequence[ParameterPlan],
    scored: Mapping[str, Scored],
    arranged: Mapping[str, Place] | None = None,
    contested: Sequence[Place] = (),
) -> Assignment:
    """Give each value to at most one parameter.

    What the words around it claim goes there, then what the examples arrange so: `arranged` has
    the words of such values. The rest goes in order of mention to as many required parameters as
    possible, then to an optional one, if no other could mean it. A required parameter gets a
    value with a problem only if nothing better remains. Values at `contested` places stand as
    the examples have them in more than one role.
    """
    sure = _claimed(plans, scored)
    held = sure | _arranged(scored, sure, arranged or {})
    open_plans = [plan for plan in plans if plan.key not in held]
    placement = _Placement(
        {plan.key: _open_to(plan, scored[plan.key], held.values()) for plan in open_plans}
    )
    required = [plan for plan in open_plans if plan.required]
    for plan in required:
        placement.place(plan.key, set())
    placement.put_in_order(required)
    optional = [plan for plan in open_plans if not plan.required]
    placement.place_range(optional)
    for plan in optional:
        if plan.key not in placement.placed:
            others = [other.key for other in optional if other is not plan]
            placement.place_if_alone(plan.key, others)
    chosen = held | placement.placed
    alternatives = {plan.key: placement.alternatives(plan.key) for plan in required}
    alternatives |= {key: _equally_sure(key, scored[key], chosen) for key in sure}
    swaps = placement.swaps()
    for key, _ in swaps:
        if (placement.placed[key].first, placement.placed[key].last) in contested:
            alternatives[key] = placement.exchangeable(key)
    unclear = {key: values for key, values in alternatives.items() if len(values) > 1}
    no_doubt = len(required) == 1 and len(placement.placed) == 1 and not unclear
    by_name = {plan.key: plan for plan in open_plans}
    by_order = {
        key for key, other in swaps if not _is_range(by_name[key], by_name[other], placement.placed)
    }
    return Assignment(chosen, frozenset(chosen if no_doubt else sure), unclear, frozenset(by_order))


def _arranged(
    scored: Mapping[str, Scored], sure: Mapping[str, Candidate], arranged: Mapping[str, Place]
) -> dict[str, Candidate]:
    """What the arrangement gives to parameters; nothing where the words beside a value object."""
    held: dict[str, Candidate] = {}
    for key, (first, last) in arranged.items():
        for name, claimed in sure.items():
            overlaps = claimed.first < last and first < claimed.last
            if overlaps is not (name == key):
                return {}
        if key not in sure and key in scored:
            here = [one for _, one in scored[key] if one.first < last and first < one.last]
            usable = [one for one in here if not one.problem]
            if not usable:
                return {}
            held[key] = usable[0]
    return held


def _is_range(one: ParameterPlan, other: ParameterPlan, placed: Mapping[str, Candidate]) -> bool:
    """Whether they are the ends of a range, the lower one first, as no order need tell."""
    if one.role != other.role or GROUPS[one.role] == "claim":
        return False
    for low, high in ((one, other), (other, one)):
        named = low.name.has(_STARTS) and high.name.has(_ENDS)
        if named or (low.name.topics[:1], high.name.topics[:1]) in _RANGES:
            return bool(placed[low.key].value <= placed[high.key].value)
    return False


def in_range_order(
    plans: Sequence[ParameterPlan], chosen: Mapping[str, Candidate], tokens: Tokens
) -> Mapping[str, Candidate]:
    """What was chosen, the lower value of a range being its lower end: between 200 and 100."""
    turned = dict(chosen)
    ends = {one.bound: one.key for one in plans if one.bound and one.key in chosen}
    if len(ends) < 2:
        return chosen
    low, high = chosen[ends["min"]], chosen[ends["max"]]
    if low.problem or high.problem or bound_at(low, tokens) or bound_at(high, tokens):
        return chosen
    if low.value > high.value:
        turned[ends["min"]], turned[ends["max"]] = high, low
    return turned


def _equally_sure(key: str, scored: Scored, chosen: Mapping[str, Candidate]) -> Sequence[Candidate]:
    mine = chosen[key]
    points = {candidate.start: points for points, candidate in scored[:_MAX_TRIED]}
    equal = [one for score, one in scored[:_MAX_TRIED] if score == points[mine.start]]
    others = [one for one in equal if one.value != mine.value and not one.problem]
    free = (one for one in others if not any(one.overlaps(taken) for taken in chosen.values()))
    return () if mine.problem else (mine, *free)


def _open_to(plan: ParameterPlan, scored: Scored, sure: Iterable[Candidate]) -> Sequence[Candidate]:
    tried = [candidate for _, candidate in scored[:_MAX_TRIED]]
    free = [one for one in tried if not any(one.overlaps(taken) for taken in sure)]
    good = [one for one in free if not one.problem and not one.hinted]
    return [*good, *(one for one in free if one.problem)] if plan.required else good


def _claimed(plans: Sequence[ParameterPlan], scored: Mapping[str, Scored]) -> dict[str, Candidate]:
    claims = [
        # What one parameter cannot have and another can is no claim of the first.
        ((bool(one.problem), -points, order, one.rank, one.start), plan.key, one)
        for order, plan in enumerate(plans)
        for points, one in scored[plan.key][:_MAX_TRIED]
        if points >= HINT
    ]
    claims.sort(key=lambda claim: claim[0])
    sure: dict[str, Candidate] = {}
    for _, key, candidate in claims:
        if key not in sure and not any(candidate.overlaps(taken) for taken in sure.values()):
            sure[key] = candidate
    return sure


class _Placement:
    """Places candidates one by one, moving earlier ones when that makes room."""

    def __init__(self, choices: Mapping[str, Sequence[Candidate]]) -> None:
        self._choices = choices
        self.placed: dict[str, Candidate] = {}

    def _clashes(self, candidate: Candidate) -> list[str]:
        return [key for key, taken in self.placed.items() if candidate.overlaps(taken)]

    def place(self, key: str, tried: set[tuple[str, int, int]]) -> bool:
        for candidate in self._choices[key]:
            if not self._clashes(candidate):
                self.placed[key] = candidate
                return True
        for candidate in self._choices[key]:
            attempt = (key, candidate.start, candidate.end)
            clashes = self._clashes(candidate)
            if attempt in tried or len(clashes) != 1:
                continue
            tried.add(attempt)
            other = clashes[0]
            moved = self.placed.pop(other)
            self.placed[key] = candidate
            if self.place(other, tried):
                return True
            self.placed[other] = moved
            del self.placed[key]
        return False

    def swaps(self) -> list[tuple[str, str]]:
        """Pairs of parameters that could as well have each other's values."""
        return [
            (key, other)
            for key, mine in self.placed.items()
            for other, theirs in self.placed.items()
            if key != other and mine.value != theirs.value
            if not mine.problem and not theirs.problem
            if (a := self._at(key, theirs)) and (b := self._at(other, mine))
            if a.rank + b.rank <= mine.rank + theirs.rank
        ]

    def _at(self, key: str, place: Candidate) -> Candidate | None:
        here = (one for one in self._choices[key] if one.overlaps(place) and not one.problem)
        return next(here, None)

    def exchangeable(self, key: str) -> Sequence[Candidate]:
        """What the parameter has, and what it could have instead, though others now do."""
        mine = self.placed[key]
        others = [k for one, k in self.swaps() if one == key]
        return (mine, *(c for k in others if (c := self._at(key, self.placed[k]))))

    def alternatives(self, key: str) -> Sequence[Candidate]:
        """What the parameter has, and what it could as well have had."""
        mine = self.placed.get(key)
        if mine is None or mine.problem:
            return ()
        others = [c for c in self._choices[key] if c.rank <= mine.rank and c.value != mine.value]
        return (mine, *(c for c in others if not c.problem and not self._clashes(c)))

    def place_if_alone(self, key: str, others: Sequence[str]) -> None:
        """Place an optional parameter's value, unless it could as well be another's."""
        mine = next((one for one in self._choices[key] if not self._clashes(one)), None)
        rivals = (r for other in others if other not in self.placed for r in self._choices[other])
        if mine and not any(_overlaps_more(rival, mine) for rival in rivals):
            self.placed[key] = mine

    def place_range(self, plans: Sequence[ParameterPlan]) -> None:
        """Place both ends of a range: between 2025-01-01 and 2025-01-31."""
        for low, high in pairwise(plans):
            ends = low.name.topics[:1], high.name.topics[:1]
            if low.role != high.role or ends not in _RANGES:
                continue
            free = [c for c in self._choices[low.key] if not self._clashes(c)]
            if len(free) == 2 and not {low.key, high.key} & self.placed.keys():
                free.sort(key=lambda candidate: candidate.start)
                upper = [c for c in self._choices[high.key] if c.start == free[1].start]
                if upper:
                    self.placed |= {low.key: free[0], high.key: upper[0]}

    def put_in_order(self, plans: Sequence[ParameterPlan]) -> None:
        """Let parameters of the same kind have their values in the order they stand."""
        for role in {plan.role for plan in plans}:
            keys = [p.key for p in plans if p.role == role and p.key in self.placed]
            places = sorted(self.placed[key].start for key in keys)
            swapped: dict[str, Candidate] = {}
            for key, start in zip(keys, places, strict=True):
                for fitting in [c for c in self._choices[key] if c.start == start][:1]:
                    swapped[key] = fitting
            before = sum(bool(self.placed[key].problem) for key in keys)
            after = sum(bool(candidate.problem) for candidate in swapped.values())
            if len(swapped) == len(keys) and after <= before:
                self.placed |= swapped


def _overlaps_more(one: Candidate, other: Candidate) -> bool:
    """Whether they share words, and the first is no mere part of the other: not returned."""
    is_part = other.first <= one.first and one.last <= other.last
    return one.overlaps(other) and not (is_part and one.last - one.first < other.last - other.first)


class Bid(NamedTuple):
    """How well a value, by its place among all of them, fits a parameter, and as what."""

    points: float
    place: int
    value: Any


_MOST_TRIED_WAYS, _MOST_BIDS = 3_000, 6
_OUT_OF_ORDER: Final = 1.5
"""What it costs that a value stands before that of an earlier parameter."""


def assign_by_points(
    bids: Mapping[str, Sequence[Bid]], spans: Sequence[tuple[int, int]]
) -> tuple[float, Mapping[str, Bid]]:
    """Return the most points that giving values away, none twice, adds up to, and how.

    `spans` are the places of the values. What the points leave open goes in order of mention.
    """
    keys = [key for key in bids if bids[key]]
    ranked = {key: sorted(bids[key], key=lambda bid: -bid.points)[:_MOST_BIDS] for key in keys}
    best: tuple[float, Mapping[str, Bid]] = 0.0, {}
    tried = 0

    def go(at: int, points: float, chosen: dict[str, Bid]) -> None:
        nonlocal best, tried
        tried += 1
        if points > best[0]:
            best = points, chosen
        most = points + sum(ranked[key][0].points for key in keys[at:])
        if tried > _MOST_TRIED_WAYS or most <= best[0]:
            return
        taken = [spans[bid.place] for bid in chosen.values()]
        for bid in ranked[keys[at]]:
            start, end = spans[bid.place]
            if not any(start < last and first < end for first, last in taken):
                before = sum(first > start for first, _ in taken)
                more = bid.points - _OUT_OF_ORDER * before
                go(at + 1, points + more, {**chosen, keys[at]: bid})
        go(at + 1, points, chosen)

    go(0, 0.0, {})
    return best


FILLERS: Final = load_language("en").group("value_fillers") | frozenset("=:#")
"""What may stand between the words that announce a value and the value."""

_SIGNS: Final = frozenset("$€£¥₪")
_REACH: Final = 3
_BOUND: Final = 4
_NAMED_BEFORE, _NAMED_AFTER, _PAIR, _SINGLE = 6, 5, 6, 3

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextWords:
    """One or two words right before or after a value in the examples, and no other's."""

    left: frozenset[Words] = frozenset()
    right: frozenset[Words] = frozenset()


NO_CONTEXT: Final = ContextWords()


def _phrases(*phrases: tuple[str, ...]) -> frozenset[Words]:
    return frozenset(tuple(phrase.split()) for group in phrases for phrase in group)


_BEFORE: Final = {"min": _phrases(_ROLES.at_least), "max": _phrases(_ROLES.at_most)}
_AFTER: Final = {"min": _phrases(_ROLES.at_least_after), "max": _phrases(_ROLES.at_most_after)}
_LONGEST_BOUND: Final = 3
_BOUND_WORDS: Final = frozenset(
    word for phrases in _BEFORE.values() for phrase in phrases for word in phrase
)
"""What may stand between the name of a number and the number: a length of at least 90."""
_STEPS: Final = FILLERS | _BOUND_WORDS | {"between"}
_WITHIN: Final = frozenset({"in", "on", "of"})
_ENDS_OF_A_LIST: Final[tuple[Tag, ...]] = ("most", "least", "highest", "lowest")


def bound_at(candidate: Candidate, tokens: Tokens) -> str:
    """Which bound the words around the value make it, min or max; empty for none."""
    first, last = candidate.first, candidate.last
    while tokens.word(first - 1) in _SIGNS:
        first -= 1
    while tokens.word(last) in _SIGNS:
        last += 1
    sizes = range(_LONGEST_BOUND, 0, -1)
    for size in sizes:
        left = tuple(tokens.words[max(0, first - size) : first])
        for bound in _BEFORE:
            if left in _BEFORE[bound]:
                return bound
    for size in sizes:
        right = tuple(tokens.words[last : last + size])
        beyond = tuple(tokens.words[last + 1 : last + 1 + size])  # 3 orders at most
        for bound in _AFTER:
            if size > 1 and beyond in _AFTER[bound] and is_word(tokens.word(last)):
                return bound
            # In "80 sqm, max 900" it is the next value that is bound.
            if right in _AFTER[bound] and not is_digits(tokens.word(last + size)):
                return bound
    return ""


def context_score(
    plan: ParameterPlan, candidate: Candidate, tokens: Tokens, context: ContextWords
) -> int:
    """How strongly the words around `candidate` speak for this parameter; 0 for not at all."""
    if GROUPS[plan.role] == "code":  # of two codes of one form, the words around say whose it is
        around = _context_score(plan, candidate._replace(fit=0), tokens, context)
        return candidate.fit + around
    points = _context_score(plan, candidate, tokens, context)
    if GROUPS[plan.role] != "amount":
        return points
    own = [topic for topic in plan.name.topics if topic in _BEFORE]
    if not own and not plan.name.pages:
        return points
    if plan.name.pages and row_lexicon().at(tokens.words, candidate.last, *_ENDS_OF_A_LIST):
        return max(points, _NAMED_AFTER)  # the 5 most expensive
    bound = bound_at(candidate, tokens)
    if bound and bound in (own or ["max"]):
        return max(points, _BOUND)
    return max(candidate.fit, 0) if bound and own else points


def _context_score(
    plan: ParameterPlan, candidate: Candidate, tokens: Tokens, context: ContextWords
) -> int:
    first, last = candidate.first, candidate.last
    named = tokens.word(last) in plan.name.after
    points = max(candidate.fit, _NAMED_AFTER if named else 0)
    amount, distance = GROUPS[plan.role] == "amount", 1
    for at in range(first - 1, -1, -1):
        word = tokens.word(at)
        if word in plan.name.before:
            # Of the replacement cost and the cost, the one whose name is said in full.
            full = amount and tokens.word(at - 1) in plan.name.called
            points = max(candidate.fit, _NAMED_BEFORE - distance + full)
            break
        distance += not (amount and word in _BOUND_WORDS)
        if distance > _REACH or word not in _STEPS:
            break
    if amount and tokens.word(last) in _WITHIN and tokens.word(last + 1) in plan.name.called:
        points = max(points, _NAMED_AFTER - 1)  # 5 in stock
    left = (tokens.word(first - 2), tokens.word(first - 1))
    right = (tokens.word(last), tokens.word(last + 1))
    if left in context.left or right in context.right:
        return max(points, _PAIR)
    beside = left[1:] in context.left or right[:1] in context.right
    return max(points, _SINGLE) if beside else points
