"""Build parameters from their YAML, and tell which of them take JSON data."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from server.core.suggestions import did_you_mean, quoted, shortened
from server.library.domain import check_patterns, fold_word
from server.library.expressions import pattern_problem
from server.library.model import Domain, Parameter, Template
from server.library.parameter_types import CUSTOM, PARAMETER_TYPES, ParameterType, canonical
from server.library.problems import Section, one_spelling
from server.library.yaml_models import ParameterYaml

_ONLY_FOR: Final[Mapping[str, tuple[str, ...]]] = {
    "ge": ("number", "integer"),
    "le": ("number", "integer"),
    "min_length": ("string", "array"),
    "max_length": ("string", "array"),
    "pattern": ("string",),
    "items": ("array",),
    "unit": ("number", "integer"),
}


def build_parameters(
    written: Sequence[ParameterYaml], domain: Domain, section: Section, *, repeatable: bool = False
) -> tuple[Parameter, ...]:
    """Return the parameters of `section`, reporting what is wrong with each.

    With `repeatable`, one may stand several times, always the same: once for each place of its.
    """
    found: dict[str, Parameter] = {}
    for number, entry in enumerate(written):
        here = section.part(number)
        here.report_unused("a parameter", ParameterYaml.not_used)
        if entry.name in found:
            if repeatable and entry in written[:number]:
                continue
            first = found[entry.name].where
            what = f"parameter {entry.name!r} is written twice; first at {first}"
            here.add("duplicate-parameter", what, "name")
        elif not entry.name.isidentifier():
            what = f"{entry.name!r} cannot name a parameter; use letters, digits and '_'"
            here.add("bad-name", what, "name")
        else:
            found[entry.name] = _ParameterBuilder(entry, domain, here).build()
    return tuple(found.values())


class _ParameterBuilder:
    def __init__(self, written: ParameterYaml, domain: Domain, section: Section) -> None:
        self._written, self._domain, self._section = written, domain, section

    def build(self) -> Parameter:
        written = self._written
        type_name = self._type()
        descriptor = PARAMETER_TYPES.get(type_name, CUSTOM)
        by_text = self._enum(type_name, descriptor)
        check_patterns(written.extraction_patterns, self._section.part("extraction_patterns"))
        parameter = Parameter(
            name=written.name,
            type=type_name,
            description=written.description,
            required=written.default is None if written.required is None else written.required,
            default=descriptor.normalize(written.default),
            enum=tuple(by_text.values()),
            choices=self._choices(type_name, by_text),
            example=descriptor.normalize(written.example),
            extraction_patterns=written.extraction_patterns,
            items=written.items,
            format=written.format,
            ge=self._one_spelling("ge", "minimum", "min_"),
            le=self._one_spelling("le", "maximum", "max_"),
            min_length=written.min_length,
            max_length=written.max_length,
            pattern=written.pattern,
            unit=written.unit,
            aliases=tuple(fold_word(alias) for alias in written.aliases),
            where=self._section.where(),
        )
        self._check_bounds(parameter)
        wrong = _default_problem(parameter) if written.default is not None else None
        if wrong is not None:
            value = quoted(parameter.default, self._section.document.from_environment)
            self._complain("bad-default", f"default {value} {wrong}", "default")
        return parameter

    def _complain(self, kind: str, what: str, key: str) -> None:
        self._section.add(kind, f"parameter {self._written.name!r}: {what}", key)

    def _type(self) -> str:
        name = canonical(self._written.type)
        own = (*self._domain.parameter_patterns, *self._domain.entities)
        if name not in PARAMETER_TYPES and name not in own:
            hint = did_you_mean(self._written.type, [*PARAMETER_TYPES, *own])
            what = f"unknown type {self._written.type!r}; {hint}"
            self._complain("unknown-parameter-type", what, "type")
        return name

    def _one_spelling(self, *spellings: str) -> Any:
        return one_spelling(self._written, self._section.part, *spellings)[0]

    def _enum(self, type_name: str, descriptor: ParameterType) -> dict[str, Any]:
        written: tuple[Any, ...] = self._one_spelling("enum", "allowed_values") or ()
        values = {str(value): descriptor.normalize(value) for value in written}
        for value in values.values():
            expected = descriptor.expected(value)
            if expected is not None:
                what = f"enum: expected {expected}, got {quoted(value)}"
                self._complain("bad-enum", what, "enum")
        entity = self._domain.entities.get(type_name)
        if not values and entity is not None:
            return {str(value): value for value in entity.values.values()}
        return values

    def _choices(self, type_name: str, by_text: dict[str, Any]) -> dict[str, Any]:
        """Return every word for an enum value; its own name wins over synonyms and vocabulary."""
        enum = tuple(by_text.values())
        choices: dict[str, Any] = {fold_word(value): value for value in enum}
        choices |= {fold_word(text): value for text, value in by_text.items()}
        for text, words in self._written.synonyms.items():
            if text not in by_text:
                what = f"synonyms for {text!r}, which is not in its enum; " + did_you_mean(
                    text, list(by_text)
                )
                self._complain("unknown-value", what, "synonyms")
                continue
            for word in words:
                other = choices.setdefault(fold_word(word), by_text[text])
                if other != by_text[text]:
                    what = f"{word!r} stands for both {str(other)!r} and {text!r}"
                    self._complain("ambiguous-synonym", what, "synonyms")
        entity = self._domain.entities.get(type_name)
        if entity is not None:
            named = {word: by_text.get(str(v)) for word, v in entity.values.items()}
            choices = {w: v for w, v in named.items() if v is not None} | choices
        return self._from_vocabulary(enum) | choices

    def _from_vocabulary(self, enum: tuple[Any, ...]) -> dict[str, Any]:
        found: dict[str, list[Any]] = {}
        for value in enum:
            for word in self._domain.synonyms.get(fold_word(value), ()):
                found.setdefault(word, []).append(value)
        return {word: values[0] for word, values in found.items() if len(values) == 1}

    def _check_bounds(self, parameter: Parameter) -> None:
        kind = parameter.descriptor.json_type
        for key, kinds in _ONLY_FOR.items():
            if getattr(parameter, key) is not None and kind not in kinds:
                what = f"{key} has no meaning for the type {parameter.type}"
                self._complain("bad-bounds", what, key)
        for low, high in (("ge", "le"), ("min_length", "max_length")):
            least, most = getattr(parameter, low), getattr(parameter, high)
            if least is not None and most is not None and least > most:
                self._complain("bad-bounds", f"{low} {least:g} is above {high} {most:g}", low)
        problem = None if parameter.pattern is None else pattern_problem(parameter.pattern)
        if problem is not None:
            pattern = shortened(parameter.pattern or "")
            self._complain("bad-pattern", f"pattern '{pattern}': {problem}", "pattern")


def _default_problem(parameter: Parameter) -> str | None:
    """Return why the default could not be given to the tool, or None when it could."""
    expected = parameter.descriptor.expected(parameter.default)
    if expected is not None:
        now = datetime.now().astimezone()
        told = parameter.relative_default(now)
        if told is not None:
            return parameter.constraints.problem(told)
        moment = parameter.descriptor.kind in ("date", "datetime", "time")
        return f"is not {expected}" + (", and no day or time told from today" if moment else "")
    if parameter.pattern and pattern_problem(parameter.pattern) is not None:
        return None  # the pattern is a problem already
    return parameter.constraints.problem(parameter.default)


# Runs of one kind of letter: nothing to go back to.
_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_VALUES: Final = frozenset({"value", "values"})


def name_words(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PART.findall(name))


def is_data(parameter: Parameter) -> bool:
    """Whether it takes JSON data: an object, or rows."""
    if parameter.descriptor.json_type == "object":
        return parameter.descriptor.kind != "rows_query"
    items = parameter.items or {}
    plain = items.get("type") in ("number", "integer", "string", "boolean") or items.get("enum")
    return parameter.descriptor.json_type == "array" and not plain


def has_data_beside(parameter: Parameter, template: Template) -> bool:
    """Whether another parameter of the template takes JSON data."""
    return any(is_data(other) for other in template.parameters if other is not parameter)


def is_compared_with_data(parameter: Parameter, template: Template) -> bool:
    """Whether it is text that stands for whatever a field of the data holds, as 20 does in
    "price > 20": then a number, or true and false, will do as well as text.
    """
    plain = parameter.type == "string" and not (
        parameter.enum or parameter.choices or parameter.format
    )
    named = not _VALUES.isdisjoint(name_words(parameter.name))
    return plain and named and has_data_beside(parameter, template)
