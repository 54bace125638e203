"""What a question is about, without the values it carries.

To an encoder the numbers of "What is 15% of 200?" are half of the text, and a JSON table drowns
the sentence around it. So each value is replaced by one fixed value of its kind, and courtesies
and shorthand go, in questions and examples alike.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from server.library.model import Library
from server.library.parameters import name_words
from server.text.codes import EXACT, CodeForm, find_codes, form_of
from server.text.dates import MONTH_PATTERN
from server.text.language import load_language, shipped_languages
from server.text.phrases import PhraseTable
from server.text.rows.naming import said_of_rows
from server.text.stems import inflections
from server.text.tokens import Tokens

_NUMBERS: Final = load_language("en").numbers
_IDENTIFIERS: Final = load_language("en").group("identifier_names")
_MONTH: Final = rf"(?:{MONTH_PATTERN})\b\.?"
_NUMBER_WORDS: Final = (
    *(word for word, value in _NUMBERS.words.items() if value > 1 and " " not in word),
    *_NUMBERS.multipliers,
)
_NUMBER_WORD: Final = rf"(?:{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))})\b"
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"

_KINDS: Final[tuple[tuple[str, str, str], ...]] = (
    ("url", r"https?://\S+", "https://example.org"),
    ("email", r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", "name@example.org"),
    (
        "date",
        rf"(?:\d{{4}}-\d{{1,2}}-\d{{1,2}}(?:[t ]\d{{1,2}}:\d\d[\d:.]*z?(?:[+-]\d\d:?\d\d)?)?"
        r"|(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])"
        rf"|\d{{1,4}}[/.]\d{{1,2}}[/.]\d{{1,4}}"
        rf"|{_MONTH}\s+{_DAY}(?:,?\s+\d{{4}})?"
        rf"|{_DAY}[\s-]+(?:of\s+)?{_MONTH}(?:[\s,-]+\d{{4}})?)(?!\w)",
        "2025-01-01",
    ),
    ("time", r"\d{1,2}:\d\d(?::\d\d)?\b", "10:30"),
)
_CODE: Final = "code"
_NUMBER: Final = "10"
# What can begin at few places is asked first: this is tried at every letter of a question.
_VALUES: Final = re.compile(
    rf"\b(?:{'|'.join(f'(?P<{kind}>{pattern})' for kind, pattern, _ in _KINDS)})"
    r"|(?P<number>\d(?:(?<![\w.]\d)|(?<=\dx\d))[\d.,]*(?<![.,]))"
)
_STANDS_FOR: Final = {kind: text for kind, _, text in _KINDS} | {"number": _NUMBER}
_HAS_VALUE: Final = re.compile(r"[\d@:]")
_WORDS: Final = re.compile(rf"\b{_NUMBER_WORD}(?:(?:\s+|-){_NUMBER_WORD})*\b")
_LIST: Final = re.compile(r"\b10(?:(?:\s*,\s*|\s+(?:and\s+)?|\s*,\s*and\s+)10\b){2,}")
_QUOTED: Final = re.compile(r"\"[^\"\n]{1,80}\"|(?<!\w)'[^'\n]{1,80}'(?!\w)")
_QUOTE: Final = '"text"'
_OPENING: Final = {"{": "}", "[": "]"}
_SHORTEST_DATA: Final = 24
_DATA: Final = " this data "
_LONGEST: Final = 2000
_ANY_WORD: Final = re.compile(r"[\w']+")
_FOLLOWUPS: Final = tuple(language.followups for language in shipped_languages())
_WAYS: Final = tuple(language.politeness for language in shipped_languages())
_SHORTHAND: Final = {short: full for ways in _WAYS for short, full in ways.shorthand.items()}


def _any(phrases: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(phrases, key=len, reverse=True)))


_PLEASE: Final = _any(word for ways in _WAYS for word in ways.please)
_OPENINGS: Final = _any(
    phrase for ways in _WAYS for phrase in (*ways.please, *ways.greetings, *ways.requests)
)
_LAST_WORDS: Final = tuple(phrase for ways in _WAYS for phrase in ways.closings)
"""How a text ends that ends in a courtesy: most do not, and looking for one takes long."""
_BEFORE: Final = re.compile(rf"^(?:(?:{_OPENINGS})\b[\s,!.]*)+")
_AFTER: Final = re.compile(rf"(?:[\s,]*\b(?:{_any(_LAST_WORDS)})\b)+(?=[\s?.!]*$)")
_BETWEEN: Final = re.compile(rf"\b(?:{_PLEASE})\b\s*")


def mask(text: str) -> str:
    """Return `text` in plain lower-case words, data and values replaced by one of each kind.

    With single blanks, cut at a length no question needs.
    """
    sound = text.encode("utf-8", "replace").decode()  # half of a character encodes to nothing
    if "[" in text or "{" in text:
        sound = "".join(_without_data(sound))
    masked = " ".join(sound.split())[:_LONGEST].lower().replace("’", "'")
    masked = _WORDS.sub(_NUMBER, masked)
    if _HAS_VALUE.search(masked):
        masked = _VALUES.sub(lambda found: _STANDS_FOR[found.lastgroup or ""], masked)
        masked = _LIST.sub("10, 10 and 10", masked)
    if '"' in masked or "'" in masked:
        # Quoted words are values too, unless there is little but a quotation.
        rest = _QUOTED.sub("", masked)
        masked = _QUOTED.sub(_QUOTE, masked) if 3 * len(rest) > len(masked) else masked
    full = masked
    if not _SHORTHAND.keys().isdisjoint(_ANY_WORD.findall(masked)):
        full = _ANY_WORD.sub(lambda word: _SHORTHAND.get(word[0], word[0]), masked)
    bare = _BEFORE.sub("", full)
    if bare.rstrip(" ?.!").endswith(_LAST_WORDS):
        bare = _AFTER.sub("", bare)
    bare = _BETWEEN.sub("", bare).strip()
    return bare if _ANY_WORD.search(bare) else full  # a mere courtesy stays as it is


class ValueMask:
    """Puts the name of a value's kind in its place, as `mask` does for numbers and dates.

    “it's dark in the garage” is about a room, not about the garage: what a domain's entities and
    closed lists hold is named by what it is of. A library without such values has nothing to do.
    """

    def __init__(self, library: Library) -> None:
        listed: dict[str, dict[str, str]] = {}
        for template in library.templates.values():
            own = listed.setdefault(template.id, {})
            for parameter in template.parameters:
                if parameter.descriptor.kind != "boolean":
                    words = (str(word).lower() for word in (*parameter.enum, *parameter.choices))
                    own |= dict.fromkeys(filter(_names, words), _in_words(parameter.name))
        names = {word: name for own in listed.values() for word, name in own.items()}
        # A word that tells another template apart is no mere value: “sum” of “sum of 3 and 4”.
        for template in library.templates.values():
            said = " ".join((*template.nl_examples, template.description)).lower()
            for word in [word for word in names if word in said]:
                if word not in listed[template.id] and re.search(_as_said(word), said):
                    del names[word]
        for entity in library.domain.entities.values():
            names |= dict.fromkeys(entity.values, _in_words(entity.name))
        # Descriptions name no values: masked, a question would be less like them.
        has_examples = any(template.nl_examples for template in library.templates.values())
        self._table = PhraseTable(names if has_examples else {})
        self._codes = _forms_of_codes(library) if has_examples else {}
        self._has_rows = has_examples and any(
            parameter.descriptor.kind == "rows_query"
            for template in library.templates.values()
            for parameter in template.parameters
        )

    def __call__(self, text: str) -> str:
        """Return the masked text."""
        text = said_of_rows(text) if self._has_rows else text
        text = self._without_codes(text) if self._codes else text
        return mask(self._with_names(text) if self._table else text)

    def _without_codes(self, text: str) -> str:
        text = text[:_LONGEST]
        parts, done = list[str](), 0
        for code in find_codes(text, tuple(self._codes)):
            alike = [form for form in self._codes if form.fit(code.text) == EXACT]
            alike.sort(key=lambda form: not form.leads(code.text))
            parts += text[done : code.start], self._codes[alike[0]] if alike else _CODE
            done = code.end
        return "".join((*parts, text[done:]))

    def _with_names(self, text: str) -> str:
        tokens = Tokens(text[:_LONGEST])
        parts, done = list[str](), 0
        for phrase in self._table.find(tokens):
            if phrase.weak:
                continue
            parts += text[done : tokens.starts[phrase.first]], phrase.value
            done = tokens.ends[phrase.last - 1]
        return "".join((*parts, text[done:]))


def _forms_of_codes(library: Library) -> dict[CodeForm, str]:
    """What codes look like, with the name of what they are of; the commonest comes first."""
    found = Counter[tuple[CodeForm, str]]()
    for template in library.templates.values():
        for one in template.parameters:
            is_text = one.type == "string" and not (one.enum or one.choices)
            form = form_of(one.example) if is_text and isinstance(one.example, str) else None
            if form is None or not form.is_telling:
                continue
            # IKEA is the example of a shop, and GUILDHALL that of a code.
            is_mixed = not (form.is_word or form.is_number)
            if is_mixed or not _IDENTIFIERS.isdisjoint(name_words(one.name)):
                found[form, _in_words(one.name)] += 1
    forms: dict[CodeForm, str] = {}
    for (form, name), _ in found.most_common():
        forms.setdefault(form, name)
    return forms


def _names(word: str) -> bool:
    """Whether a listed value is a name, and no number: those stand for themselves.

    What asks for a thing names none: “which guests” is about guests, whatever it is listed for.
    """
    first, _, rest = word.partition(" ")
    asks = bool(rest) and any(first in followups.asks for followups in _FOLLOWUPS)
    return any(map(str.isalpha, word)) and word not in _NUMBERS.words and not asks


def _as_said(word: str) -> str:
    """A pattern of a listed value and its plural, as `PhraseTable` finds both."""
    *before, last = word.split(" ")
    forms = {word, *(" ".join((*before, form)) for form in inflections(last))}
    return rf"\b(?:{'|'.join(map(re.escape, sorted(forms)))})\b"


def _in_words(name: str) -> str:
    return name.replace("_", " ")


def _without_data(text: str) -> Iterator[str]:
    done = 0
    for start, end in _bracketed(text):
        if end - start >= _SHORTEST_DATA and any(c in text[start:end] for c in "\"':{"):
            yield text[done:start]
            yield _DATA
            done = end
    yield text[done:]


def _bracketed(text: str) -> Iterator[tuple[int, int]]:
    """Outermost runs in balanced brackets; one that never closes goes to the end."""
    wanted: list[str] = []
    start = 0
    quoted = False
    for place, sign in enumerate(text):
        if not wanted:
            if sign in _OPENING:
                start, quoted = place, False
                wanted.append(_OPENING[sign])
        elif sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign in _OPENING:
            wanted.append(_OPENING[sign])
        elif sign == wanted[-1]:
            wanted.pop()
            if not wanted:
                yield start, place + 1
    if wanted:
        yield start, len(text)
