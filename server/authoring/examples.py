"""Questions and orders that ask for what an operation does, as people would put them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, zip_longest
from typing import Final

from server.authoring.answers import asked_of_one, asked_of_several
from server.authoring.clauses import (
    Clause,
    is_quality,
    join_clauses,
    label_of,
    reference,
    span_of,
)
from server.authoring.phrases import (
    PartWords,
    is_plural,
    name_words,
    participle,
    phrases,
    plural,
    possessive,
    said,
    singular,
    with_article,
)
from server.authoring.schema import ApiParameter
from server.authoring.sentences import ExampleQuestion, Sentences
from server.authoring.subjects import Subject, asks, is_verb
from server.authoring.values import spoken

MAX_EXAMPLES: Final = 12
_QUESTIONS_FROM: Final = 100
"""Turns of the values that questions have, and no example."""
_ENOUGH_FILTERED: Final = 5
"""Examples of a list with one filter; where there are fewer filters, each is shown again."""
_MANY_FILTERED: Final = 9
_MOST_ROUNDS: Final = 3


def examples_of(subject: Subject) -> tuple[ExampleQuestion, ...]:
    """Return up to twelve ways to ask, with different values."""
    return tuple(_different(_Writer(subject, 0).write()))[:MAX_EXAMPLES]


def questions_of(subject: Subject) -> tuple[ExampleQuestion, ...]:
    """Return ways to ask that are none of the examples, with other values."""
    return tuple(_different(_Writer(subject, _QUESTIONS_FROM).question()))


def counter_examples_of(subject: Subject, others: Iterable[Subject]) -> tuple[str, ...]:
    """Return what looks like this operation and is none that the document has."""
    rest = [each for each in others if each is not subject]
    about = {each.noun for each in rest if each.kind not in ("list", "get", "part", "about")}
    if subject.kind in ("act", "delete") and subject.owner:
        opposite = f"un{subject.verb}"
        known = is_verb(opposite) and opposite not in {each.verb for each in rest}
        frames = phrases().frames["undoing"] if known else ()
    elif subject.kind in ("part", "list") and subject.owner:
        thing = singular(subject.part or subject.noun)
        frames = () if thing in about else phrases().frames["changing"]
    else:
        frames = ()
    return tuple(each.ask for each in _Writer(subject, 0).counter(frames))


def answer_of(subject: Subject) -> str:
    """What to answer where the service says nothing; empty where a result says it better."""
    if not subject.owner or len(subject.references) != 1:
        return ""
    it = f"{subject.noun} {{{{ {subject.owner} }}}}"
    it = it[:1].upper() + it[1:]
    if subject.kind in ("act", "delete") and subject.do.startswith(f"{subject.verb} {{"):
        return f"{it} was {participle(subject.verb)}."
    changed = [p for p in subject.parameters if p.required and p.name != subject.owner]
    if subject.kind == "set" and len(changed) == 1:
        return f"{it} is {{{{ {changed[0].name} }}}} now."
    return ""


def _different(asked: Iterator[ExampleQuestion]) -> Iterator[ExampleQuestion]:
    seen: set[str] = set()
    for each in asked:
        if each.ask.lower() not in seen:
            seen.add(each.ask.lower())
            yield each


class _Writer:
    """The sentences of one subject, one after the other, each with the values of its turn."""

    def __init__(self, subject: Subject, turn: int) -> None:
        self._subject = subject
        self._says = Sentences(subject, turn)
        self._frames = phrases().frames
        self._loose, self._optional = self._says.loose, self._says.optional

    def write(self) -> Iterator[ExampleQuestion]:
        subject, kind = self._subject, self._subject.kind
        if not subject.owner and kind in ("set", "update", "delete"):
            kind = "act"
        match kind:
            case "list":
                yield from self._listing()
            case "get":
                frames = _mixed(self._frames["get"], asked_of_one(subject))
                frames[3:3] = [f"is {{it}} {participle(verb)}?" for verb in subject.done[:1]]
                if subject.by_id:
                    frames.insert(1, "{by_id} {it}")
                if self._is_person(subject.references.get(subject.owner, "")):
                    frames[1:1] = self._frames["get_person"]
                yield from self._seeing(frames)
            case "part" | "about":
                yield from self._seeing(self._part_frames())
            case "set" | "update":
                yield from self._changing()
            case "delete":
                first, *rest = self._frames["delete"]
                yield from self._doing([first, *rest[:1], *self._otherwise(), *rest[1:]])
            case "create":
                yield from self._creating()
            case "act":
                direct = subject.do == f"{subject.verb} {{{subject.owner}}}" or not self._loose
                simple = direct and subject.owner and len(subject.references) == 1
                frames = [*self._frames["act" if simple else "act_freely"]]
                if simple:
                    frames[2:2] = self._otherwise()
                yield from self._because(self._doing(frames))

    def _otherwise(self) -> Sequence[str]:
        """How else people ask for what is done, by its verb."""
        verb, known = self._subject.verb, phrases()
        unneeded = self._frames["unneeded"] if verb in known.unneeded else ()
        return [*unneeded, *known.around.get(verb, ())]

    def _because(self, asked: Iterator[ExampleQuestion]) -> Iterator[ExampleQuestion]:
        """Requests, with some behind what is the reason for them: card 4 was stolen, block it."""
        yield from islice(asked, 2)
        for parameter in self._subject.parameters:
            told = phrases().reasons & {*name_words(parameter.name)}
            for value in parameter.enum if told else ():
                if is_quality(said(value)):
                    clause = Clause({parameter.name: value})
                    filled = {"reason": said(value)}
                    for frame in self._frames["because"]:
                        yield self._says.fill(frame, filled, [clause])
        yield from asked

    def question(self) -> Iterator[ExampleQuestion]:
        subject, frames = self._subject, phrases().questions
        kind = subject.kind
        if not subject.owner and kind in ("set", "update", "delete"):
            kind = "act"
        match kind:
            case "list":
                if not subject.owner:
                    yield from self._some(frames["list"])
                else:
                    yield from self._seeing(frames["parts"], plain=True)
            case "part" | "about":
                yield from self._seeing(frames[kind])
            case "get":
                yield from self._seeing(frames["get"])
            case "set" | "update":
                yield from self._changing(frames[kind])
            case "create" | "act" | "delete":
                yield from self._doing(frames[kind])

    def _some(self, frames: Iterable[str]) -> Iterator[ExampleQuestion]:
        """A list with one filter, each time another."""
        rest = [p for p in self._optional if p.name not in phrases().limits]
        for at, frame in enumerate(frames):
            filters = rest[at % len(rest) :][:1] if rest else []
            clauses = [*self._says.needed(), *self._says.clauses(filters)]
            before = " ".join(c.before for c in clauses if c.before)
            after = join_clauses([c.after for c in clauses])
            some = f"{before} {plural(self._subject.noun)}".strip() + after
            one = with_article(f"{before} {self._subject.noun}".strip()) + after
            yield self._says.fill(frame, {"some": some, "one": one, "with": after}, clauses)

    def counter(self, frames: Iterable[str]) -> Iterator[ExampleQuestion]:
        part = self._subject.part or plural(self._subject.noun)
        for frame in frames:
            yield self._says.fill(frame, {"part": part}, [])

    def _listing(self) -> Iterator[ExampleQuestion]:
        subject = self._subject
        of_owner = [*self._seeing(self._frames["parts"])] if subject.owner else []
        quality, _, thing = subject.noun.partition(" ")
        is_kind = quality.endswith("ing")  # a charging station need not be charging
        if thing and is_quality(quality) and not (subject.owner or is_kind):
            for frame in self._frames["quality"]:
                filled = {"things": plural(thing), "quality": quality}
                filled["one"] = with_article(subject.noun)
                yield self._says.fill(frame, filled, [*self._says.needed()])
        nouns = [subject.noun, *subject.names]
        people = self._is_person(subject.noun)
        groups = [p for p in self._optional if label_of(p) in phrases().groups] if people else []
        for frame in self._frames["people_of_group"] if groups else ():
            value = self._says.value(groups[0])
            filled = {"group": spoken(value, groups[0])}
            yield self._says.fill(frame, filled, [Clause({groups[0].name: value})])
        plain = [
            self._says.fill(frame, {"things": plural(nouns[at % len(nouns)])}, [])
            for at, frame in enumerate(self._frames["list"])
        ]
        if asks(subject.seen):
            asked = [*self._frames["asked"]]
            if asks(subject.by_id):
                asked[1:1] = ["{by_id}{with}?", "{by_id}{with}"]
            own = [each for frame in asked for each in self._some([frame])]
            plain = [*own, *plain[:2]]
            if self._loose:
                yield from own
        elif subject.seen and subject.seen != plural(subject.noun) and not subject.owner:
            plain.insert(1, self._says.fill("{seen}", {}, []))
        plain[3:3] = [
            self._says.fill(frame, {"part": plural(subject.noun)}, [])
            for words in _part_words(subject.noun)[:1]
            for frame in words.alone
            if not self._loose
        ]
        filtered = [*self._filtered()]
        if subject.owner or self._loose:
            yield from of_owner[:4]
            if not subject.owner:
                alone = [f for words in _part_words(subject.noun) for f in words.alone]
                yield from self._some(f for f in alone if "{with}" in f)
            for one, other in zip_longest(of_owner[4:], filtered):
                yield from (each for each in (one, other) if each is not None)
            for frame in self._frames["filtered"] if not subject.owner else ():
                yield from self._some([frame])
            return
        yield from plain[:2]
        least = 3 if len(filtered) < _MANY_FILTERED else 2
        plain = plain[: max(least, MAX_EXAMPLES - len(filtered))]
        for one, two, other in zip_longest(filtered[::2], filtered[1::2], plain[2:]):
            yield from (each for each in (one, two, other) if each is not None)

    def _filtered(self) -> Iterator[ExampleQuestion]:
        """With one filter each, then with two."""
        subject = self._subject
        limits = [p for p in self._optional if p.name in phrases().limits]
        spans, rest = self._says.spans([p for p in self._optional if p not in limits])
        needed = [*self._says.needed()] if self._loose else []
        frames = self._frames["filtered"]
        again = [p for p in rest if p.type in ("string", "date") and not p.enum]
        said: list[list[Clause]] = [needed] if needed else []
        rounds = [(rest, spans), (again, ()), *[(rest, ())] * _MOST_ROUNDS]
        for at, (parameters, pairs) in enumerate(rounds):
            if at > 1 and len(said) >= _ENOUGH_FILTERED:
                break
            ends = [span_of(a, b, self._says.span()) for a, b in pairs]
            said += [[*self._says.needed(), c] for c in (*self._says.clauses(parameters), *ends)]
        for one, other in pairwise([*self._says.clauses(rest)]):
            said.append([*self._says.needed(), one, other])
        in_places = [c for c in said[0] if c.are.startswith("in ")] if said else []
        if in_places and not (subject.owner or self._is_person(subject.noun)):
            for frame in self._frames["where"]:
                filled = {"with": join_clauses([c.after for c in said[0]])}
                yield self._says.fill(frame, filled, said[0])
        if not subject.owner:
            yield from self._of_kind(rest, needed)
            yield from self._called(rest, needed)
            yield from self._of_reference(rest, needed)
            makers = [p for p in rest if {*name_words(p.name)} & phrases().makers][:1]
            for frame in self._frames["anything"] if makers else ():
                said_so = [*self._says.clauses(makers)]
                yield self._says.fill(
                    frame, {"with": join_clauses([c.after for c in said_so])}, said_so
                )
        if limits and not subject.owner:
            said.insert(min(5, len(said)), [*needed, *self._says.clauses(limits[:1])])
        person = self._is_person(subject.noun)
        for at, clauses in enumerate(said):
            last = clauses[-1]
            if len(clauses) == 1 and (last.are or last.have) and at % 3 != 2 and not subject.owner:
                yield self._of_state(last, at)
                continue
            frame = frames[0 if last.before.startswith("first ") else at % len(frames)]
            if subject.owner:
                frame = self._frames["parts"][at % len(self._frames["parts"])]
                part = {"part": plural(subject.noun)}
                yield self._says.fill(f"{frame.rstrip('?')}{{with}}", part, clauses)
                continue
            noun = [subject.noun, *subject.names][at % (1 + len(subject.names))]
            before = " ".join(c.before for c in reversed(clauses) if c.before)
            after = join_clauses([c.after for c in clauses])
            some = f"{before} {plural(noun)}".strip() + after
            filled = {"some": some, "one": with_article(f"{before} {noun}".strip()) + after}
            if last.before.startswith("first ") and "{one}" in frame:
                frame = frames[0]
            if not before and after and at >= len(rest) and at % 3 == 1 and not person:
                more = self._frames["anything"]
                frame, filled = more[(at // 4) % len(more)], {"with": after}
            yield self._says.fill(frame, filled, clauses)

    def _of_kind(
        self, filters: Sequence[ApiParameter], needed: list[Clause]
    ) -> Iterator[ExampleQuestion]:
        """Things called by their kind alone, and with another filter."""
        own = {*self._subject.noun.split(" ")}
        kinds = [p for p in filters if p.enum and _is_kind(p)]
        kinds = [p for p in kinds if {*label_of(p).split(" ")[:-1]} <= own][:1]
        others = [p for p in filters if p not in kinds and p.type != "boolean"]
        for at, frame in enumerate(self._frames["of_kind"] if kinds else ()):
            value = self._says.value(kinds[0])
            more = [*self._says.clauses(others[at % len(others) :][:1])] if others else []
            more = [c for c in more if c.after] if "{with}" in frame else []
            filled = {"kinds": plural(spoken(value, kinds[0]))}
            said = [Clause({kinds[0].name: value}), *needed, *more]
            yield self._says.fill(frame, filled, said)

    def _called(
        self, filters: Sequence[ApiParameter], needed: list[Clause]
    ) -> Iterator[ExampleQuestion]:
        named = [p for p in filters if p.name in phrases().own_names][:1]
        flags = [p for p in filters if p.type == "boolean"][:1]
        enums = [p for p in filters if p.enum and p not in named]
        for at, frame in enumerate(self._frames["called"] if named else ()):
            value = self._says.value(named[0])
            about = flags if "{is}" in frame else enums[at % len(enums) :][:1] if enums else []
            more = [*self._says.clauses(about)] if "{with}" in frame or "{is}" in frame else []
            if "{is}" in frame and not (more and more[0].are):
                continue
            filled = {"name": str(value), "with": join_clauses([c.after for c in more])}
            filled["is"] = more[0].are if more else ""
            yield self._says.fill(frame, filled, [Clause({named[0].name: value}), *needed, *more])

    def _of_reference(
        self, filters: Sequence[ApiParameter], needed: list[Clause]
    ) -> Iterator[ExampleQuestion]:
        """Things that belong to another one, and how many there are of one kind."""
        subject = self._subject
        whose = [
            p
            for p in filters
            if p.name in subject.references and name_words(p.name)[0] not in phrases().directions
        ]
        for parameter in whose[:2]:
            for frame in self._frames["of_reference"]:
                turn, value = self._says.turn_of(parameter), self._says.value(parameter)
                of = reference(parameter, subject.references, spoken(value, parameter), turn)
                if parameter.type == "integer" and "of {of}" in frame:
                    of = str(value)
                yield self._says.fill(
                    frame,
                    {"of": of, "ofs": possessive(of), "things": plural(subject.noun)},
                    [Clause({parameter.name: value}), *needed],
                )
        counts = {word for name, _ in subject.tells for word in name_words(name)}
        kinds = [p for p in filters if p.pattern or p.is_code]
        for frame in self._frames["how_many"] if counts & phrases().quantities else ():
            for parameter in [p for p in kinds if p not in whose][:1]:
                more = [*self._says.clauses([p for p in whose if p is not parameter][:1])]
                after = join_clauses([c.after for c in more])
                value = self._says.value(parameter)
                filled = {"of": spoken(value, parameter), "with": after}
                yield self._says.fill(frame, filled, [Clause({parameter.name: value}), *more])

    def _of_state(self, clause: Clause, at: int) -> ExampleQuestion:
        person = self._is_person(self._subject.noun) and bool(clause.are)
        frames = [*self._frames["state"]]
        if person:
            frames[1:1] = self._frames["state_of_people"]
        are = f"are {clause.are}" if clause.are else f"have {clause.have}"
        frame = frames[at % len(frames)] if clause.are else frames[0]
        if clause.have and self._is_person(self._subject.noun) and at % 2:
            frame, clause = "who {is}?", replace(clause, are="")
        filled = {
            "are": are,
            "is": f"is {clause.are}" if clause.are else f"has {clause.have}",
            "things": plural(self._subject.noun),
        }
        return self._says.fill(frame, filled, [clause])

    def _part_frames(self) -> Sequence[str]:
        subject = self._subject
        many = is_plural(subject.part)
        kind = {"part": "parts", "about": "abouts"} if many else {"part": "part", "about": "about"}
        common = self._frames[kind[subject.kind]]
        if asks(subject.seen):
            common = (*self._frames["asked"], *common)
        elif subject.seen:
            common = (*common[:1], "{seen}", *common[1:])
        special: list[str] = []
        costs = not self._is_person(subject.references.get(subject.owner, ""))
        for words in _part_words(subject.part, subject.tail):
            if not costs and "price" in words.words:
                continue
            special += words.frames if subject.owner else words.alone
        if subject.owner:
            own = self._part_names()
            special += [f for f in asked_of_one(subject) if f and not own & set(f.split(" "))]
            special = special[: MAX_EXAMPLES // 2]
        mixed = zip_longest(special, common)
        return [frame for pair in mixed for frame in pair if frame is not None]

    def _part_names(self) -> set[str]:
        return set(self._subject.part.split(" "))

    def _by_id(self, frames: Sequence[str]) -> Sequence[str]:
        """Frames of a command, some with the verb of the operation's id."""
        if not self._subject.by_id or not self._subject.owner:
            return frames
        kind = "by_id_create" if self._subject.kind == "create" else "by_id"
        return _mixed(frames, self._frames[kind])

    def _seeing(self, frames: Sequence[str], *, plain: bool = False) -> Iterator[ExampleQuestion]:
        subject = self._subject
        part = plural(subject.noun) if subject.kind == "list" else subject.part
        if subject.kind == "list" and not plain:
            known = _part_words(subject.noun, subject.tail)
            special = [f for words in known for f in words.frames]
            seen = ["{seen}"] if subject.seen else []
            track = ["{by_id} {owner}"] if subject.by_id else []
            told = asked_of_several(subject)
            frames = [*frames[:2], *track, *seen, *special, *told, *frames[2:]][:9]
        filters = [*self._optional]
        nouns = [*subject.names, subject.noun]
        for at, frame in enumerate(frames):
            needed = [*self._says.needed()]
            clauses = needed
            if filters and at % 3 == 2 and subject.kind != "list":
                more = [*self._says.clauses([filters[(at // 3) % len(filters)]])]
                clauses = [*needed, *more]
            tail = "?" if frame.endswith("?") else ""
            if subject.kind == "list" and not plain and at % 3 == 1:
                part = plural(nouns[(at // 3) % len(nouns)])
            ending = "" if "{with}" in frame else "{with}"
            yield self._says.fill(f"{frame.rstrip('?')}{ending}{tail}", {"part": part}, clauses)

    def _creating(self) -> Iterator[ExampleQuestion]:
        subject = self._subject
        names = [p for p in self._loose if p.name in phrases().own_names][:1]
        names = names or [
            p
            for known in (phrases().first_names, phrases().last_names)
            for p in self._loose
            if p.name in known
        ]
        first, second = self._frames["create"], self._frames["act_freely"]
        several = len(subject.references) > 1
        frames = [*second[:5], *first[1:4], *second[5:]] if several else first
        kinds = [p for p in self._loose if p.enum and _is_kind(p)][:1]
        if not names:
            special = [
                self._of_this_kind(frame, kind)
                for kind in kinds
                for frame in self._frames["create_kind"]
            ]
            for one, other in zip_longest(self._doing(frames), special):
                yield from (each for each in (one, other) if each is not None)
            return
        listed = [self._listed(names)] if len(self._loose) > len(names) else []
        person = self._is_person(subject.noun)
        others = self._frames["create_person" if person else "create_named"]
        rest = [p for p in self._loose if p not in names]
        named = [self._named(frame, names, rest) for frame in others]
        named[1:1] = listed
        for one, other in zip_longest(self._doing(frames), named):
            yield from (each for each in (one, other) if each is not None)

    def _named(
        self, frame: str, names: Sequence[ApiParameter], rest: Sequence[ApiParameter]
    ) -> ExampleQuestion:
        values = self._says.values(names)
        name = " ".join(map(str, values.values()))
        return self._says.fill(frame, {"name": name}, [Clause(values), *self._says.clauses(rest)])

    def _listed(self, names: Sequence[ApiParameter]) -> ExampleQuestion:
        """What a thing has, with commas between: new patient: Rolo, dog, beagle, owner 6071."""
        references = self._subject.references
        optional = [p for p in self._optional if p.type == "string" and p.name not in references]
        values = self._says.values(names)
        told = [" ".join(map(str, values.values()))]
        for parameter in [p for p in self._loose if p not in names] + optional[:2]:
            turn, value = self._says.turn_of(parameter), self._says.value(parameter)
            text = spoken(value, parameter, turn)
            is_one = parameter.name in references
            told.append(reference(parameter, references, text) if is_one else text)
            values |= {parameter.name: value}
        filled = {"listed": ", ".join(told)}
        return self._says.fill("new {thing}: {listed}", filled, [Clause(values)])

    def _of_this_kind(self, frame: str, kind: ApiParameter) -> ExampleQuestion:
        value = self._says.value(kind)
        noun = self._subject.noun
        said = spoken(value, kind)
        told = said if said.endswith(noun) else f"{said} {noun}"
        rest = [p for p in self._loose if p is not kind]
        clauses = [Clause({kind.name: value}), *self._says.clauses(rest)]
        return self._says.fill(frame, {"a_kind": with_article(told)}, clauses)

    def _doing(self, frames: Sequence[str]) -> Iterator[ExampleQuestion]:
        optional, frames = self._optional, self._by_id(frames)
        for at, frame in enumerate(frames):
            clauses = [*self._says.needed()]
            if optional and at % 3 != 0:
                clauses += self._says.clauses([optional[(at // 2) % len(optional)]])
            if "{with}" not in frame and clauses:
                frame = frame.rstrip("?") + "{with}"
            yield self._says.fill(frame, {}, clauses)

    def _changing(self, frames: Sequence[str] = ()) -> Iterator[ExampleQuestion]:
        subject = self._subject
        fields = [p for p in subject.parameters if p.name != subject.owner and p.place != "path"]
        fields = [p for p in fields if p.name not in subject.references] or fields
        if not fields:
            yield from self._doing(self._frames["act_freely"])
            return
        together = [p for p in fields if p.required]
        if len(together) > 1:
            yield from self._doing(self._frames["act_freely"])
            return
        numbers = [p for p in fields if p.type in ("integer", "number")][:1]
        if subject.kind == "update" and not frames:
            spans, rest = self._says.spans(fields)
            times = [span_of(*each, self._says.span()) for each in spans]
            yield self._says.fill("{do}{with}", {}, times or [*self._says.clauses(rest[:2])])
        known = [*self._frames[subject.kind]]
        if numbers and (len(fields) == 1 or together == numbers):
            known[2:2] = self._frames["set_number"]
        for at, frame in enumerate(frames or [*known, *known[: len(known) // 2]]):
            each = fields[at % len(fields)] if not together else together[0]
            value = self._says.value(each)
            label = label_of(each)
            label = phrases().also_called.get(label, label) if at // len(fields) % 2 else label
            if label in phrases().generic_amounts and subject.tail and not is_verb(subject.tail):
                label = subject.tail
            filled = {"field": label, "value": spoken(value, each, at)}
            yield self._says.fill(frame, filled, [Clause({each.name: value})])

    @staticmethod
    def _is_person(noun: str) -> bool:
        return noun.split(" ")[-1] in phrases().people


def _is_kind(parameter: ApiParameter) -> bool:
    return label_of(parameter).split(" ")[-1] in phrases().nouns_of_kind


def _mixed(frames: Sequence[str], more: Sequence[str]) -> list[str]:
    """Frames with others between them, from the second one on."""
    pairs = zip_longest(frames[1:], [frame for frame in more if frame])
    return [*frames[:1], *(one for pair in pairs for one in pair if one is not None)]


def _part_words(*parts: str) -> list[PartWords]:
    heads = {part.split(" ")[-1] for part in parts}
    own = heads | {*map(singular, heads)}
    return [each for each in phrases().parts if each.words & own]
