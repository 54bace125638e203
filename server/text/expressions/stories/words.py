"""The words of stories in the languages of a question."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

from server.text.expressions.lexicon import PhraseSet, languages_of, lexicon_of
from server.text.language import StoryWords
from server.text.stems import stem
from server.text.tokens import Tokens, is_word

_NAMES = tuple(name for name in StoryWords.model_fields if name not in ("percent", "plurals", "not_nouns"))


_NOUNS = frozenset({"people", "packs", "shares", "pays", "money", "each", "everyone", "on_top"})
"""Lists of words that may as well be what is counted."""
_VERBS = ("minus", "plus", "verbs")


@dataclass(frozen=True)
class StoryLexicon:
    """Phrases by what they do in a story, in stems; and the words that name nothing."""

    code: str
    phrases: Mapping[str, PhraseSet]
    no_nouns: frozenset[str]
    verbs: frozenset[str]
    """Stems of what is done, whose forms name nothing either."""
    plurals: Mapping[str, str]
    on_top: frozenset[str]

    def stems(self, words: Iterable[str]) -> list[str]:
        return _stems(words, self.code)

    def thing(self, word: str) -> str:
        """Return what the forms of a noun share: buses and bus, children and child."""
        found = stem(self.plurals.get(word, word), self.code)
        return found[:-1] if found.endswith(("se", "xe", "ze")) else found

    def end(self, name: str, stems: Sequence[str], at: int) -> int:
        """Return the word after the longest phrase of a list at a word; 0 for none."""
        return self.phrases[name].longest(stems, at)


@cache
def story_lexicon(codes: tuple[str, ...]) -> StoryLexicon:
    """Return the words of languages, the first counting most; English is always one."""
    languages = languages_of(codes)
    code = languages[0].language
    stories = [language.sums.stories for language in languages]

    def stemmed(phrases: Iterable[str]) -> PhraseSet:
        return PhraseSet(" ".join(_stems(Tokens(one).words, code)) for one in phrases)

    lists = {name: list(chain(*(getattr(one, name) for one in stories))) for name in _NAMES}
    percents = {f"percent_{name}": chain(*(one.percent.get(name, ()) for one in stories)) for name
                in dict.fromkeys(chain(*(one.percent for one in stories)))}  # fmt: skip
    closed = {
        phrase for name in _NAMES if name not in _NOUNS for phrase in lists[name] if " " not in phrase
    }
    moods = (one.moods for one in languages)
    refusing = (phrase for mood in moods for phrase in (*mood.refusals, *mood.contrasts))
    return StoryLexicon(
        code,
        {name: stemmed(phrases) for name, phrases in (lists | percents).items()},
        frozenset(closed)
        | frozenset(chain(*(Tokens(one).words for one in refusing)))
        | frozenset(chain(*(one.not_nouns for one in stories)))
        | lexicon_of(codes).no_things,
        frozenset(_stems((one for name in _VERBS for one in lists[name]), code)),
        {many: one for story in stories for many, one in story.plurals.items()},
        frozenset(lists["on_top"]),
    )


def _stems(words: Iterable[str], code: str) -> list[str]:
    return [stem(w, code) if is_word(w) else "'" if w == "’" else w for w in words]
