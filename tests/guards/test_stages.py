"""Texts, patterns, scores, responses and changes: what guards are made of, alone."""

from itertools import chain
from time import perf_counter

import numpy as np
import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from server.errors import ConfigurationInvalid, RequestInvalid
from server.guards.changes import Change, check_change, with_changes
from server.guards.engine import PatternStage, with_read_as
from server.guards.measurement import load_labelled
from server.guards.model import (
    Action,
    Category,
    GuardRoute,
    GuardSet,
    choose_response,
    redact_question,
)
from server.guards.options import GuardOptions, options_of
from server.guards.pack import load_guards
from server.guards.scorer import learn_scorer
from server.settings.adapters import AdapterGuards, AdapterSettings
from server.settings.models import GuardsSettings, Settings
from server.text.normalizer import normalize_text
from tests.guards.desk import FOLDER

SET = GuardSet(
    "set",
    (
        Category("first", "block", patterns=("zebra", "a.*b")),
        Category("second", "allow", patterns=("zebra|lion",), examples=("a lion",)),
    ),
)


@given(st.text())
def test_normalizing_twice_is_normalizing_once(text: str) -> None:
    assert normalize_text(normalize_text(text)) == normalize_text(text)


def test_what_hides_a_word_is_taken_out() -> None:
    assert normalize_text("Ｂｕｙ\u200b\n LTC\u00ad ’now’") == "buy ltc 'now'"


@given(st.text(), st.integers(0, 200))
def test_a_preview_is_never_longer_than_asked(text: str, limit: int) -> None:
    assert len(redact_question(text, limit=limit)) <= limit


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("mail jane.doe+x@example.org now", "mail [email] now"),
        ("see https://example.org/?token=abc", "see [link]"),
        ("my key orb_ab12cd34ef56_0123456789 leaked", "my key [id] leaked"),
        ("call +43 660 123 45 67", "call [number]"),
        ("two words of 2025", "two words of 2025"),
    ],
)
def test_what_names_a_person_or_opens_something_is_not_shown(text: str, shown: str) -> None:
    assert redact_question(text, limit=80) == shown


def test_the_first_category_in_order_decides() -> None:
    stage = PatternStage(SET.categories)
    assert stage.find("a zebra") == ("first", "zebra")
    assert stage.find("a LION") == ("second", "zebra|lion")
    assert stage.find("a tiger") is None


def test_patterns_too_many_for_one_pass_are_tried_singly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.guards.engine._MEMORY", 1 << 16)
    wide = tuple(f"x{n}.{{0,300}}z{n}" for n in range(5))
    stage = PatternStage([Category("wide", "block", patterns=(*wide, "needle"))])
    assert stage.find("a needle") == ("wide", "needle")
    assert stage.find("a haystack") is None


def test_a_pass_that_gives_up_is_not_taken_for_no_match() -> None:
    stage = PatternStage(SET.categories)
    # RE2 reports nothing when it gives up, not even the pattern that fits every text.
    stage._set = re2.Set.SearchSet()
    stage._set.Add("what is in no question")
    stage._set.Compile()
    assert stage.find("a zebra") == ("first", "zebra")


def clouds(
    spread: float = 0.15,
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float32]], list[int]]:
    """Three directions with some spread: two categories, and what is in neither."""
    random = np.random.default_rng(7)
    rows, owners = [], []
    for owner, centre in ((0, 0), (1, 1), (-1, 2)):
        for _ in range(12):
            row = random.normal(0, spread, 8)
            row[centre] += 1
            rows.append(row / np.linalg.norm(row))
            owners.append(owner)
    return np.array(rows, np.float32), owners


def test_scores_tell_categories_from_each_other_and_from_the_rest() -> None:
    rows, owners = clouds()
    scorer = learn_scorer(rows, np.array(owners), (0, 1))
    axes = np.eye(8, dtype=np.float32)
    sure = [scorer.scores(axes[n : n + 1]) >= scorer.thresholds for n in range(4)]
    assert [found.tolist() for found in sure] == [
        [True, False],
        [False, True],
        [False, False],
        [False, False],
    ]


def test_an_example_itself_is_as_sure_as_can_be() -> None:
    rows, owners = clouds()
    scores = learn_scorer(rows, np.array(owners), (0, 1)).scores(rows[:1])
    assert scores[0] == pytest.approx(1, abs=1e-5)


def test_no_single_example_decides_where_a_threshold_lies() -> None:
    rows, owners = clouds(spread=0.5)
    found = [
        learn_scorer(np.delete(rows, at, axis=0), np.delete(owners, at), (0, 0)).thresholds[0]
        for at in range(len(rows))
    ]
    assert max(found) - min(found) < 0.1


def test_a_question_between_two_categories_of_one_side_is_of_the_likelier() -> None:
    rows, owners = clouds()
    between = np.array([[0.715, 0.7, *[0] * 6]], np.float32)
    apart = learn_scorer(rows, np.array(owners), (0, 1))
    assert not (apart.scores(between) >= apart.thresholds).any()
    together = learn_scorer(rows, np.array(owners), (0, 0))
    assert (together.scores(between) >= together.thresholds).tolist() == [True, False]


def test_categories_are_on_one_side_when_they_do_the_same() -> None:
    def category(name: str, action: Action, adapter: str = "") -> Category:
        route = GuardRoute(adapter) if adapter else None
        return Category(name, action, examples=(name,), route=route)

    guards = GuardSet(
        "set",
        (
            category("advice", "block"),
            category("news", "route", "press"),
            category("small talk", "allow"),
            category("insults", "block"),
            category("bills", "route", "billing"),
            Category("bare", "flag", patterns=("bare",)),
        ),
    )
    assert guards.sides == (0, 1, 2, 0, 3)


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Is LTC dead?", "Is litecoin dead?"),
        ("bitcoin cash or btc's fork", "litecoin or litecoin's fork"),
        ("Charlie  lee, Charlie Lee", "Charlie  lee, the founder"),
        ("Which method has ada-based hashes?", "Which method has ada-based hashes?"),
    ],
)
def test_names_give_way_to_what_they_are_read_as(asked: str, read: str) -> None:
    read_as = {
        "litecoin": ("ltc", "bitcoin", "Bitcoin Cash", "btc", "eth", "ada"),
        "the founder": ("charlie lee",),
    }
    assert with_read_as(read_as, lambda text: (text,))(asked) == (read,)


def test_the_first_stage_takes_less_than_5_ms() -> None:
    loaded = load_guards([FOLDER / "guard.yaml"], {})
    labelled, _ = load_labelled(FOLDER / "labelled.yaml", {})
    assert loaded.guards is not None
    assert labelled is not None
    stage = PatternStage(loaded.guards.categories)
    samples = []
    for question in chain.from_iterable(labelled.values()):
        since = perf_counter()
        stage.find(normalize_text(question))
        samples.append((perf_counter() - since) * 1000)
    assert float(np.percentile(samples, 99)) < 5


def test_responses_go_by_language_and_then_by_request() -> None:
    responses = {"en": ("one", "two"), "de": ("eins",), "": ("any",)}
    assert choose_response(responses, ("de-AT", "en"), "x") == ("eins", "de")
    assert choose_response(responses, ("fr",), "x") == ("any", "")
    chosen = {choose_response(responses, ("en",), str(n))[0] for n in range(50)}
    assert chosen == {"one", "two"}
    assert choose_response({"he": ("a",)}, ("fr",), "x") == ("a", "he")
    assert choose_response({}, (), "x")[0] == "I cannot help with that type of question."


def test_changes_add_up_in_order_and_those_that_do_not_fit_are_passed_over() -> None:
    changes = (
        Change("g", "add_pattern", "first", "okapi"),
        Change("g", "remove_pattern", "first", "zebra"),
        Change("g", "remove_pattern", "first", "zebra"),
        Change("g", "add_pattern", "gone", "x"),
        Change("g", "set_threshold", "second", number=0.7),
        Change("g", "allow_question", text="A Lion", number=0.9),
    )
    changed = with_changes(SET, changes)
    assert changed.guards.categories[0].patterns == ("a.*b", "okapi")
    assert changed.thresholds == {"second": 0.7}
    assert [a.question for a in changed.guards.allowed] == ["A Lion"]
    assert changed.unusable == changes[2:4]
    again = with_changes(SET, (*changes, Change("g", "forget_question", text="a  lion")))
    assert again.guards.allowed == ()


def test_a_change_too_long_is_refused() -> None:
    with pytest.raises(RequestInvalid, match="at most 2000 characters"):
        check_change(with_changes(SET, ()), Change("g", "add_pattern", "first", "x" * 2001))


def options(environ: dict[str, str], own: AdapterGuards | None = None) -> GuardOptions:
    shared = GuardsSettings.model_validate(
        {"packs": ["a.yaml"], "fail_closed": True}, context={"root": "/"}
    )
    adapter = AdapterSettings.model_construct(name="x", guards=own or AdapterGuards())
    return options_of(adapter, Settings(guards=shared), environ)


def test_the_environment_wins_over_the_adapter_and_that_over_all() -> None:
    assert options({}).fail_closed is True
    assert options({}, AdapterGuards(fail_closed=False)).fail_closed is False
    closed = {"INTENT_ROUTER_FAIL_CLOSED": "TRUE", "INTENT_ROUTER_SEMANTIC_THRESHOLD": "0.85"}
    found = options(closed, AdapterGuards(fail_closed=False, semantic_threshold=0.5))
    assert (found.fail_closed, found.threshold) == (True, 0.85)
    assert options({"INTENT_ROUTER_ENABLED": "no"}).packs == ()
    assert options({"INTENT_ROUTER_ENABLED": "1"}, AdapterGuards(enabled=False)).packs != ()


def test_a_variable_that_says_nothing_sensible_is_a_problem() -> None:
    environ = {"INTENT_ROUTER_ENABLED": "maybe", "INTENT_ROUTER_SEMANTIC_THRESHOLD": "85"}
    with pytest.raises(ConfigurationInvalid) as invalid:
        options(environ)
    assert [str(problem) for problem in invalid.value.problems] == [
        "INTENT_ROUTER_ENABLED: expected true or false, got 'maybe' @ environment",
        "INTENT_ROUTER_SEMANTIC_THRESHOLD: expected a number between 0 and 1, got '85' "
        "@ environment",
    ]
