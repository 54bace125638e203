"""What an operation is about, in the words of its document: a noun, a verb, whose it is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, Literal

from server.authoring.clauses import is_quality, is_unspoken
from server.authoring.naming import words
from server.authoring.operations import ApiOperation
from server.authoring.phrases import (
    bare,
    is_plural,
    name_words,
    phrases,
    plural,
    singular,
    with_article,
)
from server.authoring.schema import ApiParameter
from server.authoring.values import describes
from server.text.codes import form_of
from server.text.language import load_language

Kind = Literal["list", "get", "part", "about", "create", "update", "set", "delete", "act"]

_ARTICLES: Final = frozenset(("a", "an", "the", "all", "its", "their", "some", "this", "each"))
_OWN: Final = ("my", "our")
_SPANS: Final = ("day", "date", "week", "month", "year", "period")
_VERSION: Final = re.compile(r"(?:api|rest|v\d+(?:\.\d+)*)")


@dataclass(frozen=True, slots=True)
class Subject:
    """What there is to ask for. `parameters` are those that a question may give."""

    kind: Kind
    noun: str
    """One of what it is about."""
    parameters: tuple[ApiParameter, ...]
    names: tuple[str, ...] = ()
    """Other nouns for the same."""
    verb: str = ""
    do: str = ""
    """Its command, with the parameters that it names in braces: `assign {driver_id} to {trip}`."""
    seen: str = ""
    """What is seen, of one that reads, where its summary says so: `the profile of {guest_id}`."""
    part: str = ""
    """What of the thing, or which of its things."""
    owner: str = ""
    """The parameter that says which one, or whose."""
    tells: tuple[tuple[str, str], ...] = ()
    """Names and types of what the result says of it."""
    tells_whole: tuple[tuple[str, str], ...] = ()
    """The same of all that a list has, and of what it belongs to."""
    is_described: bool = True
    """Whether its document says what comes back."""
    tail: str = ""
    """What its path ends with."""
    done: tuple[str, ...] = ()
    """What can be done to such a thing by other operations."""
    by_id: str = ""
    """The verb that its id begins with, where that is another one."""
    references: Mapping[str, str] = field(default_factory=dict)
    """Parameters that are the number or the code of something, and the noun of that."""


@dataclass(slots=True)
class Nouns:
    """What the document calls its things: by path, and by the parameter that says which one."""

    by_path: dict[str, str] = field(default_factory=dict)
    by_parameter: dict[str, str] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    """What the operation that adds one of them calls it, by the path of the list."""
    collected: set[str] = field(default_factory=set)
    """Things that stand in lists of their own."""

    @classmethod
    def of(cls, operations: Iterable[ApiOperation]) -> "Nouns":
        nouns = cls()
        all_operations = list(operations)
        for operation in all_operations:
            if operation.method == "GET" and operation.response.many:
                named = _object_of(_summary(operation), reading=True)
                path = _statics(operation.path)
                if path and named and is_plural(named):
                    own = _noun(path[-1])
                    if own in phrases().grammar.uncountable or singular(named).endswith(own):
                        nouns.by_path[operation.path] = singular(named)
        for operation in all_operations:
            if operation.method == "POST" and _verb_of(_summary(operation)):
                named = _object_of(_summary(operation), reading=False)
                adds = _verb_of(_summary(operation)) in phrases().adding
                if named and adds and not is_verb(_statics(operation.path)[-1]):
                    nouns.called.setdefault(operation.path.rstrip("/"), singular(named))
        nouns.collected = {_noun(o.path.rpartition("/")[2]) for o in all_operations}
        for operation in all_operations:
            steps = operation.path.split("/")
            for at, step in enumerate(steps):
                if step.startswith("{") and at and not steps[at - 1].startswith("{"):
                    name = step.strip("{}")
                    noun = nouns.of_path("/".join(steps[:at]))
                    noun = nouns.owner_of(name, noun) or noun
                    nouns.by_parameter.setdefault(name, _named(name, noun))
        return nouns

    def owner_of(self, name: str, noun: str) -> str:
        """What a parameter is the number of, where that is another thing than its path has."""
        telling, identifier = _without_identifier(name)
        is_other = identifier and telling in self.collected and noun in self.collected
        return telling if is_other and telling not in noun.split(" ") else ""

    def of_path(self, path: str) -> str:
        statics = _statics(path)
        return self.by_path.get(path) or (_noun(statics[-1]) if statics else "")

    def of_parameter(self, parameter: ApiParameter, operation: ApiOperation) -> str | None:
        """What a parameter is the number or the code of; None where it is another value."""
        if parameter.enum or parameter.type not in ("string", "integer"):
            return None
        steps = operation.path.split("/")
        own = "{" + parameter.name + "}"
        if own in steps:
            at = steps.index(own)
            if _is_period(parameter):
                return None
            if at and steps[at - 1].startswith("{"):
                return _without_identifier(parameter.name)[0]
            noun = self.of_path("/".join(steps[:at]))
            return self.owner_of(parameter.name, noun) or _named(parameter.name, noun)
        telling, identifier = _without_identifier(parameter.name)
        if not telling:
            return None if identifier == "number" else self.by_parameter.get(parameter.name)
        known = {*self.by_path.values(), *self.by_parameter.values()}
        if identifier == "code" and telling not in known and not _of_known(telling, known):
            return None
        is_number = parameter.type == "integer" and (identifier or telling in known)
        if is_number or identifier not in ("", "number"):
            longer = [noun for noun in known if noun.endswith(f" {telling}")]
            return longer[0] if len(longer) == 1 and telling not in known else telling
        return None


def subject_of(operation: ApiOperation, nouns: Nouns) -> Subject:
    """Return what an operation is about."""
    summary = _summary(operation)
    reading = operation.method == "GET"
    if summary.split(" ")[0] in _OWN and not operation.response.fields:
        # Nobody asks for all of what is theirs as a list of such things.
        operation = replace(operation, response=replace(operation.response, many=False))
    parameters = tuple(
        p
        for p in operation.parameters
        if p.required or (p.place != "header" and not is_unspoken(p))
    )
    parameters = tuple(replace(p, is_code=_is_code(p)) for p in parameters)
    references = {
        p.name: noun
        for p in parameters
        if (noun := nouns.of_parameter(p, operation)) is not None and noun
    }
    steps = [step for step in operation.path.split("/") if step]
    in_path = [s.strip("{}") for s in reversed(steps) if s.startswith("{")]
    owner = next((name for name in in_path if name in references), "")
    if operation.method == "GET" and not in_path:
        whose = [p.name for p in parameters if p.required and p.name in references]
        owner = whose[0] if len(whose) == 1 else ""
    statics = _statics(operation.path)
    last = statics[-1] if statics else words(operation.id)
    ends_in_parameter = bool(steps) and steps[-1].startswith("{")
    if ends_in_parameter and owner and operation.method == "GET":
        by_path = nouns.of_path("/".join(operation.path.split("/")[:-1]))
        ends_in_parameter = steps[-1] == f"{{{owner}}}" and not nouns.owner_of(owner, by_path)
    tail = phrases().separable.get(words(last).replace(" ", ""), words(last))
    many = operation.method == "GET" and operation.response.many
    by_path = nouns.of_path(operation.path.rstrip("/"))
    noun = (references.get(owner, "") if ends_in_parameter and not many else by_path) or _noun(last)
    if operation.method == "DELETE" and owner and _verb_of(summary):
        deleted = _object_of(summary, reading=False)
        if deleted and not {*deleted.split(" ")} & {*references[owner].split(" ")}:
            references[owner] = singular(deleted)  # a hold that is called a reservation
    called = plural(nouns.called.get(operation.path.rstrip("/"), ""))
    verb = _verb_of(summary, reading=reading)
    named = _object_of(summary, reading=reading)
    if noun in phrases().collections and operation.response.thing:
        noun = _thing_of(operation).removeprefix(f"{noun} ") or noun
    kind = _kind(operation, ends_in_parameter=ends_in_parameter, owner=owner, tail=tail)
    if kind in ("update", "set") and verb and verb not in phrases().changing and owner:
        kind = "act"
    if kind == "act" and owner:
        noun = references[owner]
        verb = tail if is_verb(tail) else verb
    if kind in ("list", "part", "about") and not verb and named and _is_odd(noun):
        noun = singular(named)
    if noun.split(" ")[-1] in phrases().people:
        parameters = tuple(
            replace(p, others=p.others or phrases().person_names)
            if p.name in phrases().own_names
            else p
            for p in parameters
        )
    if kind == "act" and not owner and is_verb(tail) and not verb:
        verb = tail
    names = tuple(
        dict.fromkeys(
            singular(each)
            for each in (named, _noun(last), _thing_of(operation), called)
            if kind == "list" and each and is_plural(plural(each)) and singular(each) != noun
            and not is_quality(each)
            and (is_plural(each) or each != named)
        )
    )  # fmt: skip
    verb = verb or phrases().commands[kind]
    own = summary if _verb_of(summary) else ""
    own = re.sub(r"\s+(?:to|for|on) (?:another|an other|a different|some other)\b.*$", "", own)
    if reading:
        do = ""
    elif own and kind == "create" and own.split(" ", 1)[1].lower() == noun:
        do = f"{verb} {with_article(noun)}"
    elif own:
        do = _without_parameters(_anchored(own, references, operation), parameters)
    elif kind in ("act", "delete", "update", "set", "part") and owner:
        do = f"{verb} {{{owner}}}"
    else:
        do = f"{verb} {with_article(noun)}" if kind == "create" else verb
    split = _split_command(summary, references[owner]) if owner and not reading else None
    if split is not None and kind in ("act", "set", "update"):
        verb = verb if kind == "act" and is_verb(tail) else split[0]
        do = f"{split[0]} {{{owner}}} {_anchored_end(split[1], references, operation)}"
    if not reading and owner and f"{{{owner}}}" not in do:
        do = f"{do} for {{{owner}}}"
    seen = ""
    if reading and summary:
        said = summary.partition(" ")[2] if _verb_of(summary, reading=True) else summary
        said = re.split(r" by (?:its |their |name|e?-?mail|id\b)", said)[0]
        anchored = _anchored(said, references, operation)
        if not owner or f"{{{owner}}}" in anchored:
            seen = anchored
    if seen:
        seen = re.sub(rf"\s+(?:on|for|in|of) an? (?:{'|'.join(_SPANS)})$", "", seen)
    part = tail if kind in ("part", "about") else ""
    if kind in ("part", "about") and named and singular(named) not in references.values():
        part = named
    if kind == "part" and in_path and steps[-1].startswith("{"):
        part = singular(part)
    by_id = _verb_by_id(operation, noun, part)
    if reading and asks(words(operation.id)):
        seen, by_id = seen if asks(seen) else words(operation.id), words(operation.id)
    return Subject(
        kind=kind,
        noun=noun,
        parameters=parameters,
        names=names,
        verb=verb,
        do=do,
        seen=seen,
        part=part,
        is_described=bool(operation.response.fields),
        tail=tail,
        owner=owner,
        references=references,
        by_id=by_id if by_id not in (verb, seen) else "",
        tells=operation.response.tells if kind == "get" or operation.response.fields else (),
        tells_whole=operation.response.tells_whole if reading else (),
    )


def with_deeds(subjects: Mapping[str, Subject]) -> dict[str, Subject]:
    """The subjects, those that show a thing with what others do to it: is it closed?"""
    done: dict[str, list[str]] = {}
    for each in subjects.values():
        if each.kind == "act" and each.owner and each.do == f"{each.verb} {{{each.owner}}}":
            done.setdefault(each.references[each.owner], []).append(each.verb)
    return {
        name: replace(each, done=tuple(done.get(each.noun, ()))) if each.kind == "get" else each
        for name, each in subjects.items()
    }


def _split_command(summary: str, noun: str) -> tuple[str, str] | None:
    """Verb and rest of a command that leaves out what it is done to: put, and on hold."""
    first, _, rest = summary.partition(" ")
    following = rest.split(" ")
    is_split = len(following) > 1 and following[0] in phrases().prepositions
    return (first, rest) if is_split and is_verb(first) and noun not in rest else None


def _anchored_end(rest: str, references: Mapping[str, str], operation: ApiOperation) -> str:
    for parameter in operation.parameters:
        noun = references.get(parameter.name)
        if noun and parameter.required and rest.endswith(f" {noun}"):
            return f"{rest.removesuffix(noun)}{{{parameter.name}}}"
    return rest


def _verb_by_id(operation: ApiOperation, noun: str, part: str) -> str:
    """The verb that an operation's id begins with, where it says more than the method does."""
    first, *rest = name_words(operation.id)
    if not rest or not is_verb(first) or first in phrases().plain_verbs:
        return ""
    said = {*map(singular, (*noun.split(" "), *part.split(" ")))}
    return first if said & {*rest, *map(singular, rest)} else ""


def description_of(subject: Subject) -> str:
    """What the operation does, where its document does not say it."""
    text = subject.do or subject.seen
    if not text:
        what = plural(subject.noun) if subject.kind == "list" else subject.part or subject.noun
        text = f"{phrases().commands[subject.kind]} {what}"
        if subject.owner and subject.kind in ("list", "part"):
            text += f" of {{{subject.owner}}}"
    for name, noun in subject.references.items():
        text = text.replace(f"{{{name}}}", with_article(noun))
    return text[:1].upper() + text[1:]


def is_verb(word: str) -> bool:
    return word.lower() in _verbs()


def asks(summary: str) -> bool:
    """Whether a summary is a question itself: who is absent."""
    return summary.split(" ")[0].lower() in phrases().question_words


@cache
def _verbs() -> frozenset[str]:
    known = {verb for group in load_language("en").actions for verb in group}
    known |= {*phrases().alike, *phrases().commands.values(), *phrases().separable.values()}
    return frozenset(known)


def _kind(operation: ApiOperation, *, ends_in_parameter: bool, owner: str, tail: str) -> Kind:
    method, body = operation.method, [p for p in operation.parameters if p.place != "path"]
    if method == "GET":
        names_one = ends_in_parameter and (not owner or bool(_without_identifier(owner)[1]))
        if operation.response.many and not names_one:
            return "list"
        if ends_in_parameter:
            return "get" if owner else "part"
        return "part" if owner else "about"
    if method == "DELETE":
        return "delete"
    if method == "POST":
        if ends_in_parameter:
            return "act" if not body else "update"
        if (owner and not is_plural(tail)) or is_verb(tail):
            return "act"
        return "create"
    if not ends_in_parameter and owner:
        choices = [p for p in body if p.enum or p.type == "boolean"]
        return "set" if len(body) == 1 and choices else "update" if not _refers(body) else "act"
    return "update" if body else "act"


def _is_period(parameter: ApiParameter) -> bool:
    """Whether it is a month or a day, and not the number of a thing."""
    return bool(parameter.pattern) and any(
        describes(parameter.pattern, day) for day in (phrases().dates[0], phrases().dates[0][:7])
    )


def _is_code(parameter: ApiParameter) -> bool:
    """Whether a text that may be any is known by its digits."""
    if parameter.type != "string" or parameter.enum or parameter.pattern:
        return False
    ends = _without_identifier(parameter.name)[1]
    if isinstance(parameter.example, str) and parameter.example:
        form = form_of(parameter.example)
        return form is not None and (bool(ends) or not form.is_word)
    return bool(ends) and ends not in ("slug", "key", "ref", "reference")


def _of_known(telling: str, known: Iterable[str]) -> bool:
    """Whether a name ends with what the document has: from venue."""
    return any(telling.endswith(f" {noun}") or noun.endswith(f" {telling}") for noun in known)


def _refers(parameters: Sequence[ApiParameter]) -> bool:
    return any(_without_identifier(p.name)[1] for p in parameters)


def _thing_of(operation: ApiOperation) -> str:
    """What the document calls what a list has: stock level, of StockLevel."""
    spoken = name_words(operation.response.thing) if operation.response.thing else []
    kept = [w for w in spoken if w not in phrases().schema_endings]
    return " ".join(kept) if kept and all(word.isalpha() for word in kept) else ""


def _statics(path: str) -> list[str]:
    steps = [step for step in path.split("/") if step and not step.startswith("{")]
    return [step for step in steps if not _VERSION.fullmatch(step.lower())] or steps


def _noun(segment: str) -> str:
    return singular(words(segment))


def _is_odd(noun: str) -> bool:
    return noun.split(" ")[-1] in phrases().grammar.uncountable


def _without_identifier(name: str) -> tuple[str, str]:
    """What a name is the number of, and the word that says so: driver and id."""
    spoken = [w for w in name_words(name) if w != "value"]
    ends = {*phrases().identifiers, "name"} - {"room"}
    if spoken and spoken[-1] in ends - {"name"}:
        return " ".join(spoken[:-1]), spoken[-1]
    return " ".join(spoken), ""


def _named(name: str, noun: str) -> str:
    """The noun of a thing by its path and by its parameter: fuel card, of card_number."""
    telling, _ = _without_identifier(name)
    if telling.endswith(" name") and not noun.endswith(telling.removesuffix(" name")):
        return telling.removesuffix(" name")
    telling = telling.removesuffix(" name")
    if not telling or not noun or noun.endswith(telling):
        return noun or telling
    return telling if _is_odd(noun) else noun


def _summary(operation: ApiOperation) -> str:
    """The summary, as it would be said in a sentence."""
    text = operation.summary or operation.description
    text = re.split(r"[.;:(,]| - | – ", text)[0].strip().replace("`", "")
    if not text:
        return ""
    first, *rest = text.split(" ")
    if all(word[:1].isupper() for word in rest):
        rest = [word if word.isupper() and len(word) > 1 else word.lower() for word in rest]
    lowered = first if first.isupper() and len(first) > 1 else first.lower()
    verb = bare(lowered)
    if verb != lowered and rest and is_verb(verb):
        reads = operation.method == "GET"
        if verb in phrases().seeing or (not reads and not is_plural_noun(lowered, rest[0])):
            lowered = verb
    elif verb != lowered and operation.method != "GET" and rest[:1] and rest[0] in _ARTICLES:
        lowered = verb  # calibrates a sensor
    return " ".join([lowered, *rest])


def is_plural_noun(word: str, following: str) -> bool:
    """Whether what looks like a verb with its ending is a noun: reviews of, for reviews."""
    return is_plural(word) and following.lower() in phrases().prepositions


def _verb_of(summary: str, *, reading: bool = False) -> str:
    first, _, rest = summary.partition(" ")
    known = phrases().seeing if reading else _verbs()
    orders = not reading and rest.split(" ")[0] in _ARTICLES and first not in _ARTICLES
    if not rest or first == "new" or not (first in known or orders):
        return ""
    return "" if rest.split(" ")[0] in phrases().prepositions else first


def _object_of(summary: str, *, reading: bool) -> str:
    """The noun phrase that a summary begins with, or that stands after its verb."""
    rest = summary.partition(" ")[2] if _verb_of(summary, reading=reading) else summary
    if asks(rest):
        return ""
    found: list[str] = []
    for word in rest.split(" "):
        plain = word.lower().strip("'")
        if plain in phrases().prepositions or not re.fullmatch(r"[A-Za-z-]+", word):
            break
        if found and plain in _ARTICLES:
            break
        if plain not in _ARTICLES and (found or plain not in phrases().before_nouns):
            found.append(word if word.isupper() else plain)
    return " ".join(found)


def _without_parameters(text: str, parameters: Sequence[ApiParameter]) -> str:
    """A command without the end that only names a parameter: `with a resolution`."""
    labels = "|".join(re.escape(words(p.name)) for p in parameters if p.place != "path")
    ending = rf"\s+(?:with|for|by|of|to)\s+(?:an?|the|its|some|a new)\s+(?:{labels})$"
    return re.sub(ending, "", text) if labels else text


def _anchored(text: str, references: Mapping[str, str], operation: ApiOperation) -> str:
    """A command with the things that parameters name in their places."""
    required = [p.name for p in operation.parameters if p.required and p.name in references]
    *_, thing, last = ["", "", *operation.path.rstrip("/").split("/")]
    acts = last.startswith("{") or (thing.startswith("{") and is_verb(last))
    for name in required:
        noun = references[name]
        shorter = noun.split(" ")[-1]
        adjectives = "|".join(phrases().before_nouns)
        small = "|".join(phrases().prepositions | _ARTICLES)
        others = "|".join(map(re.escape, {*references.values()} - {noun, shorter} or {noun}))
        # A charge card is the card, and an expense claim the expense.
        modifier = rf"(?:(?!(?:{small})\b)[\w-]+\s+){{1,2}}?"
        head = rf"(?!(?:{others})\b)[a-z]+" if operation.method != "POST" or acts else "(?!)"
        for each in dict.fromkeys((noun, shorter)):
            found = re.search(
                rf"\b(?:an?|the|one|this|single)\s+(?:(?:{adjectives})\s+|{modifier})?"
                rf"{re.escape(each)}(?:\s+by\s+(?:(?:its|the|an?)\s+)?\w+)?(?P<own>'s)?"
                rf"(?:\s+{head}$)?(?![\w-])",
                text,
                re.IGNORECASE,
            ) or re.search(rf"(?<= ){re.escape(each)}(?:\s+by\s+(?:its\s+)?\w+)?(?P<own>)$", text)
            if found is not None:
                own = "'s" if found["own"] else ""
                text = f"{text[: found.start()]}{{{name}}}{own}{text[found.end() :]}"
                break
    return text
