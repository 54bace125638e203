"""A value that nobody takes means that something else was asked."""

from server.core.decision import ArgumentCoverage, Match, NoMatch
from server.matching.selection import Ranking, TemplateCandidate, choose_template

SURE = Ranking((TemplateCandidate("subtract", 0.95, 0.9, "9 - 14"),), out_of_scope=0.05)


def test_a_template_that_leaves_a_value_over_does_not_run() -> None:
    grounding = ArgumentCoverage(required=2, read=2, unused=("3",))
    chosen = choose_template(SURE, {"subtract": grounding}, floor=0.6, margin=0.1)
    assert isinstance(chosen, NoMatch)
    assert (chosen.unread, chosen.why) == (("3",), "nothing here has a use for 3")
    assert chosen.nearest[0].template_id == "subtract"


def test_a_template_that_uses_everything_runs() -> None:
    chosen = choose_template(SURE, {"subtract": ArgumentCoverage(2, 2)}, floor=0.6, margin=0.1)
    assert isinstance(chosen, Match)
