"""What a conversation makes of a message, as a value: deciding asks the next decider once."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

from server.core.chat_messages import Message
from server.core.decision import Call, Decision, MissingArguments, MissingParameter, NoMatch, Trace
from server.core.ports import Decider
from server.core.tools import Source, ToolCall
from server.core.turn import Caller, CompletedCall, ConversationContext, PendingQuestion, Turn
from server.extraction.extractor import Extractor
from server.library.model import Domain, Library
from server.retrievers.followups.context import FollowUpDecision, Rewriting
from server.retrievers.followups.decider import FollowUpDecider
from tests.support.deciding import MATCH, PERCENTAGE, call_of

LIBRARY = Library(Domain("d"), {PERCENTAGE.id: PERCENTAGE})
NOTHING = NoMatch("nothing is near")
LACKS_VALUE = MissingArguments(
    MATCH, (MissingParameter("value"),), {"percentage": 15}, {"percentage": Source("recognizer")}
)
DONE = CompletedCall(PERCENTAGE.id, {"value": 200, "percentage": 15}, value=30)
SHOWN = ConversationContext(done=(CompletedCall(PERCENTAGE.id, {"percentage": 15}, value=30),))


class Next:
    """The next decider: decides one thing, and remembers the turns it was asked about."""

    def __init__(self, decision: Decision) -> None:
        self.asked: list[Turn] = []
        self._decision = decision

    async def decide(self, turn: Turn, trace: Trace) -> Decision:
        self.asked.append(turn)
        return self._decision

    async def close(self) -> None:
        return None


def decide(
    text: str, context: ConversationContext, first: Decision = NOTHING
) -> tuple[Decision | FollowUpDecision, list[Turn]]:
    following = Next(first)
    decider = FollowUpDecider(following, LIBRARY, Extractor(LIBRARY.domain))
    now = datetime(2025, 1, 1, tzinfo=UTC)
    turn = Turn("t", text, "s", Caller("k", "d"), now, context=context)
    return asyncio.run(decider.decide(turn, Trace())), following.asked


def test_a_retriever_is_a_decider() -> None:
    assert isinstance(Next(NOTHING), Decider)


def test_a_conversation_with_nothing_to_go_on_with_leaves_it_to_the_next() -> None:
    said = ConversationContext((Message("user", "hello"),))
    decided, asked = decide("and of 400?", said)
    assert (decided, [turn.text for turn in asked]) == (NOTHING, ["and of 400?"])


def test_what_the_conversation_makes_certain_asks_nobody() -> None:
    for text, arguments, contribution in (
        ("and of 400?", {"value": 400, "percentage": 15}, "follow_up"),
        ("no, 20%", {"value": 200, "percentage": 20}, "correction"),
    ):
        decided, asked = decide(text, ConversationContext(done=(DONE,)))
        assert isinstance(decided, FollowUpDecision)
        assert isinstance(decided.decision, Call)
        assert decided.decision.call.arguments == arguments
        assert (decided.contribution, asked) == (contribution, [])


def test_an_answer_fills_what_was_asked() -> None:
    question = PendingQuestion(PERCENTAGE.id, ("value",), {"percentage": 15}, "15% of what?")
    decided, asked = decide("400", ConversationContext(asked=question))
    assert isinstance(decided, FollowUpDecision)
    assert isinstance(decided.decision, Call)
    kinds = {name: source.kind for name, source in decided.decision.call.sources.items()}
    assert kinds == {"value": "recognizer", "percentage": "conversation"}
    assert (decided.contribution, asked) == ("answer", [])


def test_what_stands_for_the_last_result_is_given_back_to_be_decided_anew() -> None:
    text = "what is 15% of that result"
    decided, asked = decide(text, SHOWN, LACKS_VALUE)
    assert isinstance(decided, FollowUpDecision)
    assert [turn.text for turn in asked] == [text]
    assert decided.decision is LACKS_VALUE
    assert [each.rewritten for each in decided.rewritings] == ["what is 15% of 30"]


def test_a_call_that_was_not_offered_stays_one_to_be_refused() -> None:
    unoffered = Call(MATCH, ToolCall("rm", "", "", {}, by_model=True), otherwise=LACKS_VALUE)
    decided, _ = decide("15% of that result", SHOWN, unoffered)
    assert isinstance(decided, FollowUpDecision)
    assert decided.decision == unoffered
    assert [each.first for each in decided.rewritings] == [LACKS_VALUE]


def test_a_rewriting_is_taken_back_to_the_places_of_the_message() -> None:
    text = "take it as the value of 15%"
    rewriting = Rewriting(text, (5, 7), "200.00", "result", LACKS_VALUE)
    assert rewriting.rewritten == "take 200.00 as the value of 15%"
    read = {
        "value": Source("recognizer", (5, 11), "200.00"),
        "percentage": Source("recognizer", (28, 31), "15%"),
    }
    call = call_of(PERCENTAGE, {"value": 200, "percentage": 15})
    call = replace(call, call=replace(call.call, sources=read))
    accepted = rewriting.accept(call, None)
    assert accepted is not None
    assert isinstance(accepted.decision, Call)
    assert accepted.decision.call.sources == {
        "value": Source("conversation"),
        "percentage": Source("recognizer", (24, 27), "15%"),
    }
    assert text[24:27] == "15%"


def test_a_rewriting_that_is_no_better_is_not_accepted() -> None:
    rewriting = Rewriting("15% of it", (7, 9), "200", "result", LACKS_VALUE)
    unused = call_of(PERCENTAGE, {"percentage": 15})
    another = replace(unused, match=replace(MATCH, template_id="divide"))
    for decision in (NOTHING, unused, another):
        assert rewriting.accept(decision, None) is None
    first_runs = replace(rewriting, first=unused)
    assert first_runs.accept(LACKS_VALUE, None) is None
