"""Phrases are found as words, behind attached letters, the longest first."""

from hypothesis import given
from hypothesis import strategies as st

from server.intents.phrases import PhraseEntry, PhraseIndex, longest

WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=12)
PHRASES = st.lists(st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4), max_size=8)


def index(*phrases: str, prefixes: str = "", attached: bool = True) -> PhraseIndex:
    made = PhraseIndex(frozenset(prefixes.split()))
    for order, phrase in enumerate(phrases):
        made.add(phrase.split(), PhraseEntry("words", phrase, order, phrase, attached))
    return made


def found(made: PhraseIndex, text: str) -> list[tuple[str, int, int, int]]:
    return [(h.entry.key, h.first, h.last, h.prefix) for h in made.find(text.split()).hits]


def phrases_of(phrases: list[list[str]], *, apart: bool = False) -> PhraseIndex:
    made = PhraseIndex(apart=frozenset({"words"} if apart else ()))
    for phrase in phrases:
        made.add(phrase, PhraseEntry("words", tuple(phrase)))
    return made


def everywhere(phrases: list[list[str]], text: list[str]) -> list[tuple[int, tuple[str, ...]]]:
    """Where each phrase stands in the text."""
    return sorted(
        (first, tuple(phrase))
        for phrase in phrases
        for first in range(len(text))
        if text[first : first + len(phrase)] == phrase
    )


def test_a_phrase_is_whole_words() -> None:
    assert found(index("test", "test my knowledge"), "contest test my knowledge tests") == [
        ("test my knowledge", 1, 4, 0),
    ]


def test_a_phrase_stands_behind_attached_letters() -> None:
    made = index("החלטות", prefixes="ה ו וה")
    assert found(made, "החלטות ההחלטות וההחלטות שההחלטות") == [
        ("החלטות", 0, 1, 0),
        ("החלטות", 1, 2, 1),
        ("החלטות", 2, 3, 2),
    ]


def test_fewer_letters_taken_off_read_a_word_better() -> None:
    assert found(index("מספר", "ספר", prefixes="מ"), "מספר") == [("מספר", 0, 1, 0)]


def test_some_phrases_stand_for_themselves_alone() -> None:
    assert found(index("מול", prefixes="ש", attached=False), "שמול מול") == [("מול", 1, 2, 0)]


def test_what_lies_within_a_longer_phrase_does_not_count() -> None:
    assert found(index("a", "a b", "b c", "c"), "a b c a") == [
        ("a b", 0, 2, 0),
        ("b c", 1, 3, 0),
        ("a", 3, 4, 0),
    ]


@given(PHRASES, WORDS)
def test_every_phrase_apart_is_found_wherever_it_stands(
    phrases: list[list[str]], text: list[str]
) -> None:
    found = phrases_of(phrases, apart=True).find(text)
    assert sorted((hit.first, hit.entry.key) for hit in found.apart) == everywhere(phrases, text)
    assert found.hits == []


@given(PHRASES, WORDS)
def test_the_longest_phrases_are_found(phrases: list[list[str]], text: list[str]) -> None:
    everything = everywhere(phrases, text)
    spans = [(first, first + len(phrase)) for first, phrase in everything]
    wanted = [
        found
        for found, (first, last) in zip(everything, spans, strict=True)
        if not any(a <= first and last <= b and (a, b) != (first, last) for a, b in spans)
    ]
    hits = phrases_of(phrases).find(text).hits
    assert sorted((hit.first, hit.entry.key) for hit in hits) == wanted
    apart = phrases_of(phrases, apart=True).find(text).apart
    assert sorted((hit.first, hit.entry.key) for hit in longest(apart)) == wanted
