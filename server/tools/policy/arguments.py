"""Step 5: the arguments are what the template declares, and not too large to be looked at."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model

from server.core.redaction import REDACTED, Redactor
from server.core.suggestions import shown_value
from server.library.model import Template
from server.tools.policy.checks import value_checks
from server.tools.policy.proposal import Refusal

MOST_CHARS: Final = 200_000
MOST_VALUES: Final = 100_000
MOST_LEVELS: Final = 32

_MOST_NAMED: Final = 3


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


class ArgumentsCheck:
    """Judges the arguments of one template, and changes none."""

    def __init__(self, template: Template, open_types: frozenset[str], redactor: Redactor) -> None:
        self._model = compile_model(template, open_types)
        self._defaults = {p.name: p.default for p in template.parameters if p.default is not None}
        self._redactor = redactor

    def __call__(self, arguments: Mapping[str, Any]) -> Mapping[str, Any] | Refusal:
        """The arguments that are not None, with the defaults of those that are missing."""
        too_big = size_problem(arguments)
        if too_big is not None:
            return Refusal("arguments_invalid", too_big)
        given = {name: value for name, value in arguments.items() if value is not None}
        for name, default in self._defaults.items():
            given.setdefault(name, default)
        try:
            self._model.model_validate(given)
        except ValidationError as invalid:
            return Refusal("arguments_invalid", self._problems(invalid))
        return given

    def _problems(self, invalid: ValidationError) -> str:
        """Parameter, value and rule of each fault; a union's members are told only once."""
        told: dict[str, str] = {}
        for error in invalid.errors(include_url=False, include_context=True):
            keys = [str(part) for part in error["loc"]]
            name = keys[0] if keys else "arguments"
            if name in told:
                continue
            told[name] = _told(name, error, hidden=self._redactor.covers(name))
        first = list(told.values())[:_MOST_NAMED]
        more = len(told) - len(first)
        return "; ".join(first) + (f"; and {more} more" if more > 0 else "")


def _told(name: str, error: Any, *, hidden: bool) -> str:
    kind = error["type"]
    label = name[:60]
    if kind == "missing":
        return f"{label} is missing"
    if kind == "extra_forbidden":
        return f"there is no parameter {label!r}"
    value = REDACTED if hidden else shown_value(error["input"])
    return f"{label}: {value} {error['msg']}"


def size_problem(arguments: Mapping[str, Any]) -> str | None:
    """Return why the arguments are too large, too deep or no text, or None. Never recurses."""
    values = 0
    level: list[Any] = [arguments]
    for _ in range(MOST_LEVELS + 1):
        inner: list[Any] = []
        for value in level:
            if value is None or isinstance(value, bool | int | float):
                continue
            if isinstance(value, str):
                problem = _text_problem(value)
                if problem is not None:
                    return problem
            elif isinstance(value, Mapping):
                inner.extend(value.keys())
                inner.extend(value.values())
            elif isinstance(value, list | tuple):
                inner.extend(value)
        values += len(inner)
        if values > MOST_VALUES:
            return f"the arguments hold more than {MOST_VALUES} values"
        if not inner:
            return None
        level = inner
    return f"the arguments are nested deeper than {MOST_LEVELS} levels"


def _text_problem(text: str) -> str | None:
    if len(text) > MOST_CHARS:
        return f"a text among the arguments is longer than {MOST_CHARS} characters"
    if "\0" in text:
        return "a text among the arguments holds a null character"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "a text among the arguments holds half of a character (a lone surrogate)"
    return None
