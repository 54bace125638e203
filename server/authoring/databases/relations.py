"""What belongs to what: the lines of an order, customers without orders, or with more than 5."""

from collections.abc import Iterator, Sequence
from typing import Any

from server.authoring.databases.family import (
    DraftTemplate,
    Family,
    either,
    one_line,
    slug,
)
from server.authoring.databases.filters import (
    COMPARISONS,
    comparison_choice,
    date_of,
)
from server.authoring.databases.sentences import (
    Saying,
    fill,
    frames,
    test_frames,
    write,
)
from server.authoring.databases.statements import (
    Source,
    choice,
    select,
    shown_columns,
    where,
)
from server.authoring.databases.things import Link, Thing, is_sayable
from server.authoring.naming import identifier
from server.authoring.phrases import plural, with_article


class Relations(Family):
    """The lines of one thing, and things by what refers to them: none, or more than some."""

    def templates(self) -> Iterator[DraftTemplate]:
        yield from self._in_one()
        yield from self._without()
        yield from self._by_children()

    def _in_one(self) -> Iterator[DraftTemplate]:
        """What is on one thing that has a number and no name: the lines of an order."""
        thing = self.thing
        if not thing.is_line:
            return
        for link in thing.links:
            other = link.thing
            key = other.of_column(other.key[0]) if len(other.key) == 1 else None
            if other.names or key is None or other is thing:
                continue
            others = [each.noun for each in thing.links if each is not link and each.thing.names]
            if not others and not thing.joins_two and date_of(thing) is None:
                continue
            source = Source(thing, self.kind)
            name = identifier(f"{other.noun} id")
            column = source.column((), link.columns[0])
            sql = select(
                shown_columns(source),
                source,
                where([f"AND {column} = :{name}"]),
                self.order(source),
            )
            keys = [v for v in key.column.samples if is_sayable(str(v))] or [12, 25, 7]
            spoken = [thing.nouns, *(plural(each) for each in others), "items"]
            is_number = key.column.column.kind == "integer"

            def say(
                turn: int,
                keys: Sequence[Any] = keys,
                spoken: Sequence[str] = spoken,
                owner: str = other.noun,
                name: str = name,
            ) -> Saying:
                value = keys[(3 * turn + 4) % len(keys)]
                words = {"things": spoken[turn % len(spoken)], "owner": owner, "key": str(value)}
                return words, {name: value}

            yield DraftTemplate(
                f"{thing.stem}_of_{slug(other.noun)}",
                f"The {thing.nouns} of one {other.noun}, by its number",
                sql,
                write(frames("in_one"), say, most=10),
                write(test_frames("in_one"), lambda t, say=say: say(t + 20), most=1),  # type: ignore[misc]
                (
                    {
                        "name": name,
                        "type": "integer" if is_number else "string",
                        "required": True,
                        "description": f"number of the {other.noun}",
                        "example": say(0)[1][name],
                    },
                ),
            )

    def _without(self) -> Iterator[DraftTemplate]:
        """What has none of what refers to it."""
        thing, source = self.thing, Source(self.thing, self.kind)
        conditions: dict[str, str] = {}
        words: list[dict[str, str]] = []
        for child, link, nouns in self._children():
            inner = Source(child, self.kind)
            on = f"{inner.column((), link.columns[0])} = {source.column((), thing.key[0])}"
            text = f"AND NOT EXISTS (SELECT 1 {one_line(inner.text())} WHERE {on})"
            if conditions.setdefault(slug(nouns), text) is text:
                other = _one(nouns, child)
                an_other = with_article(other)
                words.append({"others": nouns, "other": other, "an_other": an_other})
        if not conditions:
            return
        values = list(conditions)
        parameter = {
            "name": "without",
            "type": "string",
            "required": True,
            "description": "what they have none of",
            "enum": values,
            "synonyms": {
                value: [w for w in dict.fromkeys((said["others"], said["other"])) if w != value]
                for value, said in zip(values, words, strict=True)
            },
        }

        def say(turn: int) -> Saying:
            at = turn % len(values)
            return {**self.nouns, **words[at]}, {"without": values[at]}

        yield DraftTemplate(
            f"{thing.stem}_without",
            f"The {thing.nouns} that have no {either(said['others'] for said in words)}",
            select(
                shown_columns(source),
                source,
                where([choice("without", list(conditions.items()))]),
                self.order(source),
            ),
            write(frames("without"), say, most=max(8, 3 * len(values))),
            write(test_frames("without"), say, most=1),
            (parameter,),
        )

    def _by_children(self) -> Iterator[DraftTemplate]:
        """What has more, or fewer, of what refers to it than a number."""
        thing = self.thing
        if thing.is_small and not thing.is_person:
            return
        source = Source(thing, self.kind)
        counts: dict[str, tuple[str, str]] = {}
        for child, link, nouns in self._children():
            inner = Source(child, self.kind)
            on = f"{inner.column((), link.columns[0])} = {source.column((), thing.key[0])}"
            counted = f"(SELECT COUNT(*) {one_line(inner.text())} WHERE {on})"
            counts.setdefault(slug(nouns), (nouns, counted))
        if not counts:
            return
        counted = choice("counted", [(value, sql) for value, (_, sql) in counts.items()])
        compared = choice("comparison", [*COMPARISONS.items()])
        columns = [*shown_columns(source), f"{counted} AS number"]
        sql = select(
            columns, source, where([f"AND {counted} {compared} :number"]), "ORDER BY number DESC"
        )
        nouns_of = [(value, nouns) for value, (nouns, _) in counts.items()]

        def say(turn: int) -> Saying:
            value, nouns = nouns_of[turn % len(nouns_of)]
            number = 2 + turn % 9
            words = {**self.nouns, "others": nouns, "number": str(number)}
            return words, {"counted": value, "comparison": "above", "number": number}

        counters = [
            fill(frame, {**self.nouns, "others": nouns})
            for _, nouns in nouns_of[:2]
            for frame in frames("not_more_than")
        ]
        yield DraftTemplate(
            f"{thing.stem}_by_number_of_what",
            f"The {thing.nouns} with more or fewer of what belongs to them than a number",
            sql,
            write(frames("more_than"), say, most=10),
            (),
            (
                {
                    "name": "counted",
                    "type": "string",
                    "required": True,
                    "description": "what is counted",
                    "enum": list(counts),
                    "synonyms": {v: [n] for v, n in nouns_of if n != v},
                },
                comparison_choice() | {"required": True},
                {"name": "number", "type": "integer", "required": True, "description": "how many"},
            ),
            counters=tuple(counters),
        )

    def _children(self) -> Iterator[tuple[Thing, Link, str]]:
        """What refers to the thing, by what link, and what such things are called."""
        thing = self.thing
        if not thing.names or self.is_list or len(thing.key) != 1:
            return
        for child in self.things:
            for link in child.links:
                if link.thing is not thing or child is thing:
                    continue
                nouns = child.nouns
                if child.joins_two:
                    nouns = next((plural(o.noun) for o in child.links if o is not link), nouns)
                yield child, link, nouns


def _one(nouns: str, child: Thing) -> str:
    return (
        child.noun
        if nouns == child.nouns
        else next((link.noun for link in child.links if plural(link.noun) == nouns), child.noun)
    )
