"""Reads the clauses of a story. A word that is in no list and names nothing ends the story."""

from collections.abc import Callable
from typing import Final

from server.text.expressions.stories.amounts import AmountReader, Noun
from server.text.expressions.stories.facts import (
    ANY,
    COUNTED,
    EACH,
    LENGTH,
    MEASURED,
    MONEY,
    PEOPLE,
    PERCENT,
    PERSON,
    TIME,
    Asked,
    Fact,
    Role,
    Story,
    is_noun,
)
from server.text.stems import singular

_ENDS: Final = frozenset(".;!")
_MOST_FACTS: Final = 4
_ROLES: Final[tuple[Role, ...]] = ("minus", "plus", "have")
QUESTIONS: Final = {
    "how_many": COUNTED, "how_much": MEASURED, "how_long": TIME, "how_far": LENGTH, "what": "",
    "asks_total": ANY,
}  # fmt: skip


class Scanner:
    """Reads one story, from a word on."""

    def __init__(self, amounts: AmountReader) -> None:
        self.amounts = amounts
        self.tokens = amounts.tokens
        self.end = amounts.end
        self.story = Story()
        self._clause = 0
        self._role: Role = ""
        self._who = ""
        self._subject: Noun | None = None
        self._of_subject = ""
        """How amounts are of what the clause is about: "" not, "a" of any one, "each" of each."""
        self._is_open = True
        """Whether the clause may still name what it is about."""
        self._asks = False
        """Whether the clause is the question."""
        self._counts_us = False
        """Whether a bare number says how many we are."""

    def read(self, at: int) -> Story | None:
        """Return the story from a word on, with the word that it ends at; None for none."""
        words = self.tokens.words
        while at < len(words) and len(self.story.facts) <= _MOST_FACTS:
            after = self._question(at) if self.story.asked is None else 0
            after = after or self._part(at)
            if not after:
                break
            at = after
            self.story.last = at
        while self.story.last and words[self.story.last - 1] in ",.;!?:":
            self.story.last -= 1
        return self.story if self.story.asked is not None and self._is_closed(at) else None

    def _is_closed(self, at: int) -> bool:
        """Whether nothing follows but signs and words that only ask."""
        words = self.tokens.words
        lexicon = self.amounts.numerals.lexicon
        while at < len(words):
            if words[at] not in "?.!":
                at = lexicon.tails.longest(words, at)
                if not at:
                    return False
                continue
            at += 1
        return True

    def _part(self, at: int) -> int:
        """Return the word after the next part of a statement; 0 where nothing is known."""
        if self.tokens.words[at] in ",.;!?:":
            self._next_clause()
            return at + 1
        steps: tuple[Callable[[int], int], ...] = (
            self._joint, self._mark, self._one_subject, self._amount, self._called, self._person, self._verb, self._known_subject,
            self._place, self._bare_subject, self._filler,
        )  # fmt: skip
        return next((after for step in steps if (after := step(at))), 0)

    def _next_clause(self) -> None:
        self._clause += 1
        self._role, self._who, self._subject, self._of_subject = "", "", None, ""
        self._is_open, self._counts_us, self._asks = True, False, False

    def _joint(self, at: int) -> int:
        end = self.end("joints", at)
        if end:
            self._next_clause()
        return end

    def _mark(self, at: int) -> int:
        end, mark = self.amounts.mark(at)
        if end:
            self.story.marks.add(mark)
        return end

    def _one_subject(self, at: int) -> int:
        """Read “a box”, “each box”: what amounts of the clause are in, of or for."""
        for name, of in (("each_one", "each"), ("any_one", "a")):
            one = self.end(name, at)
            if not one or not self._is_open:
                continue
            noun = self.amounts.one(one)
            if noun is not None and self.amounts.amount(one) is None:
                if self.tokens.word(noun.last) in self.amounts.numerals.lexicon.of:
                    of_what = self.amounts.noun(noun.last + 1)
                    noun = noun._replace(last=of_what.last) if of_what else noun
                self._of_subject = of
                return self._about(noun)
        return 0

    def _about(self, noun: Noun) -> int:
        self._subject, self._who, self._is_open = noun, "noun", False
        self.story.named.add(noun.thing)
        return noun.last

    def _amount(self, at: int) -> int:
        start = self.end("links", at) or at
        another = self.end("another", start)
        found = self.amounts.amount(start)
        if found is None:
            return 0
        fact, last = found
        role: Role = self._role
        more = self.end("more", last)
        if more or another:
            if role == "minus":
                return 0
            role = "plus"
        before = self.story.facts[-1] if self.story.facts else None
        if fact.below_thing == EACH and self._is_open and self._is_verb(last):
            fact = fact._replace(below_thing="", below_shown="")  # 3 kids each get 20
            name = singular(fact.shown.partition(" ")[2])
            self._subject, self._of_subject = Noun(fact.thing, name, last), "each"
        elif (
            start > at
            and self.tokens.words[at] in self.amounts.numerals.lexicon.of
            and not fact.is_rate
        ):
            name = self._of_what(before)
            if name is None or not (is_noun(fact.thing) or self._of_subject == "a"):
                return 0
            if is_noun(fact.thing):
                fact = fact._replace(
                    below_thing=name.thing,
                    below_shown=name.name,
                    is_optional=self._of_subject == "a",
                )
        elif (
            self._subject is not None
            and self._of_subject
            and not fact.is_rate
            and fact.thing != PERCENT
        ):
            fact = fact._replace(
                below_thing=self._subject.thing,
                below_shown=self._subject.name,
                is_optional=self._of_subject == "a",
            )
        if fact.thing == PERCENT and self.end("along", at):
            (self.story.asked_marks if self._asks else self.story.marks).add("with")
        if fact.thing == ANY and not fact.is_rate and self._counts_us:
            fact = fact._replace(thing=PEOPLE, shown=f"{fact.shown} people")
        self.story.facts.append(fact._replace(role=role, who=self._who, clause=self._clause))
        self._is_open = False
        return more or last

    def _of_what(self, before: Fact | None) -> Noun | None:
        """Return what holds an amount after "of": 7 packs of 8 rolls."""
        if self._of_subject and self._subject is not None:
            return self._subject
        if before is None or not is_noun(before.thing) or before.is_rate:
            return None
        return Noun(before.thing, singular(before.shown.partition(" ")[2]), 0)

    def _is_verb(self, at: int) -> bool:
        return any(self.end(name, at) for name in ("have", "verbs", "minus", "plus"))

    def _called(self, at: int) -> int:
        """Read “a bill” before “of $120”."""
        one = self.end("determiners", at) or self.end("any_one", at)
        noun = self.amounts.noun(one) if one else None
        if one and noun is None and (end := self.end("pays", one)):
            noun = Noun("", "", end)
        if noun is None or self.tokens.word(noun.last) not in self.amounts.numerals.lexicon.of:
            return 0
        return noun.last + 1 if self.amounts.amount(noun.last + 1) is not None else 0

    def _person(self, at: int) -> int:
        for name, who in (("tellers", "teller"), ("others", "other")):
            if (end := self.end(name, at)) and self._is_open:
                self._who = who
                self._counts_us = bool(self.end("we_are", at))
                return end
        return 0

    def _verb(self, at: int) -> int:
        found: list[tuple[int, Role]] = [(self.end(role, at), role) for role in _ROLES]
        found.append((self.end("verbs", at), ""))
        end, role = max(found, key=lambda one: one[0])
        if not end:
            return 0
        facts = self.story.facts
        is_passive = self._role == "have" and facts and facts[-1].clause == self._clause
        if is_passive and role == "minus" and not facts[-1].role:
            facts[-1] = facts[-1]._replace(role="minus", who="")  # 85 were sold
        self._counts_us = bool(self.end("are", at)) and self._who == "teller"
        self._role = role or self._role
        self._is_open = False
        return end

    def _known_subject(self, at: int) -> int:
        """Read “the cabin”, “my sister”."""
        one = self.end("determiners", at)
        noun = self.amounts.one(one) if one and self._is_open else None
        if noun is None:
            return 0
        return self._about(noun)

    def _place(self, at: int) -> int:
        """Read “in my class”, “for lunch”, “to the shop”."""
        one = self.end("places", at)
        if not one:
            return 0
        noun = self.amounts.noun(self.end("determiners", one) or self.end("any_one", one) or one)
        return 0 if noun is None else noun.last

    def _bare_subject(self, at: int) -> int:
        """Read “dinner” before a verb."""
        noun = self.amounts.one(at) if self._is_open and not self._who else None
        if noun is None or not self._is_verb(noun.last):
            return 0
        return self._about(noun)

    def _filler(self, at: int) -> int:
        return self.end("fillers", at)

    # The question.

    def _question(self, at: int) -> int:
        """Return the word after the question that begins at a word; 0 for none."""
        for name in QUESTIONS:
            if end := self.end(name, at):
                self._next_clause()
                return self._asked(name, end)
        return 0

    def _asked(self, opener: str, at: int) -> int:
        words = self.tokens.words
        asked = Asked(QUESTIONS[opener], is_total=opener == "asks_total")
        facts = len(self.story.facts)
        if opener in ("how_many", "how_much"):
            asked, at = self._asked_thing(opener, asked, at)
        self._is_open, self._asks = False, True
        while at < len(words) and words[at] not in ",?.!;":
            if self.end("joints", at) and not self.end("aux", at):
                break
            after = 0
            for step in (self._asked_words, self._asked_one, self._asked_amount, self._asked_name):
                asked, after = step(asked, at)
                if after:
                    break
            if not after:
                return 0
            at = after
        if not asked.thing and not (asked.is_left or self.story.asked_marks):
            return 0
        self.story.facts[facts:] = [one._replace(is_asked=True) for one in self.story.facts[facts:]]
        self.story.asked = asked
        self._next_clause()
        return at

    def _asked_thing(self, opener: str, asked: Asked, at: int) -> tuple[Asked, int]:
        if opener == "how_much" and (end := self.end("money", at)):
            return asked._replace(thing=MONEY), end
        if (mark := self.amounts.mark(at))[0]:
            self.story.asked_marks.add(mark[1])
            return asked, mark[0]
        unit, last = self.amounts.numerals.measure(at)
        if len(unit) == 1 and unit[0][1] == 1:
            name = self.tokens.slice(at, last).lower()
            asked = asked._replace(thing=unit[0][0], name=name)
        elif (noun := self.amounts.one(at, of_many=True)) is not None:
            asked, last = asked._replace(thing=noun.thing, name=noun.name), noun.last
        elif end := self.end("people", at):
            asked, last = asked._replace(thing=PERSON), end
        else:
            return asked, at
        if self.tokens.word(last) in self.amounts.numerals.lexicon.of:
            of_what = self.amounts.noun(last + 1)
            last = of_what.last if of_what is not None else last
        return asked, last

    def _asked_words(self, asked: Asked, at: int) -> tuple[Asked, int]:
        """Read what is left, in total, everyone's share, my pay; and words that only ask."""
        ends = {
            name: self.end(name, at)
            for name in ("left", "total", "everyone", "shares", "pays", "aux", "determiners")
        }
        mark_end, mark = self.amounts.mark(at)
        name = max(ends, key=lambda one: ends[one])
        end = ends[name]
        if mark_end > end or (mark_end and mark_end == end and name != "left"):
            self.story.asked_marks.add(mark)
            return asked, mark_end
        if not end:
            return asked, 0
        if name == "left":
            asked = asked._replace(is_left=True, thing=asked.thing or ANY)
        elif name == "total":
            asked = asked._replace(is_total=True, thing=asked.thing or ANY)
        elif name == "everyone":
            asked = asked._replace(below=asked.below or PERSON, thing=asked.thing or ANY)
        elif name in ("shares", "pays"):
            asked = asked._replace(thing=asked.thing or (MEASURED if name == "pays" else ANY))
        elif name == "aux" and not asked.thing and self._costs(at):
            asked = asked._replace(thing=MEASURED)
        elif name == "determiners":
            noun = self.amounts.noun(end)
            is_more = any(self.end(more, end) for more in ("left", "total", "shares", "pays"))
            if noun is not None and not is_more and not self.amounts.mark(end)[0]:
                known = noun.last if self._is_known(noun) else 0
                return asked._replace(thing=asked.thing or ANY), known
        return asked, end

    def _costs(self, at: int) -> bool:
        return bool(self.end("costs", at))

    def _asked_one(self, asked: Asked, at: int) -> tuple[Asked, int]:
        """Read “per can”, “one pen”, “each box”, “a week”: what it is asked for one of."""
        one = self.end("asked_one", at)
        if not one or asked.below:
            return asked, 0
        unit, last = self.amounts.numerals.measure(one)
        if len(unit) == 1 and unit[0][1] == 1:
            return asked._replace(below=unit[0][0]), last
        noun = self.amounts.one(one)
        if noun is not None:
            return asked._replace(below=noun.thing), noun.last
        return asked, 0

    def _asked_amount(self, asked: Asked, at: int) -> tuple[Asked, int]:
        return asked, self._amount(at)

    def _asked_name(self, asked: Asked, at: int) -> tuple[Asked, int]:
        """Read the name of something that the story tells of: how many pages has the book."""
        noun = self.amounts.noun(self.end("links", at) or at)
        return asked, noun.last if noun is not None and self._is_known(noun) else 0

    def _is_known(self, noun: Noun) -> bool:
        """Whether the story told of it; a question that comes first may name anything."""
        facts = self.story.facts
        return noun.thing in self.story.named or any(
            noun.thing in (one.thing, one.below_thing) for one in facts
        )
