"""Parameters to one Pydantic model for each template, and to its checks by name."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from server.library.model import Template
from server.tools.policy.checks import ValueCheck, value_checks


class _Arguments(BaseModel):
    """The base of all models: strict, and refusing what no parameter names."""

    model_config = ConfigDict(extra="forbid", strict=True, arbitrary_types_allowed=True)


def compile_model(template: Template, open_types: frozenset[str] = frozenset()) -> type[BaseModel]:
    """Return the model of a template's arguments; optional ones may be left out.

    `open_types` as for `value_checks`.
    """
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(template.parameters):
        checks = value_checks(parameter, template, open_types)
        # Field names of our own: an author's may be a word that Pydantic keeps for itself.
        fields[f"p{number}"] = (
            Annotated[Any, *(AfterValidator(check) for check in checks)],
            Field(
                ... if parameter.is_needed else None, alias=parameter.name, validate_default=False
            ),
        )
    model: type[BaseModel] = create_model("Arguments", __base__=_Arguments, **fields)
    return model


def compile_checks(
    template: Template, open_types: frozenset[str] = frozenset()
) -> Mapping[str, tuple[ValueCheck, ...]]:
    """Return what that model asks of each argument, by name."""
    return {p.name: value_checks(p, template, open_types) for p in template.parameters}
