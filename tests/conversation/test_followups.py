"""What the words of a message say of the conversation it goes on with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conversation.followups.lexicon import shipped_lexicon
from server.conversation.followups.references import (
    Reference,
    ShownValue,
    by_place,
    by_words,
    read_possessive,
    read_reference,
    read_result,
    resolve_reference,
    row_identity,
    row_value,
)
from server.conversation.followups.utterances import read_utterance
from server.core.turn import CompletedCall
from server.library.model import BuiltinExecution, Parameter, Template
from server.text.tokens import lead_at, message_words, words_of

WORDING = shipped_lexicon()


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        ("never mind", "cancel", "never mind"),
        ("Never mind, thanks!", "cancel", "Never mind"),
        ("עזבי, לא משנה", "plain", "עזבי, לא משנה"),
        ("לא משנה", "cancel", "לא משנה"),
        ("never mind the weather in Paris", "plain", "never mind the weather in Paris"),
        ("no, London", "correction", "London"),
        ("No, I meant London please", "correction", "London"),
        ("London, not Paris", "correction", "London"),
        ("not Paris, London", "correction", "London"),
        ("not Paris but London", "correction", "London"),
        ("לא 15% אלא 30%", "correction", "30%"),
        ("London instead", "correction", "London"),
        ("no, -5", "correction", "-5"),
        ("make it $400", "correction", "$400"),
        ("לא, התכוונתי לנושא חינוך", "correction", "לנושא חינוך"),
        ("and of 400?", "continuation", "of 400"),
        ("ok, and what about Oslo?", "continuation", "Oslo"),
        ("ובממשלה 36?", "continuation", "בממשלה 36"),
        ("ומה לגבי בריאות?", "continuation", "בריאות"),
        ("in weeks?", "fragment", "in weeks"),
        ("no", "plain", "no"),
        ("What is 15% of 200?", "plain", "What is 15% of 200"),
    ],
)
def test_the_form_of_a_message(text: str, form: str, said: str) -> None:
    saying = read_utterance(text, WORDING)
    assert (saying.form, saying.said) == (form, said)


@given(st.text(max_size=60))
def test_any_text_has_a_form_and_words_in_their_places(text: str) -> None:
    saying = read_utterance(text, WORDING)
    assert saying.said == text[saying.start : saying.end]
    places = [(word.start, word.end) for word in message_words(text)]
    assert places == sorted(places)
    assert all(start < end <= len(text) for start, end in places)


def test_a_long_text_is_no_follow_up() -> None:
    assert read_utterance("and " + "x" * 3000, WORDING).form == "plain"


def test_what_a_value_leaves_of_a_message() -> None:
    saying = read_utterance("and the last 3 of them", WORDING)
    place = saying.text.index("3")
    left = saying.left([(place, place + 1)], WORDING)
    assert [word.text for word in left] == ["them"]
    hebrew = read_utterance("ומה לגבי בבריאות", WORDING)
    start = hebrew.text.index("בריאות", hebrew.start + 1)
    assert hebrew.left([(start, start + 6)], WORDING) == []


def test_a_dash_between_numbers_is_a_word_of_its_own() -> None:
    assert words_of("100 - 37") == ("100", "-", "37")
    assert words_of("3-4 well-known") == ("3-4", "well-known")


def test_the_word_before_a_place() -> None:
    assert lead_at("divide 100 by $4", 15) == "by"
    assert lead_at("divide, 4", 8) == ""


@pytest.mark.parametrize(
    ("text", "kind", "position", "words"),
    [
        ("the second one you showed me", "specific", 2, "the second one you showed me"),
        ("comments on the last post", "last", 1, "the last post"),
        ("open the 3rd", "specific", 3, "the 3rd"),
        ("and the previous one?", "previous", 2, "the previous one"),
        ("לא, הראשונה", "specific", 1, "הראשונה"),
        ("מה לפני האחרונה", "previous", 2, "לפני האחרונה"),
    ],
)
def test_a_place_in_a_list(text: str, kind: str, position: int, words: str) -> None:
    found = read_reference(text, WORDING, {"post"})
    assert found is not None
    assert (found.kind, found.position, text[slice(*found.span)]) == (kind, position, words)


@pytest.mark.parametrize(
    "text", ["the first name of user 3", "the last 3 days", "first come, first served", "second"]
)
def test_what_is_no_place_in_a_list(text: str) -> None:
    found = read_reference(text, WORDING, {"post"})
    assert found is None or text[slice(*found.span)] == text


def test_places_count_from_the_end_or_from_the_start_of_the_latest_list() -> None:
    posts = CompletedCall("list_posts", {}, tuple({"id": number} for number in (1, 2, 3)))
    one = CompletedCall("get_post", {}, ({"id": 9},))
    done = (posts, one)
    assert resolve_reference(Reference("last", 1), done) == ShownValue({"id": 9}, one)
    assert resolve_reference(Reference("previous", 2), done) == ShownValue({"id": 3}, posts)
    assert resolve_reference(Reference("specific", 2), done) == ShownValue({"id": 2}, posts)
    assert resolve_reference(Reference("specific", 4), done) == ShownValue({"id": 9}, one)
    assert resolve_reference(Reference("specific", 5), done) is None
    assert resolve_reference(Reference("last", 1), ()) is None


def test_the_last_result_is_spoken_of_once() -> None:
    assert read_result("divide that by 3", WORDING) == (7, 11)
    assert read_result("add it to it", WORDING) is None
    assert read_result("divide 4 by 3", WORDING) is None


def test_what_stands_for_a_thing_with_a_number() -> None:
    assert read_possessive("and its comments?", WORDING) == ((4, 7), "{}'s")
    assert read_possessive("where does he live?", WORDING) == ((11, 13), "{}")


def template(name: str, *tags: str, takes: tuple[str, ...] = (), about: str = "") -> Template:
    return Template(
        name,
        about,
        "query",
        (),
        tuple(Parameter(one, "integer") for one in takes),
        BuiltinExecution("calculator", "add"),
        tags=tags,
    )


LISTING = template("list_user_posts", "posts", takes=("user_id",))
READING = template("get_post", "posts", takes=("post_id",), about="Read one post")
WRITER = template("get_user", "users", takes=("user_id",), about="Tell who a user is")


@pytest.mark.parametrize(
    ("parameter", "row", "value"),
    [
        ("post_id", {"id": 7, "title": "x"}, 7),
        ("post_id", {"postId": 7, "id": 3}, 7),
        ("user_id", {"id": 7, "userId": 2}, 2),
        ("user_id", {"id": 7}, None),
        ("government_number", {"number": 5, "government": 37}, 37),
        ("title", {"title": "x"}, "x"),
        ("limit", {"id": 7}, None),
    ],
)
def test_which_field_is_the_value_of_a_parameter(
    parameter: str, row: dict[str, object], value: object
) -> None:
    assert row_value(Parameter(parameter, "integer"), row, LISTING) == value


def test_what_a_row_is_called_by() -> None:
    templates = (LISTING, READING, WRITER)
    assert row_identity({"id": 7, "title": "x"}, LISTING, templates) == ("post_id", 7)
    assert row_identity({"title": "x"}, LISTING, templates) is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the first", "get_post"),
        ("2", "get_user"),
        ("option 2, please", "get_user"),
        ("the last one", "get_user"),
        ("3", None),
        ("read", "get_post"),
        ("the user", "get_user"),
        ("how do I boil an egg", None),
        ("the", None),
    ],
)
def test_one_of_what_was_offered(text: str, name: str | None) -> None:
    message, offered = read_utterance(text, WORDING), (READING, WRITER)
    found = by_place(message, offered, WORDING) or by_words(message, offered, WORDING)
    assert (found.id if found is not None else None) == name
