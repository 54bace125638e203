"""Filling a template without examples from a question."""

from collections.abc import Mapping, Sequence
from typing import Final

from server.extraction.described.amounts import fill_amounts
from server.extraction.described.chunks import Chunker
from server.extraction.described.dates import as_told, date_format
from server.extraction.described.english import FORMULAS
from server.extraction.described.enumerated import enumerated
from server.extraction.described.flags import find_flag
from server.extraction.described.listed import fill_number_lists, find_known
from server.extraction.described.numbers import places_aside
from server.extraction.described.texts import as_candidate, fill_words
from server.extraction.described.told import TemplateTold, Told
from server.extraction.lists import find_numbers
from server.extraction.plan import NUMERIC
from server.extraction.slot_filling import SlotFilling
from server.extraction.types import ValueCandidate

_TEXTS: Final = (
    "text",
    "strings",
    "field",
    "fields",
    "cell",
    "date_format",
    "written_date",
    "date",
)


def fill_described(filling: SlotFilling, told: TemplateTold) -> None:
    """Fill what JSON, patterns and entities have left open, the surest evidence first."""
    parameters = [told.parameters[one.key] for one in filling.plan.parameters]
    reading = filling.reading
    _claims(filling, parameters)
    filling.group("date")
    _write_dates(filling, parameters)
    chunker = Chunker(reading, filling.taken, told.vocabulary)
    _formulas(filling, parameters, chunker)
    lists = _open(filling, parameters, ("numbers", "records"))
    _keep(filling, lists, fill_number_lists(lists, reading, filling.taken))
    scattered = _open(filling, parameters, ("numbers",))
    if len(scattered) == 1 and scattered[0].required and not _wants_numbers(filling, parameters):
        found = find_numbers(scattered[0].plan, reading, filling.taken)
        filling.keep(scattered[0].plan, found)
    amounts = _open(filling, parameters, NUMERIC)
    _keep(filling, amounts, fill_amounts(amounts, reading, filling.taken))
    for one in _open(filling, parameters, ("boolean",)):
        found = find_flag(one, reading)
        if found is not None:
            filling.found[one.plan.key] = found
    filling.booleans()
    moments = [one.plan for one in _open(filling, parameters, ("time", "duration"))]
    filling.hand_out(moments, {plan.key: filling.scored(plan) for plan in moments})
    filling.fields()
    texts = _open(filling, parameters, _TEXTS)
    if texts:
        chunks = chunker.chunks()
        known = {(chunk.start, chunk.end) for chunk in chunks}
        named = chunker.phrases(one.phrases for one in texts)
        chunks += [chunk for chunk in named if (chunk.start, chunk.end) not in known]
        if any(one.plan.role == "strings" for one in texts):
            chunks += enumerated(chunks, reading.tokens)
        _keep(filling, texts, fill_words(texts, chunks, reading))
    _leave_aside(filling)


def _leave_aside(filling: SlotFilling) -> None:
    """Take what stands like a value and asks for nothing: two numbers, m^2, a 2x2 table."""
    for start, end in places_aside(filling.reading):
        if filling.taken.free(start, end):
            filling.taken.add(start, end)


def _wants_numbers(filling: SlotFilling, parameters: Sequence[Told]) -> bool:
    """Whether a single number has to be given as well."""
    return any(one.required for one in _open(filling, parameters, NUMERIC))


def _open(
    filling: SlotFilling, told: Sequence[Told], roles: Sequence[str] | frozenset[str]
) -> list[Told]:
    """The parameters of some roles that still have neither value nor problem."""
    return [
        one
        for one in told
        if one.plan.role in roles
        and one.plan.key not in filling.found
        and one.plan.key not in filling.problems
    ]


def _keep(filling: SlotFilling, told: Sequence[Told], found: Mapping[str, ValueCandidate]) -> None:
    for one in told:
        filling.keep(one.plan, found.get(one.plan.key))


def _claims(filling: SlotFilling, parameters: Sequence[Told]) -> None:
    """Values that parameters list, then addresses and currencies."""
    filling.group("claim")
    tokens = filling.reading.tokens
    for one in _open(filling, parameters, ("choice", "choices")):
        known = find_known(one, filling.reading, filling.taken)
        if not known:
            continue
        first, last = known[0][0], known[-1][1]
        if one.plan.role == "choice":
            first, last = known[0][:2]
            value = known[0][2]
        else:
            value = [value for _, _, value in known]
        for at in range(first, last) if one.plan.role == "choice" else [k[0] for k in known]:
            start, end = tokens.starts[at], tokens.ends[at]
            if filling.reading.clean[start].islower() and filling.taken.free(start, end):
                filling.taken.add(start, end)
        filling.found[one.plan.key] = ValueCandidate(
            tokens.starts[first], tokens.ends[last - 1], first, last, value, "vocabulary"
        )


def _formulas(filling: SlotFilling, parameters: Sequence[Told], chunker: Chunker) -> None:
    """Whole formulas, before their numbers go to anything else."""
    wanted = [
        one
        for one in _open(filling, parameters, ("text",))
        if not FORMULAS.isdisjoint(one.plan.name.words)
    ]
    for one, chunk in zip(wanted, chunker.formulas() if wanted else (), strict=False):
        filling.keep(one.plan, as_candidate(one, chunk))


def _write_dates(filling: SlotFilling, parameters: Sequence[Told]) -> None:
    for one in parameters:
        found = filling.found.get(one.plan.key)
        if found is not None and one.plan.role in ("date", "written_date"):
            value = as_told(found.value, date_format(one.description))
            filling.found[one.plan.key] = found._replace(value=value)
