"""What a language decides: `languages/xx.yaml`, read once into a `Language`.

To add a language is to add its file. `common.yaml` holds what is shared by all.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import time
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from server.errors import ConfigurationInvalid, Problem
from server.settings.documents import Document, read_yaml
from server.settings.validation import validate

LANGUAGES: Final = Path(__file__).parent / "languages"
COMMON: Final = "common"

Unit = Literal["day", "week", "month", "quarter", "year"]
Counting = Literal["whole", "last", "ago"]
NamedDay = Annotated[
    str,
    Field(
        pattern=r"^([01][0-9]-[0-3][0-9]|easter"
        r"|[1-5] (mon|tues|wednes|thurs|fri|satur|sun)day [01][0-9])([+-][0-9]{1,2})?$"
    ),
]
"""A day of each year: `12-25`, `easter-2`, or the day after the `4 thursday 11+1`."""
RangeMeaning = Literal["between", "since", "after", "until", "before", "on"]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def _split(value: Any) -> Any:
    return value.split() if isinstance(value, str) else value


Character = Annotated[str, Field(min_length=1, max_length=1)]
Characters = Annotated[str, Field(pattern=r"^[0-9A-Fa-f]{4,5}(-[0-9A-Fa-f]{4,5})?$")]
Month = Annotated[int, Field(ge=1, le=12)]
WordSet = Annotated[frozenset[str], BeforeValidator(_split)]
"""Single words: a list, or one text with blanks between them."""
NO_WORDS: Final[frozenset[str]] = frozenset()


def _phrases(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return [phrase for part in value.split(",") if (phrase := " ".join(part.split()))]


Phrases = Annotated[tuple[str, ...], BeforeValidator(_phrases)]
"""Words and phrases: a list, or one text with commas between them."""


class LanguagePart(BaseModel):
    """A part of a language file: frozen, and refusing what it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class TextSpec(LanguagePart):
    """How the language is written, with the fields of `WritingRules`.

    Ranges of characters are written as `0591-05BD`. `ignore` are characters that do not
    count, and `letters` the range of a script that tells the language from others. With
    `capital_nouns` every noun has a capital, with `verbs_last` a request may end with its verb,
    and `clitics` are pronouns that are written in one word with the verb before them. `digraphs`
    are typed where a letter is missing on the keyboard: ue for ü. Letters of one group of
    `sounds` are taken for each other by ear, and words of at least `misspelt_from` letters are
    known with a letter more, less or other.
    """

    digraphs: dict[str, Character] = {}

    capital_nouns: bool = False
    verbs_last: bool = False
    clitics: list[str] = []
    sounds: list[str] = []
    misspelt_from: Annotated[int, Field(ge=1)] = 7

    letters: Characters | Literal[""] = ""
    ignore: list[Characters] = []
    replace: dict[str, str] = {}
    same: dict[Character, Character] = {}
    finals: dict[Character, Character] = {}
    trailing: str = ""
    word_marks: str = ""
    abbreviation_marks: str = ""
    unspaced: list[Characters] = []


class NumbersSpec(LanguagePart):
    """`suffixes` are glued to digits (`200k`), `fractions` said with "of" (`half of`).

    `ones` are the articles that count one unit of time (`eine Woche`), `joiner_in_words` joins
    ones and tens in a single word (`einundzwanzig`), and `decimal` is the sign before decimals.
    `negatives` stand before a number below zero.
    """

    negatives: WordSet = NO_WORDS

    ones: WordSet = NO_WORDS
    joiner_in_words: str = ""
    decimal: Literal[".", ","] = "."

    words: dict[str, int] = {}
    multipliers: dict[str, int] = {}
    ordinals: dict[str, int] = {}
    joiner: str = ""
    joining_words: list[str] = []
    joined: bool = False
    suffixes: dict[str, int] = {}
    fractions: dict[str, float] = {}
    ratios: dict[str, float] = {}
    """Words that say how many times as much, which a model's numbers are held against."""


class RelativeSpec(LanguagePart):
    unit: Unit
    number: int = 0
    counting: Counting = "whole"


class CountedSpec(LanguagePart):
    """A pattern whose first group says how many units: "the last {number} days"."""

    pattern: str
    unit: Unit
    counting: Literal["last", "ago"]


class PartSpec(LanguagePart):
    """A pattern for a part of a year or of a month, whose groups say of which.

    With `months`, it is so many months of a year from the month `first` on; with `days`, so many
    days of a month. `edge` says that people call it by where the year or month starts or ends.
    """

    pattern: str
    first: Annotated[int, Field(ge=1, le=31)]
    months: Annotated[int, Field(ge=1, le=12)] | None = None
    days: Annotated[int, Field(ge=1, le=31)] | None = None
    edge: Literal["start", "end"] | None = None


class RangeSpec(LanguagePart):
    """`edge` leaves the range to parts of that edge: since early 2022 is since its first day."""

    pattern: str
    means: RangeMeaning
    edge: Literal["start", "end"] | None = None


class DatesSpec(LanguagePart):
    """`months` and `weekdays` (0 is Monday) begin with the full names, in order.

    `next` and `last` stand beside a weekday, `ahead` and `ago` before a length of time. With
    `day_first`, 03/04/2025 is in April. `named` are days with a name of their own. `periods` are
    what has a first and a last day, which are called by the words of `edges`; `counted_back` are
    places from the end of a period, `halves` is half of a year, `working` stands before its days
    without weekends, and `lengths` are lengths of time that are called by a single word, in ISO
    8601. `letters` are the numbers that years of the Hebrew calendar are written with, without
    their thousands.
    """

    named: dict[str, NamedDay] = {}
    periods: dict[str, Unit] = {}
    edges: dict[str, Literal["start", "end"]] = {}
    counted_back: dict[str, int] = {}
    halves: WordSet = NO_WORDS
    working: WordSet = NO_WORDS
    lengths: dict[str, str] = {}

    day_first: bool = False
    next: Phrases = ()
    last: Phrases = ()
    ahead: Phrases = ()
    ago: Phrases = ()

    week_starts: Weekday = "monday"
    century_pivot: Annotated[int, Field(ge=0, le=100)] = 50
    months: dict[str, Month] = {}
    weekdays: dict[str, Annotated[int, Field(ge=0, le=6)]] = {}
    words: dict[str, RelativeSpec] = {}
    letters: dict[Character, int] = {}
    formats: list[str | CountedSpec | PartSpec] = []
    ranges: list[RangeSpec] = []


class ReplyWords(LanguagePart):
    """What people say when they are asked for a yes or a no. Punctuation and case do not count.

    A phrase that could be read as a yes to something else has no place in `accept`. A
    single Latin letter or digit counts only where it is the whole reply. `courtesy` may stand
    beside either (please), `unclear` decides nothing (maybe), and `hedges` take back or
    condition what stands before them (but, if, wait).
    """

    accept: tuple[str, ...] = ()
    decline: tuple[str, ...] = ()
    courtesy: tuple[str, ...] = ()
    unclear: tuple[str, ...] = ()
    hedges: tuple[str, ...] = ()


class ReferenceWords(LanguagePart):
    last: list[str] = []
    previous: list[str] = []
    positions: dict[str, int] = {}
    other: list[str] = []
    every: list[str] = []
    after: list[str] = []
    before: list[str] = []
    things: list[str] = []
    shown: list[str] = []


CourtesyKind = Literal["hello", "thanks", "bye", "help", "about"]
"""What a message is that is nothing but polite, or that asks about the assistant itself: `help`
what it can do, and `about` who it is."""


class CourtesyWords(LanguagePart):
    """What is said to an assistant without asking for anything that a tool could do.

    A message that holds a phrase of one of the kinds, and `fillers` at most beside it, is answered
    by the text `courtesy_…` of `messages`. Case, accents and punctuation do not count, nor does
    it how often a letter is repeated. Words of `politeness` are fillers as well.
    """

    hello: Phrases = ()
    thanks: Phrases = ()
    bye: Phrases = ()
    help: Phrases = ()
    about: Phrases = ()
    fillers: Phrases = ()


class FollowupWords(LanguagePart):
    """How people go on with what was said. The comments of `en.yaml` say what each list is for."""

    attached: list[str] = []
    cancel: list[str] = []
    courtesies: list[str] = []
    corrections: list[str] = []
    corrections_after: list[str] = []
    negations: list[str] = []
    but: list[str] = []
    continuations: list[str] = []
    fillers: list[str] = []
    leads: list[str] = []
    counters: list[str] = []
    results: list[str] = []
    anaphors: list[str] = []
    possessives: dict[str, str] = {}
    references: ReferenceWords = ReferenceWords()
    asks: list[str] = []
    commands: list[str] = []
    never: list[str] = []


class DisplaySpec(LanguagePart):
    """How values are shown to readers of the language.

    `group` and `decimal` stand in numbers, `date` is a format as `YYYY-MM-DD`, and
    `money` says where the sign of a currency stands. `identifiers` and `amounts` are words in
    the names of columns: numbers that only name something (id, year), and money.
    """

    group: str = ","
    decimal: str = "."
    date: str = "YYYY-MM-DD"
    money: Literal["{sign}{number}", "{sign} {number}", "{number} {sign}", "{number}{sign}"] = (
        "{number} {sign}"
    )
    identifiers: WordSet = NO_WORDS
    amounts: WordSet = NO_WORDS


class CurrencyWords(LanguagePart):
    """ISO 4217 `codes`, and the `signs` and `names` of currencies.

    `ambiguous` are codes and names that are other words as well. `decimals` are those of
    currencies that do not have two.
    """

    codes: WordSet = NO_WORDS
    signs: dict[str, str] = {}
    sign_prefixes: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    ambiguous: WordSet = NO_WORDS
    decimals: dict[str, Annotated[int, Field(ge=0, le=4)]] = {}


class Politeness(LanguagePart):
    """What changes nothing about what is asked for; `shorthand` and what it is short for."""

    please: tuple[str, ...] = ()
    greetings: tuple[str, ...] = ()
    requests: tuple[str, ...] = ()
    closings: tuple[str, ...] = ()
    shorthand: dict[str, str] = {}


WordGroup = Literal[
    "acronyms", "affirmed", "answer_negations", "answer_words", "any_day", "articles",
    "ask_for_people", "change_leads", "change_verbs",
    "back_after", "back_before",
    "back_references", "before_minus", "before_verbs", "code_names",
    "comparison_fillers", "containing", "contracted", "counting_names",
    "date_names", "day_leads", "earlier",
    "decimal_places", "denied", "exclusions", "format_nouns", "hollow_descriptions",
    "for_whom", "forwards_after", "free_text_edges", "generic_leads", "hollow_flags", "indefinite",
    "hollow_names", "identifier_names",
    "key_leads", "key_nouns", "kinds_of_place", "last", "list_ends", "list_joints",
    "later", "lookback_names",
    "measures",
    "money_names", "name_ends", "name_particles", "named_day_leads", "named_day_verbs",
    "negations", "next", "not_after_may", "not_a_now", "not_after_one", "not_before_one",
    "number_names", "onwards", "operations", "order_names", "own", "owner_leads",
    "allowing", "being", "paging_names", "percent_names", "period_leads", "polite",
    "possessives", "preferred_over", "preferring",
    "prepositions", "pronouns",
    "range_leads", "rate_names", "sentence_leads", "set_phrases", "since_words",
    "somebody_else", "speaker",
    "target_fillers",
    "target_pronouns", "text_names", "through", "to_me", "turns", "until_words",
    "up_to_today", "url_names", "value_fillers",
    "weak_choices", "weak_key_leads", "year_leads",
]  # fmt: skip
"""Lists that serve one purpose each, which the comments of `en.yaml` tell."""
TimeUnit = Literal["second", "minute", "hour", "day", "week", "month", "year"]


Sense = Literal[
    "filler", "light", "negation", "exclusion", "comparison", "superlative", "quantity",
    "universal", "person", "restriction", "time", "direction", "arithmetic", "choice",
    "condition", "question", "reason",
]  # fmt: skip
"""What a word does to a question: nothing, hardly anything, or something of one kind."""


class RemarkWords(LanguagePart):
    """How a clause begins that only tells something, and the words by which it asks after all.

    A clause that begins with one of the `subjects` tells something where a word of `states`
    follows: the cards that you made were great. So does any with one of `copulas`, unless one of
    `relatives` stands before that: words that are polite.
    """

    opens: Phrases = ()
    asks: Phrases = ()
    subjects: Phrases = ()
    states: Phrases = ()
    copulas: Phrases = ()
    relatives: Phrases = ()


class MoodWords(LanguagePart):
    """Openings of requests and of questions; what takes a request back, or makes it depend.

    Those of `advice` ask how something is done. `contrasts` lead to what takes back the words
    before it, even where those are a text. `declines` say of a thing that it is not
    wanted, and count where a rule goes by its name: no more of it.
    """

    requests: Phrases = ()
    questions: Phrases = ()
    advice: Phrases = ()
    refusals: Phrases = ()
    contrasts: Phrases = ()
    conditions: Phrases = ()
    declines: Phrases = ()


class ClockWords(LanguagePart):
    """Times of day in words: half past three, quarter to seven in the morning.

    `parts` of an hour have their minutes. `halves` are the words that say which half of the day
    is meant, and `leads` those that may stand before such a word. `oclock` stands after an hour,
    `before_hour` before it, `half_to` before the hour that the half leads to (halb sieben), and
    `more` and `less` between an hour and its minutes (siete menos cuarto).
    """

    oclock: WordSet = NO_WORDS
    before_hour: Phrases = ()
    half_to: WordSet = NO_WORDS
    more: WordSet = NO_WORDS
    less: WordSet = NO_WORDS

    parts: dict[str, Annotated[int, Field(ge=1, le=59)]] = {}
    past: WordSet = NO_WORDS
    to: WordSet = NO_WORDS
    minutes: WordSet = NO_WORDS
    halves: dict[str, Literal["a", "p"]] = {}
    leads: WordSet = NO_WORDS


class RateWords(LanguagePart):
    """How a number is said to be per some time.

    `leads` stand before a unit of time and mean nothing else there, `loose` are articles as well;
    after them one of `moving` makes a moment of it: a week from now. After a bare number those of
    `recurring` say when and not how much, and so do `adverbs`, which are lead and unit at once: at
    7 every day.
    """

    leads: WordSet = NO_WORDS
    loose: WordSet = NO_WORDS
    recurring: WordSet = NO_WORDS
    adverbs: dict[TimeUnit, WordSet] = {}
    moving: WordSet = NO_WORDS


class RoleWords(LanguagePart):
    """How words around values say what each is for.

    `small` words say nothing of that. After one of `turning` the second of two values may as well
    be the first in rank: 5 from 20. `commutative` operations take theirs in any order. `starts`
    and `ends` are in the names of parameters that are the ends of a range, `period_starts` and
    `period_ends` in those of the days between which data are asked for. `stretch_starts` and
    `stretch_ends` stand before the numbers from and to which something goes. `at_least` and
    `at_most` make a value a bound, before it or after it. `unknown` phrases stand where a value
    would, and ask for it: 45 is 15 % of what.
    """

    small: WordSet = NO_WORDS
    turning: WordSet = NO_WORDS
    commutative: WordSet = NO_WORDS
    starts: WordSet = NO_WORDS
    ends: WordSet = NO_WORDS
    unknown: Phrases = ()
    stretch_starts: WordSet = NO_WORDS
    stretch_ends: WordSet = NO_WORDS
    period_starts: WordSet = NO_WORDS
    period_ends: WordSet = NO_WORDS
    at_least: Phrases = ()
    at_least_after: Phrases = ()
    at_most: Phrases = ()
    at_most_after: Phrases = ()


class SumWords(LanguagePart):
    """How arithmetic is said. The comments of `en.yaml` say what each list is for.

    `forms` are phrases with slots by what they ask to work out, and `declined` those that ask for
    what cannot be; `server/text/expressions/grammar.py` tells how they are written. `shown` is how
    an operation without a sign of its own is shown.
    """

    forms: dict[str, tuple[str, ...]] = {}
    steps: dict[str, tuple[str, ...]] = {}
    adds: WordSet = NO_WORDS
    then: Phrases = ()
    it: Phrases = ()
    declined: dict[str, tuple[str, ...]] = {}
    shown: dict[str, str] = {}
    of: WordSet = NO_WORDS
    per: WordSet = NO_WORDS
    ones: WordSet = NO_WORDS
    point: WordSet = NO_WORDS
    plural: WordSet = NO_WORDS
    joints: WordSet = NO_WORDS
    percent: Phrases = ()
    halves: dict[str, float] = {}
    charges: Phrases = ()
    reductions: Phrases = ()
    fillers: Phrases = ()
    leads: Phrases = ()
    asks: Phrases = ()
    tails: Phrases = ()
    not_things: WordSet = NO_WORDS
    places: dict[str, int] = {}
    units: dict[str, Phrases] = {}
    powers: dict[str, int] = {}
    compounds: dict[str, dict[str, int]] = {}
    spaced_units: WordSet = NO_WORDS
    scales: WordSet = NO_WORDS
    unit_plurals: dict[str, str] = {}
    pint_names: dict[str, str] = {}


class RowDegree(LanguagePart):
    """Words for the two ends of what a field holds: “cheapest” is least in a price.

    `most` and `least` are superlatives, `more` and `less` comparatives. `fields` are names that
    such a field has, the likeliest first, and `verbs` those whose object it is: who earns most.
    """

    most: Phrases = ()
    least: Phrases = ()
    more: Phrases = ()
    less: Phrases = ()
    verbs: Phrases = ()
    fields: Phrases = ()


class RowWords(LanguagePart):
    """How people ask about rows of data; the comments of `en.yaml` say what each list is for."""

    same: tuple[Phrases, ...] = ()
    degrees: tuple[RowDegree, ...] = ()
    attributes: WordSet = NO_WORDS
    nouns: WordSet = NO_WORDS
    singles: WordSet = NO_WORDS
    columns: Phrases = ()
    verbs: Phrases = ()
    having: Phrases = ()
    shows: Phrases = ()
    keeps: Phrases = ()
    removes: Phrases = ()
    excludes: Phrases = ()
    nots: Phrases = ()
    counts: Phrases = ()
    distincts: Phrases = ()
    sorts: Phrases = ()
    groups: Phrases = ()
    eaches: Phrases = ()
    highest: Phrases = ()
    lowest: Phrases = ()
    tops: Phrases = ()
    bottoms: Phrases = ()
    onlys: Phrases = ()
    ands: Phrases = ()
    ors: Phrases = ()
    froms: Phrases = ()
    alls: Phrases = ()
    wheres: Phrases = ()
    verdicts: WordSet = NO_WORDS
    fillers: Phrases = ()
    turns: WordSet = NO_WORDS
    un: tuple[str, ...] = ()


class DataWords(LanguagePart):
    """How people ask tables that belong together; `en.yaml` says what each list is for."""

    frames: Phrases = ()
    joins: Phrases = ()
    counts: Phrases = ()
    totals: Phrases = ()
    averages: Phrases = ()
    money: Phrases = ()
    money_done: Phrases = ()
    wages: Phrases = ()
    costs: Phrases = ()
    units: Phrases = ()
    selling: Phrases = ()
    most: Phrases = ()
    least: Phrases = ()
    tops: Phrases = ()
    each: Phrases = ()
    by: Phrases = ()
    months: Phrases = ()
    years: Phrases = ()
    days: Phrases = ()
    month: Phrases = ()
    year: Phrases = ()
    day: Phrases = ()
    quarters: Phrases = ()
    quarter: Phrases = ()
    weekdays: Phrases = ()
    weekday: Phrases = ()
    weekends: WordSet = NO_WORDS
    workdays: WordSet = NO_WORDS
    calendar_months: Phrases = ()
    calendar_month: Phrases = ()
    nots: Phrases = ()
    without: Phrases = ()
    more: Phrases = ()
    exactly: Phrases = ()
    less: Phrases = ()
    at_least: Phrases = ()
    at_most: Phrases = ()
    or_more: Phrases = ()
    or_less: Phrases = ()
    between: Phrases = ()
    contains: Phrases = ()
    begins: Phrases = ()
    ends: Phrases = ()
    different: Phrases = ()
    who: Phrases = ()
    when: Phrases = ()
    last: Phrases = ()
    first: Phrases = ()
    descending: Phrases = ()
    ascending: Phrases = ()
    alphabetical: Phrases = ()
    sorts: Phrases = ()
    addresses: Phrases = ()
    address_parts: Phrases = ()
    on_top: Phrases = ()
    figure_nouns: WordSet = NO_WORDS
    sellers: WordSet = NO_WORDS
    buyers: WordSet = NO_WORDS
    orderings: WordSet = NO_WORDS
    included: WordSet = NO_WORDS
    originally: dict[str, str] = {}
    being_from: WordSet = NO_WORDS
    relatives: WordSet = NO_WORDS
    altogether: Phrases = ()
    singular_verbs: WordSet = NO_WORDS
    every: WordSet = NO_WORDS
    tails: WordSet = NO_WORDS
    mailers: WordSet = NO_WORDS
    mail_names: Phrases = ()
    empties: WordSet = NO_WORDS
    nobody: WordSet = NO_WORDS
    date_noun: str = ""
    spans: WordSet = NO_WORDS
    compare: Phrases = ()
    recent: Phrases = ()
    times: Phrases = ()
    zero: Phrases = ()
    shares: Phrases = ()
    overdue: Phrases = ()
    late: Phrases = ()
    on_time: Phrases = ()
    after: Phrases = ()
    before: Phrases = ()
    lasting: Phrases = ()
    takes: WordSet = NO_WORDS
    due: WordSet = NO_WORDS
    done_days: WordSet = NO_WORDS
    working: WordSet = NO_WORDS
    everything: Phrases = ()
    each_of_them: Phrases = ()
    owned_by: WordSet = NO_WORDS
    paying: WordSet = NO_WORDS
    we: WordSet = NO_WORDS
    which: WordSet = NO_WORDS
    initials: WordSet = NO_WORDS
    texts_of_days: WordSet = NO_WORDS
    allowing: WordSet = NO_WORDS
    discounted: Phrases = ()
    comes_to: Phrases = ()
    manners: WordSet = NO_WORDS
    how_tos: Phrases = ()
    wheres: WordSet = NO_WORDS
    percents: WordSet = NO_WORDS
    past: WordSet = NO_WORDS
    commonest: Phrases = ()
    irregular_verbs: dict[str, Phrases] = {}
    plural_verbs: WordSet = NO_WORDS
    verb_leads: WordSet = NO_WORDS
    staff: Phrases = ()
    payers: Phrases = ()
    persons: WordSet = NO_WORDS
    remark_starts: WordSet = NO_WORDS
    purposes: Phrases = ()
    references: WordSet = NO_WORDS
    asking: WordSet = NO_WORDS
    reorders: WordSet = NO_WORDS
    duties: WordSet = NO_WORDS
    reorder_levels: Phrases = ()
    nows: Phrases = ()
    holders: WordSet = NO_WORDS
    takers: WordSet = NO_WORDS
    open_word: str = ""
    particles: WordSet = NO_WORDS
    date_words: WordSet = NO_WORDS
    running: Phrases = ()
    over_time: Phrases = ()
    containers: WordSet = NO_WORDS
    sales: WordSet = NO_WORDS
    each_one: Phrases = ()
    popular: WordSet = NO_WORDS
    reduced: Phrases = ()
    same: WordSet = NO_WORDS
    same_leads: WordSet = NO_WORDS
    places: WordSet = NO_WORDS
    given_away: WordSet = NO_WORDS
    acquired: Phrases = ()
    worth: WordSet = NO_WORDS
    day_ends: WordSet = NO_WORDS
    future: Phrases = ()
    future_leads: Phrases = ()
    being: WordSet = NO_WORDS
    did: WordSet = NO_WORDS
    have_done: WordSet = NO_WORDS
    joints: WordSet = NO_WORDS
    still: WordSet = NO_WORDS
    number_words: dict[str, int] = {}
    ones: WordSet = NO_WORDS
    whose: WordSet = NO_WORDS
    imperatives: WordSet = NO_WORDS
    about: Phrases = ()
    texts: WordSet = NO_WORDS
    pending: dict[str, Phrases] = {}
    kept: dict[str, Phrases] = {}
    weights: Phrases = ()
    measured: Phrases = ()
    ages: Phrases = ()
    births: WordSet = NO_WORDS
    birthdays: Phrases = ()
    weight_names: WordSet = NO_WORDS
    flag_prefixes: WordSet = NO_WORDS
    flag_leads: WordSet = NO_WORDS
    calendar_years: WordSet = NO_WORDS
    dateless: WordSet = NO_WORDS
    colleagues: WordSet = NO_WORDS
    year_leads: WordSet = NO_WORDS
    rated: WordSet = NO_WORDS
    hundredths: WordSet = NO_WORDS
    how_much: Phrases = ()
    only_more: WordSet = NO_WORDS
    alternatives: WordSet = NO_WORDS
    together: WordSet = NO_WORDS
    unit_leads: WordSet = NO_WORDS
    asked_units: WordSet = NO_WORDS
    contents: WordSet = NO_WORDS
    end_leads: WordSet = NO_WORDS
    than: WordSet = NO_WORDS
    ends_of_number: WordSet = NO_WORDS
    ends_of_size: WordSet = NO_WORDS
    articles: WordSet = NO_WORDS
    having: WordSet = NO_WORDS
    having_one: Phrases = ()
    verdicts: WordSet = NO_WORDS
    held: WordSet = NO_WORDS
    role_leads: WordSet = NO_WORDS
    stocks: Phrases = ()
    prices: Phrases = ()
    amounts: Phrases = ()
    agents: dict[str, Phrases] = {}
    authors: dict[str, Phrases] = {}
    done: dict[str, Phrases] = {}
    dates: dict[str, Phrases] = {}
    roles: dict[str, Phrases] = {}
    adjectives: dict[str, str] = {}
    nations: dict[str, Phrases] = {}


class Language(LanguagePart):
    """One language: how it is written, counts and dates, and the words it says things with."""

    language: str = Field(min_length=1)
    text: TextSpec = TextSpec()
    prefixes: list[str] = []
    stemmer: str = ""
    """The name of a Snowball stemmer."""
    stop_words: WordSet = NO_WORDS
    define: dict[str, str] = {}
    numbers: NumbersSpec = NumbersSpec()
    dates: DatesSpec = DatesSpec()
    words: dict[WordGroup, WordSet] = {}
    leads: dict[str, WordSet] = {}
    follows: dict[str, WordSet] = {}
    topics: dict[str, WordSet] = {}
    roles: RoleWords = RoleWords()
    units: dict[TimeUnit, WordSet] = {}
    rates: RateWords = RateWords()
    measures: dict[str, WordSet] = {}
    times: dict[str, time] = {}
    clock: ClockWords = ClockWords()
    date_formats: dict[str, str] = {}
    operators: dict[str, list[str]] = {}
    aggregates: dict[str, list[str]] = {}
    orders: dict[str, list[str]] = {}
    rows: RowWords = RowWords()
    data: DataWords = DataWords()
    currencies: CurrencyWords = CurrencyWords()
    display: DisplaySpec = DisplaySpec()
    sums: SumWords = SumWords()
    politeness: Politeness = Politeness()
    replies: ReplyWords = ReplyWords()
    courtesy: CourtesyWords = CourtesyWords()
    followups: FollowupWords = FollowupWords()
    senses: dict[Sense, Phrases] = {}
    actions: tuple[Phrases, ...] = ()
    """Groups of verbs that ask for the same to be done; the first is of asking to be told."""
    remarks: RemarkWords = RemarkWords()
    moods: MoodWords = MoodWords()
    comparing: Phrases = ()
    """What asks for the same of two places, beside one another."""
    joints: Phrases = ()
    """What joins two requests in one message; `followups.attached` may be glued to the second."""
    everyday_sentences: tuple[str, ...] = ()
    messages: dict[str, str] = {}
    """What the server says in its own voice, as Jinja by name."""

    def group(self, name: WordGroup) -> frozenset[str]:
        """Return the words of a group; none where the language has no such list."""
        return self.words.get(name, NO_WORDS)

    @property
    def edge_words(self) -> frozenset[str]:
        """Words that do not begin or end a free text of a rule pack."""
        return self.group("free_text_edges") or self.stop_words

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Words that are never a value by themselves: THE stop words of the language."""
        return self.stop_words.union(
            self.group("polite"), self.group("articles"), self.group("prepositions")
        )


@dataclass(frozen=True, slots=True)
class LanguageFile:
    """A language and where each part of it was written."""

    document: Document
    spec: Language


def read_language(
    path: Path, environ: Mapping[str, str]
) -> tuple[LanguageFile | None, tuple[Problem, ...]]:
    """Read a language file; None where it cannot be used."""
    document = read_yaml(path, environ)
    spec, wrong = validate(Language, document)
    file = LanguageFile(document, spec) if spec is not None else None
    return file, (*document.problems, *wrong)


@cache
def shipped_file(name: str) -> LanguageFile:
    """Return the file of a language that ships, read on first use. Blocks.

    Raises:
        ConfigurationInvalid: there is no such language, or its file is broken.
    """
    file, problems = read_language(LANGUAGES / f"{name}.yaml", {})
    if file is None:
        raise ConfigurationInvalid(problems)
    return file


def load_language(name: str) -> Language:
    """Return a language that ships; as `shipped_file`."""
    return shipped_file(name).spec


@cache
def shipped_names() -> tuple[str, ...]:
    """Codes of the languages that ship, in order."""
    return tuple(sorted({p.stem for p in LANGUAGES.glob("*.yaml")} - {COMMON}))


def shipped_languages() -> tuple[Language, ...]:
    """All languages that ship, read on first use. Blocks."""
    return tuple(map(load_language, shipped_names()))


def shipped_message(name: str, code: str) -> str | None:
    """What the server says under that name, in English where the language has no such text."""
    return own_message(name, code) or own_message(name, "en")


def own_message(name: str, code: str) -> str | None:
    """What the server says under that name in that very language."""
    code = code.partition("-")[0].lower()
    return load_language(code).messages.get(name) if code in shipped_names() else None


def everyday_sentences(codes: Iterable[str], texts: Iterable[str]) -> tuple[str, ...]:
    """What is said to any assistant, whatever it can do, in the languages of a library.

    They are those with one of the `codes` and those in whose letters the `texts` are
    written; English where neither is known. To tell Hebrew from English is no doubt at
    all, so a classifier learns "none of these" only from sentences in its own languages.
    """
    named = {code.partition("-")[0].lower() for code in codes}
    letters = set("".join(texts))
    wanted = [
        language.everyday_sentences
        for language in shipped_languages()
        if language.language in named
        or not letters.isdisjoint(characters_in(language.text.letters))
    ]
    return tuple(chain(*wanted)) or load_language("en").everyday_sentences


def character_range(span: str) -> tuple[str, str]:
    """Return the first and last character of `0591-05BD`, or of one code alone."""
    first, _, last = span.partition("-")
    return chr(int(first, 16)), chr(int(last or first, 16))


def characters_in(span: str) -> Iterable[str]:
    """Return every character of a range; none of an empty one."""
    first, last = map(ord, character_range(span)) if span else (1, 0)
    return map(chr, range(first, last + 1))
