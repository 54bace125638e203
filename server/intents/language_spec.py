"""A language file as its author writes it: everything that a language decides."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from server.intents.calendar import Counting, Unit
from server.intents.dates import RangeMeaning

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


Character = Annotated[str, Field(min_length=1, max_length=1)]
Characters = Annotated[str, Field(pattern=r"^[0-9A-Fa-f]{4,5}(-[0-9A-Fa-f]{4,5})?$")]
Month = Annotated[int, Field(ge=1, le=12)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", defer_build=True)


class TextSpec(Strict):
    """How the language is written. Ranges of characters are written as `0591-05BD`.

    `ignore` are characters that do not count, `replace` what stands for something else,
    `same` letters that are compared as another one, `finals` the forms that letters
    have at the end of a word, `trailing` punctuation that may close a question,
    `word_marks` what joins letters into one word (`סה"כ`), and `unspaced` the scripts
    in which every character counts as a word. Words that hold one of
    `abbreviation_marks` keep their last letter as it is.
    """

    ignore: list[Characters] = []
    replace: dict[str, str] = {}
    same: dict[Character, Character] = {}
    finals: dict[Character, Character] = {}
    trailing: str = ""
    word_marks: str = ""
    abbreviation_marks: str = ""
    unspaced: list[Characters] = []


class NumbersSpec(Strict):
    words: dict[str, int] = {}
    multipliers: dict[str, int] = {}
    ordinals: dict[str, int] = {}
    joiner: str = ""
    joining_words: list[str] = []
    joined: bool = False


class RelativeSpec(Strict):
    unit: Unit
    number: int = 0
    counting: Counting = "whole"


class CountedSpec(Strict):
    """A pattern whose first group says how many units: "the last {number} days"."""

    pattern: str
    unit: Unit
    counting: Literal["last", "ago"]


class RangeSpec(Strict):
    pattern: str
    means: RangeMeaning


class DatesSpec(Strict):
    week_starts: Weekday = "monday"
    century_pivot: Annotated[int, Field(ge=0, le=100)] = 50
    months: dict[str, Month] = {}
    words: dict[str, RelativeSpec] = {}
    formats: list[str | CountedSpec] = []
    ranges: list[RangeSpec] = []


class LanguageSpec(Strict):
    language: str = Field(min_length=1)
    text: TextSpec = Field(default_factory=TextSpec)
    prefixes: list[str] = []
    stop_words: list[str] = []
    define: dict[str, str] = {}
    numbers: NumbersSpec = Field(default_factory=NumbersSpec)
    dates: DatesSpec = Field(default_factory=DatesSpec)
