"""Words of English that carry no value, and words that lead to one."""

from typing import Final

from server.text.tokens import word_set

POLITE: Final = word_set(
    "please pls plz thanks thank thx ty cheers kindly you now currently today tonight right "
    "asap immediately again ok okay hi hello hey mate"
)
"""Words that may trail a value without being part of it."""

ARTICLES: Final = word_set("a an the my our your their his her this that these those some")

PREPOSITIONS: Final = word_set(
    "in for at on to from with by about into onto near around using via between during until till "
    "since within over under as per regarding concerning and or but then if when while because so "
    "vs versus"
)
"""Words at which a name ends: the "for" of "Tokyo for the next 3 days"."""

FUNCTION_WORDS: Final = (
    POLITE
    | ARTICLES
    | PREPOSITIONS
    | word_set(
        "of is are was were be been being am do does did done doing have has had having will would "
        "can could should shall may might must not no nor it its i me we us you he she they them "
        "him what whats which who whom whose where wheres when why how hows there here than too "
        "very just only also more most much many any all both each few other such own same up "
        "down out off get give gimme tell show find let lets want need like know see look make go "
        "going please next last first s t m re ve ll d don didn doesn isn aren whats"
    )
)
"""Words that are never a value by themselves."""

WEAK_CHOICES: Final = word_set(
    "is are was in on at to of by with for from and or as a an the it me be no not all any most "
    "least more less than up down out off has have do does s i"
) | frozenset("=-+*/.,:")
"""Choices of one such word count only where the text names no other."""

LEADS: Final = {
    "from": word_set("from since starting start begin beginning after of source base out"),
    "to": word_set("to into until till through end ending before target as in becomes"),
    "min": word_set("min minimum least above over exceeding more greater after"),
    "max": word_set("max maximum most below under less fewer within before"),
    "limit": word_set("limit top first max show list give get find fetch display"),
    "page": word_set("page"),
    "called": word_set("called named titled labelled labeled entitled"),
    "place": word_set("in at for near around of to visiting"),
    "topic": word_set("for about on regarding concerning matching"),
    "saying": word_set("saying that says reading text"),
}
"""Words that lead to a value, by what the value's parameter is about."""

FILLERS: Final = word_set(
    "the a of is are was to with than equal equals be number no nr id set me up just only"
) | (frozenset("=:#"))
"""Words that may stand between a name and its value."""

FOLLOWS: Final = {
    "limit": word_set("results result items item rows row records record entries entry hits"),
}
"""Words that follow a value, by what its parameter is about."""

TOPICS: Final = {
    "from": "from", "source": "from", "start": "from", "begin": "from", "since": "from",
    "origin": "from", "base": "from", "departure": "from",
    "to": "to", "end": "to", "finish": "to", "until": "to", "target": "to",
    "destination": "to", "arrival": "to",
    "min": "min", "minimum": "min", "lower": "min",
    "max": "max", "maximum": "max", "upper": "max",
    "limit": "limit", "count": "limit", "top": "limit", "size": "limit",
    "page": "page",
    "title": "called", "name": "called", "label": "called", "task": "called",
    "todo": "called", "reminder": "called",
    "location": "place", "city": "place", "place": "place", "country": "place",
    "region": "place", "town": "place", "address": "place", "where": "place",
    "query": "topic", "topic": "topic", "search": "topic", "keyword": "topic",
    "keywords": "topic", "term": "topic", "subject": "topic",
    "message": "saying", "note": "saying", "text": "saying", "body": "saying", "content": "saying",
}  # fmt: skip
"""What a parameter is about, by a word of its name."""
