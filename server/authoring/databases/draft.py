"""A database as the plain data of a domain, its templates and its questions."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from server.authoring.databases.data import data_of
from server.authoring.databases.families import templates_of
from server.authoring.databases.family import DraftTemplate
from server.authoring.databases.survey import LookedAt, survey_database
from server.authoring.databases.things import Thing, things_of
from server.authoring.drafts import Draft, escaped
from server.authoring.naming import unique
from server.authoring.phrases import phrases, plural, said
from server.core.suggestions import shortened
from server.errors import RequestInvalid, ToolError
from server.library.sql_text import SqlInvalid, parse_sql
from server.tools.sql.database import Database
from server.tools.sql.statement import driver_statement

_TRY_S: Final = 20.0
_MOST_TRIES: Final = 24
_DAYS: Final[Mapping[str, str]] = {"start_date": "2020-01-01", "end_date": "2030-12-31"}
_MOST_QUESTIONS: Final = 2
_MOST_TEMPLATES: Final = 60


async def draft_from_database(database: Database, name: str, looked_at: LookedAt) -> Draft:
    """Look at a database, write a library, and try every statement of it once.

    Raises:
        RequestInvalid: a table or column that is named is not there, or there is none.
        ToolFailed, ToolTimedOut: the database cannot be reached, or not in time.
    """
    survey = await survey_database(database, looked_at)
    if not survey.tables:
        raise RequestInvalid(f"{database.address.shown} holds no table to ask about")
    things = things_of(survey)
    drafted = _each_once(templates_of(things, survey.kind))
    tried, notes = await _tried(_most_asked(drafted), database)
    templates = [_template(template) for template in tried]
    about = ", ".join(thing.nouns for thing in things if not thing.joins_two)
    domain = {
        "domain": {"name": name, "version": "1.0"},
        "description": shortened(f"Questions about {about}", 160),
        "vocabulary": _vocabulary(things),
        "data": data_of(things),
    }
    return Draft(
        name=name,
        domain=escaped(domain),
        templates=escaped({"templates": templates}),
        questions=escaped({"questions": _questions(tried)}),
        notes=(*survey.notes, *notes),
        kind="database",
    )


def _each_once(drafted: Iterator[DraftTemplate]) -> list[DraftTemplate]:
    """The templates with ids of their own; what would ask for two of them asks for none."""
    found: dict[str, DraftTemplate] = {}
    for template in drafted:
        identity = unique(template.id, found)
        found[identity] = replace(template, id=identity)
    counts = Counter(e.ask.lower() for t in found.values() for e in t.examples)
    kept = []
    for template in found.values():
        alone = tuple(e for e in template.examples if counts[e.ask.lower()] == 1)
        if len(alone) >= 2:
            kept.append(replace(template, examples=alone))
    return kept


def _most_asked(drafted: Sequence[DraftTemplate]) -> Sequence[DraftTemplate]:
    """No more templates than an author reads through: lists and amounts before what is rarer.

    What the others would answer is read by the data.
    """
    last = sorted(drafted, key=lambda template: template.rank)[_MOST_TEMPLATES:]
    dropped = {template.id for template in last}
    return [template for template in drafted if template.id not in dropped]


async def _tried(
    drafted: Sequence[DraftTemplate], database: Database
) -> tuple[list[DraftTemplate], list[str]]:
    """The templates whose statements run with the values of their examples, and what does not."""
    works: list[DraftTemplate] = []
    notes: list[str] = []
    for template in drafted:
        problem = await _problem(template, database)
        if problem:
            notes.append(f"{template.id} is left out: {problem}")
        else:
            works.append(template)
    return works, notes


async def _problem(template: DraftTemplate, database: Database) -> str:
    try:
        sql = parse_sql(template.sql)
    except SqlInvalid as wrong:
        return str(wrong)
    defaults = {p["name"]: p["default"] for p in template.parameters if "default" in p}
    optional = {p["name"]: _DAYS[p["name"]] for p in template.parameters if p["name"] in _DAYS}
    seen: set[Any] = set()
    for example in (*template.examples, *template.questions):
        given = {n: v for n, v in example.arguments.items() if v is not None}
        arguments = {**defaults, **optional, **given}
        filled = sql.fill(arguments)
        if filled in seen or len(seen) == _MOST_TRIES:
            continue
        seen.add(filled)
        statement = driver_statement(filled, arguments, database.address.kind)
        deadline = asyncio.get_running_loop().time() + _TRY_S
        try:
            async with database.rows(statement, deadline=deadline) as rows:
                await rows.fetch(1)
        except ToolError as failed:
            return str(failed)
    return ""


def _template(template: DraftTemplate) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": template.id,
        "description": template.description,
        "nl_examples": [example.ask for example in template.examples],
        "counter_examples": list(template.counters),
        "parameters": [_written(parameter) for parameter in template.parameters],
        "sql": template.sql + "\n",
        "result_format": template.shape,
    }
    return {name: part for name, part in data.items() if part}


def _written(parameter: Mapping[str, Any]) -> dict[str, Any]:
    order = ("name", "type", "description", "required", "default", "enum", "synonyms", "aliases")
    first = {key: parameter[key] for key in order if parameter.get(key) not in (None, {}, [])}
    return first | {key: value for key, value in parameter.items() if key not in order}


def _questions(drafted: Sequence[DraftTemplate]) -> list[dict[str, Any]]:
    taken = {e.ask.lower() for template in drafted for e in template.examples}
    counts = Counter(q.ask.lower() for template in drafted for q in template.questions)
    questions: list[dict[str, Any]] = []
    for template in drafted:
        fresh = [
            q
            for q in template.questions
            if q.ask.lower() not in taken and counts[q.ask.lower()] == 1
        ]
        for question in fresh[:_MOST_QUESTIONS]:
            given = dict(question.arguments)
            arguments = {"arguments": given} if given else {}
            questions.append({"ask": question.ask, "template": template.id, **arguments})
    return questions + [{"ask": ask, "template": None} for ask in phrases().off_topic]


def _vocabulary(things: Sequence[Thing]) -> dict[str, Any]:
    """Other words for the things, and for values that are written as no one says them."""
    nouns = {
        thing.noun: [*dict.fromkeys((*thing.also, *map(plural, thing.also)))]
        for thing in things
        if thing.also
    }
    values: dict[str, list[str]] = {}
    for thing in things:
        for prop in thing.of_role("category"):
            for value in prop.column.samples:
                spoken = said(value) if isinstance(value, str) else ""
                if isinstance(value, str) and spoken and spoken.lower() != value.lower():
                    values[value] = [spoken, *([plural(spoken)] if " " in spoken else [])]
    found = {"entity_synonyms": nouns, "value_synonyms": values}
    return {name: words for name, words in found.items() if words}
