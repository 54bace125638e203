"""Values that data hold, or do not, in what was decided."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from server.core.coverage import Coverage, CoveredWord
from server.core.data_values import FoundValue
from server.core.decision import (
    Call,
    Clarify,
    Decision,
    Match,
    MissingArguments,
    NoMatch,
    SeveralCalls,
    Trace,
)
from server.core.ports import DataValues, Decider
from server.core.tools import Source
from server.core.turn import Caller, Turn
from server.library.model import Domain, Library, Parameter, Template
from server.library.sql_model import SqlExecution
from server.library.sql_text import parse_sql
from server.retrievers.data_values import DataValuesDecider
from server.retrievers.followups.context import FollowUpDecision

ORDERS = Template(
    "orders",
    "",
    "sql",
    (),
    (Parameter("country", "string"), Parameter("city", "string", default="Rome")),
    SqlExecution(parse_sql("SELECT * FROM orders WHERE country = :country AND city = :city", ())),
)
LIBRARY = Library(Domain("d"), {"orders": ORDERS})
MATCH = Match("orders", 0.9, 0.9, "")
VALUES = ("Ireland", "Irelund")


class Known:
    """Data with a few countries, and no cities."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.closed = False

    async def find(self, template_id: str, parameter: str, value: str) -> FoundValue | None:
        self.asked.append((template_id, parameter, value))
        if parameter != "country":
            return None
        written = next((v for v in VALUES if v.casefold() == value.casefold()), None)
        return FoundValue(written, () if written else ("Ireland",))

    async def close(self) -> None:
        self.closed = True


class Next:
    def __init__(self, decision: Decision | FollowUpDecision) -> None:
        self.decision = decision
        self.closed = False

    async def decide(self, turn: Turn, trace: Trace) -> Any:
        return self.decision

    async def close(self) -> None:
        self.closed = True


def call(sources: Mapping[str, Source] | None = None, **arguments: Any) -> Call:
    return Call(MATCH, ORDERS.call(arguments, sources or {}))


def decide(decision: Decision | FollowUpDecision) -> tuple[Any, Known]:
    known = Known()
    decider = DataValuesDecider(Next(decision), LIBRARY, known)
    turn = Turn("t", "?", "s", Caller("k", "d"), datetime(2025, 1, 1, tzinfo=UTC))
    return asyncio.run(decider.decide(turn, Trace())), known


def test_the_parts_are_what_their_protocols_say() -> None:
    assert isinstance(Known(), DataValues)
    assert isinstance(DataValuesDecider(Next(NoMatch("")), LIBRARY, Known()), Decider)


@pytest.mark.parametrize(
    "decision",
    [NoMatch("nothing is near"), call(country="Ireland"), call(country=None), call(city="Rome")],
)
def test_what_the_data_have_goes_on_as_it_is(decision: Decision) -> None:
    assert decide(decision)[0] == decision
    assert decide(FollowUpDecision(decision))[0] == FollowUpDecision(decision)


def test_a_value_in_another_case_is_put_as_the_data_have_it() -> None:
    decided, _ = decide(call(country="ireland", city="Cork"))
    assert decided.call.arguments == {"country": "Ireland", "city": "Cork"}


def test_a_value_that_the_data_do_not_have_is_asked_about_with_the_nearest() -> None:
    source = Source("recognizer", (0, 4), "Eire")
    decided, _ = decide(call({"country": source}, country="Eire", city="Cork"))
    assert isinstance(decided, MissingArguments)
    assert decided.arguments == {"city": "Cork"}
    (missing,) = decided.missing
    said = "there is no country “Eire”. Did you mean Ireland?"
    assert (missing.problem, missing.choices, missing.open_ended) == (said, ("Ireland",), True)


def test_words_that_change_nothing_about_the_statement_are_not_read() -> None:
    """Below what? There is no number."""
    compared = replace(
        ORDERS,
        parameters=(Parameter("sign", "string", enum=("below", "above")), Parameter("p", "number")),
        execution=SqlExecution(
            parse_sql(
                "SELECT * FROM t {% if p %}WHERE p "
                "{% if sign == 'below' %}<{% else %}>{% endif %} :p{% endif %}",
                (),
            )
        ),
    )
    text = "orders below"
    words = (CoveredWord(0, 6, "frame", "orders"), CoveredWord(7, 12, "value", "sign"))
    said = {"sign": Source("vocabulary", (7, 12), "below")}
    idle = Call(MATCH, compared.call({"sign": "below"}, said), coverage=Coverage(text, words))
    decider = DataValuesDecider(Next(idle), Library(Domain("d"), {"orders": compared}), Known())
    turn = Turn("t", text, "s", Caller("k", "d"), datetime(2025, 1, 1, tzinfo=UTC))
    decided = asyncio.run(decider.decide(turn, Trace()))
    assert isinstance(decided, NoMatch)
    assert (decided.unread, decided.why) == (("below",), "nothing says what sign is about")


def test_one_of_several_calls_is_asked_about_before_any_runs() -> None:
    decided, _ = decide(SeveralCalls((call(country="ireland"), call(country="Eire"))))
    assert isinstance(decided, MissingArguments)
    decided, _ = decide(SeveralCalls((call(country="ireland"), call(country="Ireland"))))
    assert [each.call.arguments["country"] for each in decided.calls] == ["Ireland", "Ireland"]


def test_what_was_read_as_a_slip_may_be_a_value_that_came_since() -> None:
    slip = Source("vocabulary", (0, 7), "irelund")
    decided, _ = decide(call({"country": slip}, country="Ireland"))
    assert decided.call.arguments == {"country": "Irelund"}
    synonym = Source("vocabulary", (0, 4), "Eire")
    decided, _ = decide(call({"country": synonym}, country="Ireland"))
    assert decided.call.arguments == {"country": "Ireland"}


SHIPMENTS = replace(
    ORDERS,
    id="shipments",
    parameters=(
        Parameter("harbour", "string", required=False),
        Parameter("country", "string", required=False),
    ),
)
HARBOURS = replace(ORDERS, id="harbours", parameters=(Parameter("harbour", "string"),))


class Harbours(Known):
    """Data that know of one harbour, too."""

    async def find(self, template_id: str, parameter: str, value: str) -> FoundValue | None:
        if parameter != "harbour":
            return await super().find(template_id, parameter, value)
        is_known = value.casefold() == "cobh"
        return FoundValue("Cobh" if is_known else None, () if is_known else ("Cobh",))


def told(decision: Decision) -> Any:
    library = Library(LIBRARY.domain, {t.id: t for t in (ORDERS, SHIPMENTS, HARBOURS)})
    decider = DataValuesDecider(Next(decision), library, Harbours())
    turn = Turn("t", "?", "s", Caller("k", "d"), datetime(2025, 1, 1, tzinfo=UTC))
    return asyncio.run(decider.decide(turn, Trace()))


def of(template: Template, **arguments: Any) -> Call:
    return Call(replace(MATCH, template_id=template.id), template.call(arguments, {}))


def test_a_value_goes_to_the_one_other_place_that_has_it() -> None:
    assert told(of(SHIPMENTS, country="cobh")).call.arguments == {"harbour": "Cobh"}
    assert isinstance(told(of(SHIPMENTS, country="Eire")), MissingArguments)
    # It was asked for there.
    assert isinstance(told(of(ORDERS, country="cobh")), MissingArguments)


def test_the_data_tell_which_of_several_templates_is_meant() -> None:
    harbour, orders = of(HARBOURS, harbour="cobh"), of(ORDERS, country="cobh", city="Cork")
    unclear = Clarify((orders.match, harbour.match), alternatives=(orders, harbour))
    assert told(unclear).call == HARBOURS.call({"harbour": "Cobh"}, {})
    assert told(replace(orders, alternatives=(harbour,))).call.template_id == "harbours"


def test_what_the_data_do_not_tell_is_asked_as_before() -> None:
    nowhere, both = of(HARBOURS, harbour="Eire"), of(HARBOURS, harbour="Cobh")
    here = of(ORDERS, country="Ireland", city="Cork")
    for calls in ((nowhere,), (nowhere, nowhere), (both, here)):
        unclear = Clarify((MATCH, MATCH), alternatives=calls)
        assert told(unclear) == unclear


def test_closing_closes_both() -> None:
    known, following = Known(), Next(NoMatch(""))
    asyncio.run(DataValuesDecider(following, LIBRARY, known).close())
    assert (known.closed, following.closed) == (True, True)
