"""What the models of a library's YAML share."""

from typing import Annotated, Any, ClassVar

from pydantic import Field, model_validator

from server.settings.fields import OneOrMore, Strict


class LibraryModel(Strict):
    """A part of a library as it is written: frozen, and refusing what it does not know.

    `not_used` are keys that authors have in files for other kinds of adapter. They are
    let through here and reported as a warning by who reads the part.
    """

    not_used: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _drop_not_used(cls, data: Any) -> Any:
        if isinstance(data, dict) and not cls.not_used.isdisjoint(data):
            return {key: value for key, value in data.items() if key not in cls.not_used}
        return data


Words = OneOrMore
"""One text, or a list of them."""

Version = Annotated[str, Field(coerce_numbers_to_str=True)]
"""A version, which unquoted reads as a number."""
