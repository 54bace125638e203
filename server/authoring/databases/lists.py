"""Rows of a thing, narrowed by what they have, and how many there are."""

from collections.abc import Iterator, Sequence
from typing import Final

from server.authoring.databases.family import DraftTemplate, Family, either, wide
from server.authoring.databases.filters import (
    LACKING,
    Filter,
    compare,
    date_of,
    own_words,
)
from server.authoring.databases.sentences import (
    Saying,
    frames,
    test_frames,
    write,
)
from server.authoring.databases.statements import (
    Source,
    select,
    shown_columns,
    where,
    written,
)
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import identifier
from server.authoring.phrases import plural
from server.authoring.sentences import ExampleQuestion

_MOST_TOLD: Final = 3
_MOST_NUMBERS: Final = 4
_MOST_OTHERS: Final = 4
_MOST_KINDS: Final = 4


class Lists(Family):
    """Lists, counts, and numbers between two others."""

    def templates(self) -> Iterator[DraftTemplate]:
        if self.thing.joins_two:
            return
        if not self.thing.is_line:
            yield self._list()
        yield self._count()

    def _list(self) -> DraftTemplate:
        source = Source(self.thing, self.kind)
        columns = shown_columns(source)
        filters = self.filters(source)
        sql = select(
            columns,
            source,
            where(line for f in filters for line in f.sql),
            self.order(source),
        )
        wording = frames("list_people") if self.thing.is_person else ()
        number = len(frames("list_all"))

        def say(turn: int) -> Saying | None:
            return self.some(filters, turn)

        examples = write(frames("list_all"), lambda _: (self.nouns, {}), most=number)
        examples += write(
            (*frames("list")[:1], *wording, *frames("list")[1:]), say, most=wide(filters) - number
        )
        examples += self._more("list", filters)
        questions = write(test_frames("list"), self.testable(filters), most=2)
        questions += write(test_frames("list_all"), lambda _: (self.nouns, {}), most=1)
        return DraftTemplate(
            f"list_{self.thing.stem}",
            f"List {self.thing.nouns}{_by_what(filters)}",
            sql,
            examples,
            questions,
            tuple(f.parameter for f in filters),
            counters=self.counters("not_list"),
        )

    def _count(self) -> DraftTemplate:
        source = Source(self.thing, self.kind)
        filters = self.filters(source)
        conditions = where(line for f in filters for line in f.sql)
        sql = select([f"COUNT(*) AS {written(self.thing.stem, self.kind)}"], source, conditions)
        number = len(frames("count_all"))
        examples = write(frames("count_all"), lambda _: (self.nouns, {}), most=number)
        examples += write(
            frames("count"), lambda turn: self.some(filters, turn), most=wide(filters) - number
        )
        examples += self._more("count", filters)
        return DraftTemplate(
            f"count_{self.thing.stem}",
            f"Count {self.thing.nouns}{_by_what(filters)}",
            sql,
            examples,
            write(test_frames("count"), self.testable(filters), most=2),
            tuple(f.parameter for f in filters),
            "single",
        )

    def _more(self, family: str, filters: Sequence[Filter]) -> tuple[ExampleQuestion, ...]:
        """Each number compared, and times alone: what is asked of long tables most."""
        thing = self.thing
        names = {f.parameter["name"] for f in filters}
        numbers = [n for n in self.numbers if n.value in names][:_MOST_NUMBERS]
        compared = [(n, at) for at in (0, 1, 7) for n in numbers]
        times, own = words_of_columns().times, own_words(self.numbers, thing)
        dated = date_of(thing)
        done = words_of_columns().done_on(dated[1].label) if dated and not dated[0] else ""

        def by_number(turn: int) -> Saying:
            number, at = compared[turn % len(compared)]
            clause = compare([number], at, own)
            return {**self.nouns, "how": clause.after}, clause.arguments

        def by_time(turn: int) -> Saying:
            time = times[turn % len(times)]
            return {**self.nouns, "how": f"{done} {time}" if done and turn % 3 == 2 else time}, {
                "start_date": None
            }

        others = [f for f in filters if not f.is_period and _is_after(f)]
        others.sort(key=lambda f: not _is_place(f))
        others = others[:_MOST_OTHERS]
        acts = words_of_columns().acts.get(thing.noun.split(" ")[-1], ())

        def by_other(turn: int) -> Saying | None:
            clause = others[turn % len(others)].says(turn // len(others))
            if clause is None or not clause.after:
                return None
            words = {**self.nouns, "how": clause.after}
            if acts and clause.after.startswith("in "):
                words["acting"] = f"{acts[turn % len(acts)]} {clause.after}"
            return words, clause.arguments

        lacking = [f for f in filters if f.parameter["name"] == LACKING]
        missing = [f for each in lacking for f in each.parameter["enum"]]

        def by_lacking(turn: int) -> Saying | None:
            clause = lacking[0].says(turn)
            if clause is None:
                return None
            spoken = clause.after
            words = {**self.nouns, "how": spoken}
            if spoken.startswith("have"):
                words = {**self.nouns, "have": spoken}
            elif not spoken.startswith(("with", "missing", "no ")):
                words["not"] = spoken
            return words, clause.arguments

        asked = self.of_names(family)
        if family == "list":
            asked += self._of_kinds()
        if missing:
            asked += write(frames(f"{family}_lacking"), by_lacking, most=min(8, 4 * len(missing)))
        if others:
            asked += write(frames(f"{family}_how"), by_other, most=3 * len(others))
            asked += write(frames(f"{family}_acting"), by_other, most=4)
        if compared:
            asked += write(frames(f"{family}_how"), by_number, most=len(compared) + 1)
        if any(f.is_period for f in filters):
            asked += write(frames(f"{family}_how"), by_time, most=6)
        return asked

    def _of_kinds(self) -> tuple[ExampleQuestion, ...]:
        """Things by what they are called by their kind: captains, of crew members."""
        named = [p for p in self.thing.of_role("category") if p.label in words_of_columns().kinds]
        known = [
            (identifier(p.label), value)
            for p in named
            for value in p.column.samples[:_MOST_KINDS]
            if isinstance(value, str) and value.replace(" ", "").isalpha()
        ]
        if not known:
            return ()

        def say(turn: int) -> Saying:
            name, value = known[turn % len(known)]
            return {**self.nouns, "kinds": plural(value.lower())}, {name: value}

        return write(frames(f"list_kinds{'_people' if self.thing.is_person else ''}"), say, most=4)


def _is_place(narrowed: Filter) -> bool:
    name = str(narrowed.parameter["name"]).split("_")
    return not words_of_columns().places.isdisjoint(name)


def _is_after(narrowed: Filter) -> bool:
    """Whether it says where, whose or of what things are."""
    clause = narrowed.says(0)
    other = narrowed.says(1)
    is_text = narrowed.parameter["type"] == "string" and "enum" not in narrowed.parameter
    return is_text and any(c is not None and c.after for c in (clause, other))


def _by_what(filters: Sequence[Filter]) -> str:
    """The first few, since a description that tells of everything is near to every question."""
    labels = [str(f.parameter["name"]).replace("_", " ") for f in filters if not f.is_period]
    return f" by {either(labels[:_MOST_TOLD])}" if labels else ""
