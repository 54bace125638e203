"""Choosing is pure: probabilities and what the question holds in, one decision out."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from server.core.decision import ArgumentCoverage, Clarify, Match, NoMatch
from server.matching.selection import (
    Ranking,
    TemplateCandidate,
    choose_template,
)


def coverage(
    required: int = 2, read: int = 2, unused: tuple[str, ...] = (), agrees: bool | None = None
) -> ArgumentCoverage:
    """What extraction found for a template."""
    return ArgumentCoverage(required, read, unused, agrees)


NOTHING = coverage(read=0)


def ranking(**probabilities: float) -> Ranking:
    candidates = tuple(
        TemplateCandidate(name, probability, 0.8, f"example of {name}")
        for name, probability in probabilities.items()
    )
    return Ranking(candidates, out_of_scope=max(0.0, 1 - sum(probabilities.values())))


def decided(
    found: Ranking, groundings: Mapping[str, ArgumentCoverage] | None = None, floor: float = 0.6
) -> tuple[str, ...]:
    """The kind of decision, and the templates it names."""
    chosen = choose_template(found, groundings or {}, floor=floor, margin=0.1)
    if isinstance(chosen, Match):
        return "match", chosen.template_id
    if isinstance(chosen, Clarify):
        return "clarify", *(option.template_id for option in chosen.options)
    return "none", *(near.template_id for near in chosen.nearest)


def test_a_sure_template_answers_and_names_the_next() -> None:
    chosen = choose_template(ranking(add=0.75, divide=0.125), {}, floor=0.6, margin=0.1)
    assert chosen == Match(
        template_id="add",
        confidence=0.75,
        similarity=0.8,
        why="75% sure; nearest to “example of add”",
        nearest_example="example of add",
        runner_up=Match(
            template_id="divide",
            confidence=0.125,
            similarity=0.8,
            why="12% sure; nearest to “example of divide”",
            nearest_example="example of divide",
        ),
    )


def test_below_the_floor_nothing_runs() -> None:
    assert decided(ranking(add=0.5, divide=0.1)) == ("none", "add", "divide")
    assert decided(ranking(add=0.5, divide=0.1), floor=0.4) == ("match", "add")


def test_a_near_tie_is_asked_about() -> None:
    assert decided(ranking(add=0.48, divide=0.45)) == ("clarify", "add", "divide")
    assert decided(ranking(a=0.33, b=0.32, c=0.31)) == ("clarify", "a", "b", "c")


def test_a_near_tie_of_the_unlikely_is_not() -> None:
    assert decided(ranking(add=0.2, divide=0.19)) == ("none", "add", "divide")


def test_a_near_tie_is_asked_about_even_over_a_low_floor() -> None:
    assert decided(ranking(add=0.48, divide=0.45), floor=0.3) == ("clarify", "add", "divide")


def test_what_stands_in_the_question_decides_a_near_tie() -> None:
    tie = ranking(add=0.48, divide=0.46)
    assert decided(tie, {"add": NOTHING, "divide": coverage()}) == ("match", "divide")
    assert decided(tie, {"add": coverage(), "divide": NOTHING}) == ("match", "add")


def test_two_that_find_the_same_are_still_a_tie() -> None:
    tie = ranking(add=0.48, divide=0.46)
    assert decided(tie, {"add": coverage(), "divide": coverage()}) == ("clarify", "add", "divide")
    assert decided(tie, {"add": NOTHING, "divide": NOTHING}) == ("clarify", "add", "divide")


def test_a_value_without_use_speaks_against_a_template() -> None:
    tie = ranking(now=0.48, add=0.46)
    groundings = {"now": coverage(0, 0, ("30 days",)), "add": coverage()}
    assert decided(tie, groundings) == ("match", "add")


def test_a_sure_template_that_leaves_a_value_over_does_not_run() -> None:
    chosen = choose_template(
        ranking(add=0.99), {"add": coverage(unused=("3",))}, floor=0.6, margin=0.1
    )
    assert isinstance(chosen, NoMatch)
    assert (chosen.why, chosen.unread) == ("nothing here has a use for 3", ("3",))


def test_a_sure_template_without_its_arguments_is_still_chosen_to_ask_for_them() -> None:
    assert decided(ranking(add=0.97), {"add": NOTHING}) == ("match", "add")


def test_the_reasons_are_in_plain_words() -> None:
    groundings = {"add": coverage(2, 1), "now": coverage(1, 1, ("10%",))}
    chosen = choose_template(ranking(add=0.9, now=0.09), groundings, floor=0.6, margin=0.1)
    assert isinstance(chosen, Match)
    assert chosen.runner_up is not None
    assert [chosen.why, chosen.runner_up.why] == [
        "90% sure; nearest to “example of add”; the question holds 1 of 2 arguments it needs",
        "8% sure; nearest to “example of now”; the question holds every argument it needs; "
        "it has no use for 10%",
    ]
    unsure = choose_template(ranking(add=0.5, divide=0.2), {}, floor=0.6, margin=0.1)
    assert isinstance(unsure, NoMatch)
    assert unsure.why == "the likeliest template is 50% sure, and 60% is needed"
    outside = choose_template(ranking(add=0.2), {}, floor=0.6, margin=0.1)
    assert isinstance(outside, NoMatch)
    assert outside.why == "the question is most likely for no template at all (80%)"


def test_no_candidates_is_no_match() -> None:
    assert decided(Ranking((), out_of_scope=1.0)) == ("none",)


found = st.builds(
    ArgumentCoverage,
    required=st.just(3),
    read=st.integers(0, 3),
    unused=st.lists(st.text(max_size=3), max_size=4).map(tuple),
)
rankings = st.lists(st.floats(0, 1), min_size=1, max_size=6).map(
    lambda shares: ranking(
        **{f"t{n}": share / max(1.0, sum(shares)) for n, share in enumerate(shares)}
    )
)
groundings = st.dictionaries(st.sampled_from([f"t{n}" for n in range(6)]), found)


@given(rankings, groundings, st.floats(0.05, 1), st.floats(0, 0.5))
def test_whatever_is_found_the_decision_keeps_its_promises(
    asked: Ranking, held: Mapping[str, ArgumentCoverage], floor: float, margin: float
) -> None:
    chosen = choose_template(asked, held, floor=floor, margin=margin)
    match chosen:
        case Match():
            named: tuple[Match, ...] = (chosen,)
            assert chosen.confidence >= floor
            assert not held.get(chosen.template_id, NOTHING).unused
            if chosen.runner_up is not None:
                assert chosen.confidence - chosen.runner_up.confidence >= margin
        case Clarify(options):
            named = options
            assert len(options) > 1
            assert sum(option.confidence for option in options) >= floor
        case NoMatch(_, nearest):
            named = nearest
    confidences = [match.confidence for match in named]
    assert confidences == sorted(confidences, reverse=True)
    assert sum(confidences) <= 1 + 1e-9
    assert all(0 <= confidence <= 1 for confidence in confidences)


@given(st.floats(0, 0.4), st.integers(0, 2))
def test_finding_more_makes_a_template_surer(probability: float, read: int) -> None:
    def confidence(read: int) -> float:
        found = ranking(add=0.5, divide=probability)
        chosen = choose_template(found, {"add": coverage(3, read)}, floor=0.0, margin=0.0)
        assert isinstance(chosen, Match)
        both = (chosen, chosen.runner_up)
        return next(m.confidence for m in both if m is not None and m.template_id == "add")

    assert confidence(read + 1) > confidence(read)


def test_a_template_for_something_else_cannot_win() -> None:
    groundings = {"count": coverage(agrees=False), "search": coverage(agrees=True)}
    assert decided(ranking(count=0.9, search=0.09), groundings) == ("match", "search")


def test_a_template_that_is_for_what_was_found_wins_a_near_tie() -> None:
    tie = ranking(count=0.47, search=0.48)
    assert decided(tie, {"count": coverage(agrees=True), "search": coverage()}) == (
        "match",
        "count",
    )
    assert decided(tie, {"count": coverage(), "search": coverage()}) == (
        "clarify",
        "search",
        "count",
    )


def test_when_every_template_is_for_something_else_none_answers() -> None:
    chosen = choose_template(
        ranking(count=1.0), {"count": coverage(agrees=False)}, floor=0.6, margin=0.1
    )
    assert chosen == NoMatch("every template is for something else than what the rules found")
    assert decided(ranking(count=0.9), {"count": coverage(agrees=False)}) == ("none", "count")


_SHARES = st.lists(st.floats(0.0001, 1.0), min_size=1, max_size=5)


def _groundings(agrees: st.SearchStrategy[bool | None]) -> st.SearchStrategy[ArgumentCoverage]:
    return st.builds(
        coverage,
        required=st.just(2),
        read=st.integers(0, 2),
        unused=st.lists(st.just("7"), max_size=3).map(tuple),
        agrees=agrees,
    )


def test_what_a_far_likelier_template_has_no_use_for_is_no_reason_for_another() -> None:
    found = ranking(multiply=0.92, add=0.06)
    chosen = choose_template(
        found,
        {"multiply": coverage(read=0, unused=("2", "3", "4")), "add": coverage(required=1, read=1)},
        floor=0.6,
        margin=0.1,
    )
    assert isinstance(chosen, NoMatch)
    assert (chosen.unread, chosen.why) == (
        ("2", "3", "4"),
        "multiply is far likelier, and has no use for 2, 3, 4",
    )


def test_a_value_left_over_decides_a_near_tie() -> None:
    left = {"subtract": coverage(read=0, unused=("3",)), "add": coverage(required=1, read=1)}
    assert decided(ranking(subtract=0.5, add=0.4), left) == ("match", "add")


def test_what_the_rules_found_outweighs_what_is_far_likelier() -> None:
    found = {"search": coverage(unused=("34",)), "count": coverage(agrees=True)}
    assert decided(ranking(search=0.8, count=0.15), found) == ("match", "count")
