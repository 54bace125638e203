"""The reader of language: words, stems, spelling, yes and no, by `languages/xx.yaml`.

What reads values stands in its own modules, because it loads all of English: a whole text in
`parsed_text.ParsedText`; numbers, dates, durations and money in the modules of these names,
whole words and phrases in `phrases.PhraseTable`.
"""

from server.text.language import (
    Language,
    everyday_sentences,
    load_language,
    read_language,
    shipped_languages,
)
from server.text.normalizer import NormalizedText, Normalizer, normalize_text
from server.text.replies import ReplyKind, read_boolean, shipped_replies
from server.text.spelling import Speller, SpellingIndex
from server.text.stems import inflections, singular, stem
from server.text.tokens import Tokens, message_words, tokens

__all__ = [
    "Language",
    "NormalizedText",
    "Normalizer",
    "ReplyKind",
    "Speller",
    "SpellingIndex",
    "Tokens",
    "everyday_sentences",
    "inflections",
    "load_language",
    "message_words",
    "normalize_text",
    "read_boolean",
    "read_language",
    "shipped_languages",
    "shipped_replies",
    "singular",
    "stem",
    "tokens",
]
