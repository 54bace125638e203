"""What the words of a message do: senses, clauses, remarks, moods, refusals, conditions, verbs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.text.senses import MessageSenses, languages_of, read_senses, sense_reader
from server.text.tokens import Tokens, split_words

LANGUAGES = ("en", "de", "fr", "es", "he")


def read(text: str, *codes: str) -> MessageSenses:
    return read_senses(Tokens(text), codes or ("en",))


def words_of(senses: MessageSenses, first: int, last: int) -> str:
    return " ".join(senses.words[first:last])


def test_phrases_are_found_longest_first_and_never_overlap() -> None:
    read_of = read("show me everything but the last two, no more than 5")
    assert [(one.phrase, one.sense) for one in read_of.senses] == [
        ("show me", "filler"),
        ("everything but", "exclusion"),
        ("the", "filler"),
        ("last", "superlative"),
        ("no more than", "comparison"),
    ]


def test_an_apostrophe_of_any_kind_is_one() -> None:
    for text in ("don't delete it", "don’t delete it", "don´t delete it"):
        assert read(text).senses[0].sense == "negation"


def test_clauses_part_at_stops_and_commas_and_the_empty_ones_are_none() -> None:
    found = read("my kids are asleep, turn it off!! , please")
    assert [(words_of(found, one.first, one.last), one.tells) for one in found.clauses] == [
        ("my kids are asleep", True),
        ("turn it off", False),
        ("please", False),
    ]


def test_a_clause_that_says_what_is_wanted_is_no_remark() -> None:
    assert [one.tells for one in read("I want the lights off").clauses] == [False]


def test_where_all_only_tells_something_all_of_it_asks() -> None:
    found = read("it is dark in here, my kids are scared")
    assert [one.tells for one in found.clauses] == [True, True]
    assert found.asking() == found.clauses


@pytest.mark.parametrize(
    ("text", "mood"),
    [
        ("delete post 4", "request"),
        ("please, could you delete post 4", "request"),
        ("hi! why was post 4 deleted", "question"),
        ("my post is gone", "statement"),
        ("could my daughter delete post 4?", "request"),
        ("could my post be late?", "question"),
        ("", "request"),
    ],
)
def test_mood(text: str, mood: str) -> None:
    found = read(text)
    assert found.reader.mood(found.words) == mood


@pytest.mark.parametrize(
    ("code", "text", "refusal"),
    [
        ("en", "under no circumstances delete it", "under no circumstances"),
        ("de", "lösche das auf keinen fall", "auf keinen fall"),
        ("fr", "ne supprime jamais cela", "ne"),
        ("es", "nunca lo borres", "nunca"),
        ("he", "לא למחוק", "לא"),
    ],
)
def test_what_takes_a_request_back(code: str, text: str, refusal: str) -> None:
    assert [one.phrase for one in read(text, code).refusals()] == [refusal]


@pytest.mark.parametrize(
    ("code", "text", "condition"),
    [
        ("en", "if it rains, close the window", "if"),
        ("de", "falls es regnet, schließe das fenster", "falls"),
        ("fr", "s'il pleut, ferme la fenêtre", "s'il pleut"),
        ("es", "si llueve, cierra la ventana", "si"),
        ("he", "אם יורד גשם תסגור את החלון", "אם"),
    ],
)
def test_what_a_request_depends_on(code: str, text: str, condition: str) -> None:
    assert [one.phrase for one in read(text, code).conditions()] == [condition]


def test_the_if_of_tell_me_if_is_no_condition() -> None:
    assert list(read("tell me if the door is open").conditions()) == []


@pytest.mark.parametrize(
    ("text", "person"),
    [("our band needs a room", "band"), ("my dog sings", None), ("my dog", None)],
)
def test_one_of_the_askers_own_people_may_want_something(text: str, person: str | None) -> None:
    found = [one.phrase for one in read(text).senses if one.sense == "person"]
    assert found == ([person] if person else [])


def test_what_a_remark_says_takes_nothing_back() -> None:
    assert list(read("I can't sleep, turn the lights off").refusals()) == []


def test_a_verb_is_found_with_its_particle_beside_it_and_apart() -> None:
    groups = {}
    for text in ("switch off the lights", "switch the lights off", "please switch them off"):
        found = read(text)
        (action,) = found.actions
        groups[text] = action.groups
        said = [found.words[at] for at in action.places]
        assert said == ["switch", "off"]
    assert len(set(groups.values())) == 1


def test_a_particle_of_another_clause_belongs_to_no_verb() -> None:
    (first, *_) = read("switch the lights, off you go").actions
    assert first.particle is None


def test_a_verb_behind_an_article_is_a_noun() -> None:
    assert list(read("the order of my sister").actions) == []
    assert [action.first for action in read("order the cake").actions] == [0]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("don't delete post 4", "en"),
        ("don’t erase post 30", "en"),
        ("delete post 4? no, don't", "en"),
        ("ne supprime pas le message 4", "fr"),
    ],
)
def test_a_message_is_read_in_the_language_whose_phrases_it_is_made_of(
    text: str, code: str
) -> None:
    """“t” is a small word of French: by those alone, “don't” would refuse nothing."""
    found = read(text, "en", "fr")
    assert found.reader.code == code
    assert list(found.refusals())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What is the weather like in my city?", "en"),
        ("Wie ist das Wetter in meiner Stadt?", "de"),
        ("Quel temps fait-il dans ma ville ?", "fr"),
        ("¿Qué tiempo hace en mi ciudad?", "es"),
        ("מה מזג האוויר בעיר שלי?", "he"),
    ],
)
def test_the_language_of_texts(text: str, code: str) -> None:
    assert languages_of([text])[0] == code


def test_languages_that_are_named_count_where_they_are_known() -> None:
    assert languages_of([], ["de-AT", "xx"]) == ("de",)
    assert languages_of([]) == ("en",)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("text", ["", " \n", "?!.,", "\ud800", "🙂🙂", "0 " * 500, "x, " * 500])
def test_any_text_is_read(code: str, text: str) -> None:
    found = read(text, code)
    size = len(found.words)
    places = [(one.first, one.last) for one in found.senses]
    places += [(one.first, one.last) for one in found.clauses]
    assert all(0 <= first < last <= size for first, last in places)


SMALL_WORDS = (
    "my our could can I you please don't never if all but dog wants needs to for a the not"
)


@given(st.lists(st.sampled_from([*SMALL_WORDS.split(), ",", ".", "?"]), max_size=8))
def test_small_words_in_any_order_are_read(words: list[str]) -> None:
    found = read(" ".join(words))
    assert all(0 <= one.first < one.last <= len(found.words) for one in found.senses)


@pytest.mark.parametrize("code", LANGUAGES)
def test_small_words_are_known_and_covered(code: str) -> None:
    reader = sense_reader(code)
    words = sorted(reader.small_words)
    assert reader.knows(words) == len(words) > 20
    assert reader.covers(words[:1]) == 1


@given(st.text())
def test_words_are_split_alike_with_their_places_and_without(text: str) -> None:
    assert split_words(text) == tuple(Tokens(text).words)
