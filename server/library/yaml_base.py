"""What the models of a library's YAML share."""

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


class LibraryModel(BaseModel):
    """A part of a library as it is written: frozen, and refusing what it does not know.

    `not_used` are keys that authors have in files for other kinds of adapter. They are
    let through here and reported as a warning by who reads the part.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )
    not_used: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _drop_not_used(cls, data: Any) -> Any:
        if isinstance(data, dict) and not cls.not_used.isdisjoint(data):
            return {key: value for key, value in data.items() if key not in cls.not_used}
        return data


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""One text, or a list of them."""

Version = Annotated[str, Field(coerce_numbers_to_str=True)]
"""A version, which unquoted reads as a number."""
