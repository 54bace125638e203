"""A template made ready for extraction: compiled once, used for every question."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from server.core.tools import SourceKind
from server.errors import ConfigurationInvalid, Location, PluginInvalid, Problem
from server.extraction.order_words import comparison_words, order_words, sorting_words
from server.extraction.patterns import Pattern, Step, compile_steps
from server.extraction.value_kinds import (
    GROUPS,
    ORDERED,
    Group,
    Name,
    form_of_codes,
    looks_back,
    measures_of,
    rate_of,
    take_apart,
    takes_percent,
    value_kind,
)
from server.extraction.values import ValueChecker
from server.library.model import Domain, Parameter, Template
from server.library.parameter_types import ParameterType, ValueKind
from server.library.parameters import name_words
from server.library.sql_model import SqlExecution
from server.text.codes import CodeForm
from server.text.language import load_language
from server.text.phrases import PhraseTable

_ENGLISH: Final = load_language("en")
_COMMUTATIVE: Final = _ENGLISH.roles.commutative
_PERIOD_STARTS: Final = _ENGLISH.roles.period_starts
_PERIOD_ENDS: Final = _ENGLISH.roles.period_ends
_HOLLOW: Final = (
    _ENGLISH.group("hollow_names")
    | _ENGLISH.group("number_names")
    | _ENGLISH.numbers.ordinals.keys()
    | _ENGLISH.numbers.words.keys()
)

NUMERIC: Final = frozenset({"number", "percentage", "money"})


DataWords = Mapping[str, Sequence[str]]
"""By parameter, the values that the data have for it."""
_NO_WORDS: Final[DataWords] = {}

Bound = Literal["min", "max", ""]


@dataclass(frozen=True, slots=True)
class DomainType:
    patterns: tuple[Pattern, ...]
    steps: tuple[Step, ...]
    source: SourceKind = "domain_pattern"


_HOUR: Final = "hour"


@dataclass(frozen=True, slots=True)
class ParameterPlan:
    key: str
    required: bool
    parameter: Parameter
    role: ValueKind
    name: Name
    patterns: tuple[Pattern, ...]
    domain_type: DomainType | None
    choices: PhraseTable
    """Words for known values: all that there are, of a listed one; else those that data have."""
    checker: ValueChecker
    alike: str
    """The same for parameters of a template whose values are found in the same way."""
    measures: frozenset[str]
    """Units of measure that it is given in, going by its name and description."""
    clock: bool
    """Whether a whole number is an hour of the day: its name is hour, and not hours."""
    rate: str
    """The unit of time that a number is per, or `any`; empty where it is per none."""
    percent: bool
    """Whether a number marked as a percentage will do."""
    orders: bool
    """Whether it says how a list is put in order; one word may say all of that: cheapest."""
    looks_back: str
    """The unit of time that a number counts back from today in; empty where it does not."""
    bound: Bound
    """Which end of a range a number is, where it is one: the other end cannot be its value."""
    searches: bool
    """Whether it is looked for in a text of the data, by LIKE."""
    form: CodeForm | None = None
    """What a code is made of, where its author shows one."""
    other_forms: tuple[CodeForm, ...] = ()
    """What the library's other codes are made of."""


@dataclass(frozen=True, slots=True)
class TemplatePlan:
    template: Template
    parameters: tuple[ParameterPlan, ...]
    groups: Mapping[Group, tuple[ParameterPlan, ...]]
    counts_time: bool
    """Whether a span of time is an argument of its own here, as in "add 3 days to"."""
    period: tuple[ParameterPlan | None, ParameterPlan | None]
    """The days that a stretch of days begins and ends with, where the template filters by it."""
    interchangeable: frozenset[str]
    """Parameters between which it makes no difference whose a value is: the operands of a sum."""


class Planner:
    def __init__(self, domain: Domain) -> None:
        """Compile the domain's patterns, or raise `ConfigurationInvalid`."""
        self._domain = domain
        self._types: dict[str, DomainType] = {}
        self._forms: dict[CodeForm, set[str]] = {}
        problems: list[Problem] = []
        for name, written in domain.parameter_patterns.items():
            try:
                steps = compile_steps(written.normalizers)
            except PluginInvalid as unusable:
                where = Location(f"domain {domain.name}")
                problems.append(Problem(str(unusable), where, "unknown-normalizer"))
                continue
            patterns = tuple(Pattern(source) for source in written.patterns)
            self._types[name] = DomainType(patterns, steps)
        if problems:
            raise ConfigurationInvalid(problems)

    def learn_codes(self, templates: Iterable[Template]) -> None:
        """Note the forms of codes of a library, so that none of them is taken for another one."""
        for template in templates:
            for parameter in template.parameters:
                form = form_of_codes(parameter) if parameter.type == "string" else None
                if form is not None and form.is_telling and not form.is_word:
                    self._forms.setdefault(form, set()).add(parameter.name)

    def plan(self, template: Template, values: DataWords = _NO_WORDS) -> TemplatePlan:
        """Compile a template; `values` are those that the data have for its parameters."""
        parameters = tuple(
            self._parameter(p, template, values.get(p.name, ())) for p in template.parameters
        )
        groups = {
            group: tuple(plan for plan in parameters if GROUPS[plan.role] == group)
            for group in GROUPS.values()
        }
        counts = any(
            plan.role == "duration" or (plan.name.unit and not plan.clock and not plan.looks_back)
            for plan in groups["amount"]
        )
        alike = _interchangeable(template, groups)
        return TemplatePlan(template, parameters, groups, counts, _period(template, groups), alike)

    def _parameter(
        self, parameter: Parameter, template: Template, values: Sequence[str]
    ) -> ParameterPlan:
        name = take_apart(parameter.name, self._other_words(parameter))
        role = self._role(parameter, name, template)
        # A type of the domain with listed values and patterns takes both.
        open_ended = parameter.type in self._types and parameter.type in self._domain.entities
        checker = ValueChecker(parameter, closed=not open_ended, is_numeric=role in NUMERIC)
        as_any = checker.takes_anything and GROUPS[role] == "date"
        return ParameterPlan(
            key=parameter.name,
            required=parameter.required,
            parameter=parameter,
            role=role,
            name=name,
            patterns=tuple(Pattern(p, parameter.name) for p in parameter.extraction_patterns),
            domain_type=self._types.get(parameter.type) or _type_patterns(parameter.descriptor),
            choices=PhraseTable(
                self.data_words(values) if role == "text" else self._choices(parameter)
            ),
            checker=checker,
            alike=f"{role} {parameter.type}" if as_any else parameter.name,
            measures=measures_of(parameter, name) if role in NUMERIC else frozenset(),
            clock=parameter.type == "integer" and name.unit == name.words[-1] == _HOUR,
            rate=rate_of(parameter, name) if role in NUMERIC else "",
            percent=takes_percent(parameter, name),
            orders=bool(parameter.enum) and not ORDERED.isdisjoint(name.words),
            looks_back=looks_back(parameter, name) if role == "number" else "",
            bound=_bound(name) if role in NUMERIC else "",
            searches=role == "text" and _searches(parameter, template),
            form=form_of_codes(parameter) if role == "code" else None,
            other_forms=self._other_forms(parameter) if role in ("code", "text") else (),
        )

    def roles(self, template: Template) -> Iterator[ValueKind]:
        """How the values of each parameter are recognised, without compiling the template."""
        for one in template.parameters:
            yield self._role(one, take_apart(one.name, self._other_words(one)), template)

    def _role(self, parameter: Parameter, name: Name, template: Template) -> ValueKind:
        return value_kind(parameter, name, template, self._domain)

    def _other_words(self, parameter: Parameter) -> list[str]:
        """Other words for what a parameter is, its aliases among them."""
        name, entities = parameter.name.lower(), self._domain.entities
        words = {name, *name.split("_"), parameter.type}
        found = [alias.replace("_", " ") for alias in parameter.aliases]
        found += [other for word in words for other in self._domain.synonyms.get(word, ())]
        return found + [o for word in words & entities.keys() for o in entities[word].synonyms]

    def _order_words(self, parameter: Parameter) -> Mapping[str, object]:
        """Words for choices that are comparisons, orders, or what a list is sorted by."""
        codes = (self._domain.response.default_language,)
        about = (parameter.name, parameter.description)
        return (
            comparison_words(parameter.enum, codes)
            or order_words(parameter.enum, about, codes)
            or sorting_words(name_words(parameter.name), parameter.enum, codes)
        )

    def data_words(self, values: Sequence[str]) -> dict[str, object]:
        """Words for values of the data, with the domain's synonyms; a value's own name wins."""
        own: dict[str, object] = {value: value for value in values}
        named = {value.lower().replace("_", " ") for value in values}
        others: dict[str, object] = {}
        for value in values:
            for word in (value.lower(), value.lower().replace("_", " ")):
                for synonym in self._domain.synonyms.get(word, ()):
                    if synonym not in named:
                        others.setdefault(synonym, value)
        return own | others

    def _other_forms(self, parameter: Parameter) -> tuple[CodeForm, ...]:
        return tuple(form for form, names in self._forms.items() if parameter.name not in names)

    def _choices(self, parameter: Parameter) -> dict[str, object]:
        items = parameter.items or {}
        values = {str(value): value for value in (*parameter.enum, *items.get("enum", ()))}
        choices: dict[str, object] = {**values, **parameter.choices}
        if parameter.type == "string" and parameter.enum:
            spoken = self._order_words(parameter)
            choices = {**{word: v for word, v in spoken.items() if word not in choices}, **choices}
        entity = self._domain.entities.get(parameter.type)
        if entity is None and parameter.type == "string" and not choices:
            entity = self._domain.entities.get(parameter.name)
        if entity is not None:
            choices = {**entity.values, **choices}
        if not parameter.choices:  # else the library has looked up the vocabulary
            for word, value in list(choices.items()):
                for synonym in self._domain.synonyms.get(word.lower(), ()):
                    choices.setdefault(synonym, value)
        return choices


def _searches(parameter: Parameter, template: Template) -> bool:
    execution = template.execution
    return isinstance(execution, SqlExecution) and parameter.name in execution.sql.searched


def _bound(name: Name) -> Bound:
    ends = {topic for topic in name.topics if topic in ("min", "max")}
    return "min" if ends == {"min"} else "max" if ends == {"max"} else ""


def _period(
    template: Template, groups: Mapping[Group, tuple[ParameterPlan, ...]]
) -> tuple[ParameterPlan | None, ParameterPlan | None]:
    """The first and the last day that a template asks its data for, by their names.

    What is done with a function may begin and end with any two days.
    """
    if template.kind == "function" or template.effect != "read":
        return None, None
    starts: list[ParameterPlan] = []
    ends: list[ParameterPlan] = []
    for one in groups["date"]:
        words = {*one.name.words}
        if words & _PERIOD_ENDS:
            ends.append(one)
        elif words & _PERIOD_STARTS:
            starts.append(one)
    if len(starts) > 1 or len(ends) > 1:
        return None, None
    return next(iter(starts), None), next(iter(ends), None)


def _interchangeable(
    template: Template, groups: Mapping[Group, tuple[ParameterPlan, ...]]
) -> frozenset[str]:
    named = f"{template.execution.operation} {template.id} {template.function_name}"
    words = {word for part in named.split() for word in name_words(part)}
    if words.isdisjoint(_COMMUTATIVE):
        return frozenset()
    return frozenset(
        one.key
        for plans in groups.values()
        if len(plans) > 1 and len({_said(one.key) for one in plans}) == 1
        for one in plans
    )


def _said(name: str) -> tuple[str, ...]:
    """What a name says, beside the letter or number that tells it from its like."""
    words = name_words(name)
    return tuple(w for w in words if len(w) > 1 and not w.isdigit() and w not in _HOLLOW)


def _type_patterns(descriptor: ParameterType) -> DomainType | None:
    if not descriptor.patterns:
        return None
    step: Step = (descriptor.name, descriptor.read, frozenset())
    return DomainType(tuple(map(Pattern, descriptor.patterns)), (step,), "recognizer")
