"""What people say to any assistant, whatever it can do.

A head that has only ever seen a library's own examples is sure of everything. These
sentences teach it what "none of them" looks like, which is all there is to learn from
in a library of one template. Those that a library's own examples come close to are left
out before training, so that a weather library may still be asked for the weather.

They have to be in the library's language: to tell Hebrew from English is no doubt at all.

They were written for these lists and are in no benchmark or question file.
"""

import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Final

LANGUAGES: Final = ("ar", "de", "en", "es", "fr", "he", "it", "nl", "pt", "ru")

_SCRIPTS: Final[Mapping[str, re.Pattern[str]]] = {
    "ar": re.compile("[\u0600-\u06ff]"),
    "he": re.compile("[\u0590-\u05ff]"),
    "ru": re.compile("[\u0400-\u04ff]"),
}


def background(languages: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """The sentences for a library: of the languages it names, and of those it is written in.

    English where neither is known.
    """
    named = {language.partition("-")[0].lower() for language in languages}
    written = "".join(texts)
    seen = {language for language, script in _SCRIPTS.items() if script.search(written)}
    wanted = [language for language in LANGUAGES if language in named | seen] or ["en"]
    return tuple(sentence for language in wanted for sentence in sentences(language))


def sentences(language: str) -> tuple[str, ...]:
    """The sentences of one of `LANGUAGES`."""
    module = import_module(f"server.matching.background.{language}")
    found: tuple[str, ...] = module.SENTENCES
    return found
