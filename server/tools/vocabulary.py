"""The words that people use for the values of a parameter, as the language files have them."""

from collections.abc import Iterable
from typing import Literal, get_args

from server.core.tools import Vocabulary
from server.text.language import COMMON, TimeUnit, load_language, shipped_languages


def language_vocabulary(
    kind: Literal["operators", "aggregates", "orders"], values: Iterable[str]
) -> Vocabulary:
    """Return what every shipped language calls each of `values`."""
    languages = (load_language(COMMON), *shipped_languages())
    return {
        value: tuple(
            word for language in languages for word in getattr(language, kind).get(value, ())
        )
        for value in values
    }


def time_unit_vocabulary() -> Vocabulary:
    """Return what every shipped language calls the units of time, in the plural."""
    return {
        f"{unit}s": (
            unit,
            *(
                word
                for language in shipped_languages()
                for word in language.units.get(unit, frozenset())
            ),
        )
        for unit in get_args(TimeUnit)
    }
