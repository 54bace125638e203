"""Everything about one thing, by its name or its number."""

from collections.abc import Iterator, Sequence
from typing import Final

from server.authoring.databases.family import DraftTemplate, Family, by_name, slug
from server.authoring.databases.groups import (
    superlatives,
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
    select,
    shown_columns,
    where,
)
from server.authoring.databases.things import Property, is_sayable
from server.authoring.databases.words import words_of_columns
from server.authoring.naming import identifier
from server.authoring.phrases import phrases, possessive
from server.authoring.sentences import ExampleQuestion

_MOST_FIELDS: Final = 12


class Details(Family):
    """One row by its name or number, and rows by a part of their name."""

    def templates(self) -> Iterator[DraftTemplate]:
        if self.thing.is_line:
            return
        yield from self._details()
        yield from self._called()

    def _details(self) -> Iterator[DraftTemplate]:
        thing = self.thing
        fields = [
            p.label
            for p in thing.properties
            if p.role not in ("key", "name", "reference", "upkeep", "flag")
        ]
        fields += [link.noun for link in thing.links if link.thing.names]
        names = thing.name_samples()
        if thing.names and thing.table.rows > 1 and (len(fields) > 0):
            source = Source(thing, self.kind)
            name = identifier(f"{thing.noun} name")
            sql = select(
                shown_columns(source, everything=True),
                source,
                where([by_name(source, (), name)]),
                self.order(source),
            )
            known = names or phrases().person_names
            money = any(superlatives(m)[0][:1] == ("most expensive",) for m in self.measures)
            asked = list(frames("details"))
            title = words_of_columns().titles.get(thing.noun, "")
            if thing.is_person:
                asked[2:2] = frames("details_person")
            if money and not thing.is_person:
                asked[3:3] = frames("details_money")

            def say(turn: int) -> Saying:
                value = known[turn % len(known)]
                titled = f"{title} {value}" if title and turn % 3 == 2 else value
                words = {
                    **self.nouns,
                    "name": titled,
                    "name's": possessive(titled),
                    "field": fields[turn % len(fields)],
                }
                return words, {name: value}

            yield DraftTemplate(
                f"{slug(thing.noun)}_details",
                f"Everything about one {thing.noun}, by its name",
                sql,
                write(asked, say) + self._by_field(fields, name, known),
                write(test_frames("details"), lambda t: say(t + 12), most=2),
                (
                    {
                        "name": name,
                        "type": "string",
                        "required": True,
                        "description": f"name of the {thing.noun}",
                        "example": known[0],
                    },
                ),
                counters=tuple(
                    fill(f, {**self.nouns, "name": known[0]})
                    for f in frames("not_details_person" if thing.is_person else "not_details")
                ),
            )
        for key in self._codes():
            yield from self._by_key(key, fields)

    def _codes(self) -> list[Property]:
        """What tells things apart that have no name, and their codes: part P-133."""
        thing, known = self.thing, words_of_columns()
        key = thing.of_column(thing.key[0]) if len(thing.key) == 1 else None
        found = [key] if key is not None else []
        found = [p for p in found if not thing.names or p.column.column.kind == "text"]
        texts = (p for p in thing.of_role("text") if p.column.column.kind == "text")
        found += [
            p
            for p in texts
            if p.column.filled == p.column.distinct > 1
            and p.label.split(" ")[-1] in known.identifiers
        ]
        coded = [p for p in found if p.column.column.kind != "text" or _holds_digits(p)]
        return [p for p in coded if p.name not in thing.names]

    def _by_field(
        self, fields: Sequence[str], name: str, known: Sequence[str]
    ) -> tuple[ExampleQuestion, ...]:
        """Each thing that is known of one, asked for once; people are asked for with who."""
        links = {link.noun for link in self.thing.links if link.thing.is_person}
        persons = [f for f in fields if f in links or {*f.split(" ")} & phrases().people]

        def say(turn: int, of: Sequence[str] = fields) -> Saying:
            value = known[(turn + 3) % len(known)]
            words = {"name": value, "name's": possessive(value), "field": of[turn % len(of)]}
            return {**self.nouns, **words}, {name: value}

        others = [o for f in fields for o in words_of_columns().fields.get(f, ())]
        asked = write(frames("details_field"), say, most=min(len(fields), _MOST_FIELDS))
        if others:
            asked += write(
                frames("details_field"), lambda t: say(t, others), most=min(6, 2 * len(others))
            )
        if persons:
            asked += write(frames("details_who"), lambda t: say(t, persons), most=4)
        return asked

    def _called(self) -> Iterator[DraftTemplate]:
        """Rows by a part of their name."""
        thing = self.thing
        if not thing.names or thing.is_small:
            return
        source = Source(thing, self.kind)
        condition = f"AND LOWER({source.name_of(())}) LIKE LOWER(:part)"
        sql = select(shown_columns(source), source, where([condition]), self.order(source))
        words = [word for name in thing.name_samples() for word in name.split(" ") if len(word) > 3]
        parts = [*dict.fromkeys(w for w in words if w.isalpha())][:20]
        parts = parts if len(parts) > 3 else [*words_of_columns().parts_of_names]
        own = thing.of_column(thing.names[0])
        labels = [*dict.fromkeys(("name", own.label if own and len(thing.names) == 1 else "name"))]

        def say(turn: int) -> Saying:
            part = parts[turn % len(parts)]
            return {**self.nouns, "part": part, "name": labels[turn % len(labels)]}, {"part": part}

        asked = frames("called_person") if len(thing.names) == 2 else ()
        yield DraftTemplate(
            f"{thing.stem}_called",
            f"The {thing.nouns} with a word in their name",
            sql,
            write((*asked, *frames("called")), say),
            (),
            (
                {
                    "name": "part",
                    "type": "string",
                    "required": True,
                    "description": f"a word of the {labels[-1]}",
                    "example": parts[0],
                },
            ),
            counters=self.counters("not_called"),
        )

    def _by_key(self, key: Property, fields: Sequence[str]) -> Iterator[DraftTemplate]:
        thing = self.thing
        if not fields:
            return
        source = Source(thing, self.kind)
        called = "id" if key.role == "key" else key.label
        name = identifier(f"{thing.noun} {called}")
        is_number = key.column.column.kind == "integer"
        sql = select(
            shown_columns(source, everything=True),
            source,
            where([f"AND {source.column((), key.name)} = :{name}"]),
        )
        keys = [v for v in key.column.samples if is_sayable(str(v))] or [12, 25, 7]

        def say(turn: int) -> Saying:
            value = keys[(3 * turn + 4) % len(keys)]
            spoken = f"with {key.label} {value}" if key.role != "key" and turn % 3 == 1 else value
            return {**self.nouns, "key": str(spoken), "field": fields[turn % len(fields)]}, {
                name: value
            }

        yield DraftTemplate(
            f"{slug(thing.noun)}_by_{slug(key.label)}",
            f"One {thing.noun} by its number",
            sql,
            write(frames("by_key"), say, most=10),
            write(test_frames("by_key"), lambda t: say(t + 20), most=1),
            (
                {
                    "name": name,
                    "type": "integer" if is_number else "string",
                    "required": True,
                    "description": f"number of the {thing.noun}",
                    "example": say(0)[1][name],
                },
            ),
            counters=tuple(fill(f, {**self.nouns, **say(0)[0]}) for f in frames("not_key")),
        )


def _holds_digits(prop: Property) -> bool:
    """Whether its values are codes, and not words or short forms of names."""
    return all(any(map(str.isdigit, str(value))) for value in prop.column.samples)
