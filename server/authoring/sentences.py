"""Sentences about one subject: a frame, the words of the subject, and values that differ."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from server.authoring.clauses import (
    Clause,
    at_the_end,
    clause_of,
    is_span,
    join_clauses,
    reference,
    span_of,
)
from server.authoring.naming import words
from server.authoring.phrases import (
    name_words,
    participle,
    phrases,
    plural,
    possessive,
    with_article,
)
from server.authoring.schema import ApiParameter
from server.authoring.subjects import Subject
from server.authoring.values import is_free, spoken, value_of


@dataclass(frozen=True, slots=True)
class ExampleQuestion:
    """A question and the arguments that it gives."""

    ask: str
    arguments: Mapping[str, Any]


class Sentences:
    """Fills frames, each time with the next values; those of the turn `first` begin."""

    def __init__(self, subject: Subject, first: int) -> None:
        self._subject = subject
        self._turn = self._first = first
        self._said: Counter[str] = Counter()
        self._round = 0
        texts = [p for p in subject.parameters if p.type == "string" and is_free(p)]
        self._texts = {p.name for p in texts} if len(texts) > 1 else set()
        named = {p.name for p in subject.parameters if f"{{{p.name}}}" in subject.do}
        others = [p for p in subject.parameters if p.name != subject.owner]
        self.loose = [p for p in others if p.required and p.name not in named]
        """What has to be said, and is not part of the command."""
        self.optional = [p for p in others if not p.required]
        self._of_address = _parts_of_address(others)
        """What is said after the street, with a comma before it."""

    def fill(
        self, frame: str, filled: Mapping[str, str], clauses: Sequence[Clause]
    ) -> ExampleQuestion:
        """Fill a frame with the words of the subject and the values of this turn."""
        subject, turn = self._subject, self._next()
        arguments: dict[str, Any] = {}
        for clause in clauses:
            arguments |= clause.arguments
        named = {p.name: p for p in subject.parameters if p.name in subject.references}
        if "{like}" in frame and subject.verb not in phrases().alike:
            frame = frame.replace("{like} {it}", "{do}")
        text = frame
        if "{do" not in frame:
            shown = any(name in frame for name in ("{it}", "{its}", "{owner}", "{owners}"))
            left = [n for n in named if f"{{{n}}}" in subject.do and n not in arguments]
            left = [n for n in left if n != subject.owner or not shown]
            more = "".join(f" for {{{name}}}" for name in left)
            text = text.replace("{with}", f"{more}{{with}}")
        for name, own_words in (("{seen}", subject.seen), ("{do}", subject.do)):
            text = text.replace(name, own_words)
        if "{do_like}" in text:
            text = text.replace("{do_like}", _worded(subject.do, subject.verb, turn))
        same = {"{it}", "{owner}", "{owners}", "{its}"}
        for name in same:
            if subject.owner:
                own = "{" + subject.owner + "}"
                text = text.replace(name, f"{own}'s" if name in ("{owners}", "{its}") else own)
        for name, parameter in named.items():
            if f"{{{name}}}" in text:
                value = self.value(parameter)
                spoken_as = reference(parameter, subject.references, spoken(value, parameter), turn)
                text = text.replace(f"{{{name}}}'s", possessive(spoken_as))
                text = text.replace(f"{{{name}}}", spoken_as)
                arguments = {name: value} | arguments
        like = phrases().alike.get(subject.verb, (subject.verb,))
        filled = {
            "thing": subject.noun,
            "a_thing": with_article(subject.noun),
            "things": plural(subject.noun),
            "verb": subject.verb,
            "like": like[turn % len(like)],
            "done": participle(subject.verb),
            "part": subject.part,
            "by_id": subject.by_id,
            "with": join_clauses([c.after for c in clauses]),
            **filled,
        }
        for name, filling in filled.items():
            text = text.replace(f"{{{name}}}", filling)
        text = re.sub(r"\bthe (my|your|our)\b", r"\1", text)
        return ExampleQuestion(" ".join(text.split()).replace(" ,", ",").strip(), arguments)

    def needed(self) -> Iterator[Clause]:
        """What has to be said beside the command."""
        self._round += 1
        spans, rest = self.spans(self.loose)
        yield from self.clauses(rest)
        for start, end in spans:
            yield span_of(start, end, self.span())

    def clauses(self, parameters: Sequence[ApiParameter]) -> Iterator[Clause]:
        """How parameters are said, with their next values; those that nobody says are left out."""
        subject = self._subject
        for parameter in parameters:
            turn = self._said[parameter.name]
            value = self.value(parameter)
            clause = clause_of(parameter, turn, value, subject.references)
            if clause is None:
                continue
            if subject.kind != "list" and not clause.after:
                clause = replace(clause, after=at_the_end(parameter, clause))
            if parameter.name in self._of_address:
                clause = replace(clause, after=f", {value}")
            yield clause

    @staticmethod
    def spans(
        parameters: Sequence[ApiParameter],
    ) -> tuple[list[tuple[ApiParameter, ApiParameter]], list[ApiParameter]]:
        """The pairs of days that make a time, and all other parameters."""
        for start in parameters:
            for end in parameters:
                if start is not end and is_span(start, end):
                    return [(start, end)], [p for p in parameters if p not in (start, end)]
        return [], list(parameters)

    def values(self, parameters: Sequence[ApiParameter]) -> dict[str, Any]:
        """The values of parameters that a new sentence begins with."""
        self._round += 1
        return {p.name: self.value(p) for p in parameters}

    def value(self, parameter: ApiParameter) -> Any:
        """The next value of a parameter.

        Where several are free texts, only what is an `example` shows whose a text is: the first
        sentences have those.
        """
        turn = self._said[parameter.name]
        self._said[parameter.name] += 1
        if parameter.name in self._texts:
            by_turns = self._round // 2 if self._round % 2 else 0
            turn = turn if self._subject.kind == "list" else by_turns
        return value_of(parameter, turn + self._first)

    def turn_of(self, parameter: ApiParameter) -> int:
        """How often a parameter was said so far."""
        return self._said[parameter.name]

    def span(self) -> int:
        """The turn of the next span of days."""
        self._said["spans"] += 1
        return self._said["spans"] - 1 + self._first

    def _next(self) -> int:
        self._turn += 1
        return self._turn - 1


def _parts_of_address(parameters: Sequence[ApiParameter]) -> frozenset[str]:
    streets = [p for p in parameters if name_words(p.name)[-1] == "street"]
    parts = {*phrases().address_parts}
    if streets and any(
        name_words(p.name)[-1] == "name" and p.within == streets[0].within for p in parameters
    ):
        parts.add("street")  # a name, and then where it lives
    return frozenset(
        p.name
        for p in parameters
        if streets
        and any(f" {words(p.name)}".endswith(f" {part}") for part in parts)
        and p.within == streets[0].within
    )


def _worded(command: str, verb: str, turn: int) -> str:
    """A command with another verb for its own."""
    like = phrases().alike.get(verb, (verb,))
    is_verbs = command.startswith(f"{verb} ")
    return f"{like[turn % len(like)]}{command.removeprefix(verb)}" if is_verbs else command
