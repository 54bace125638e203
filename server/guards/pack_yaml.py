"""A guard pack as it is written in YAML."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from server.library.edge import Edge, Words


def _by_language(value: object) -> object:
    return value if isinstance(value, dict) else {"": value}


Responses = Annotated[dict[str, Words], BeforeValidator(_by_language)]
"""One text, a list of texts, or either by language."""


class RouteYaml(Edge):
    """Where a question goes instead: exactly one of the two."""

    adapter: str | None = None
    """An adapter of this server, which answers the question as its own."""
    template: str | None = None
    """A template of this adapter, which answers without being matched."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "RouteYaml":
        if (self.adapter is None) == (self.template is None):
            raise PydanticCustomError("bad-route", "route_to needs either adapter or template")
        return self


class CategoryYaml(Edge):
    """One kind of question, and what is done about it."""

    description: str = ""
    """For people; it decides nothing."""
    action: Literal["block", "route", "allow", "flag"] = "block"
    """`block` answers with the response, `route` asks elsewhere, `allow` passes, `flag` notes."""
    patterns: Words = ()
    """Regular expressions (RE2), found anywhere in the question, whatever its case."""
    examples: Words = ()
    """Questions of this kind; others are recognised by their meaning."""
    response: Responses = Field(default_factory=dict)
    """What a blocked person reads, as Jinja: one, several, or either by language."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """Least confidence at which meaning decides; without one, it is calibrated."""
    route_to: RouteYaml | None = None
    """Where `action: route` goes: `adapter: NAME` or `template: ID`."""

    @model_validator(mode="after")
    def _whole(self) -> "CategoryYaml":
        if not self.patterns and not self.examples:
            raise PydanticCustomError("empty-category", "a category needs patterns or examples")
        if (self.action == "route") != (self.route_to is not None):
            raise PydanticCustomError("bad-route", "route_to goes with 'action: route' alone")
        return self


class PackYaml(Edge):
    """A guard pack: categories, in the order in which they are asked."""

    name: str = Field(min_length=1)
    """What logs and listings call it."""
    description: str = ""
    """For people; it decides nothing."""
    threshold: float | None = Field(default=None, ge=0, le=1)
    """Threshold of every category that has none of its own; without one, it is calibrated."""
    response: Responses = Field(default_factory=dict)
    """What a blocked person reads where the category has no response of its own."""
    failure_response: Responses = Field(default_factory=dict)
    """What is said when a guard that fails closed could not judge."""
    categories: dict[str, CategoryYaml] = Field(min_length=1)
    """By name: letters, digits, `.`, `_` and `-`."""
