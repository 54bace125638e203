"""Patterns of the values that a question names with their parameter: `driver 7`, `limit 20`."""

from typing import Final

from server.authoring.clauses import is_span, label_of, nouns_of
from server.authoring.naming import words
from server.authoring.phrases import phrases
from server.authoring.schema import ApiParameter
from server.authoring.subjects import Subject
from server.authoring.values import shape_of_code

_NAME: Final = r"(?-i:\p{Lu})[\pL'’-]+"
_NAMES: Final = rf"{_NAME}(?:\s+(?:(?:de|da|di|du|van|von|der|den|la|le)\s+)*{_NAME})*"
_PHONE: Final = r"(\+?\(?\d[\d ()/.-]{5,}\d)"
_SMALL: Final = r"(?:(?:and|the|of|in|a|an|to|for|on|from|with)\s+)*"
_TITLE: Final = rf"{_NAME}(?:\s+{_SMALL}(?-i:[\p{{Lu}}\d])[\pL\d'’-]*)*"
_FIRST_OF_TWO: Final = rf"\s({_NAME})\s+{_NAME}"
_LAST_OF_TWO: Final = rf"\s{_NAME}\s+({_NAME})"


def patterns_of(parameter: ApiParameter, subject: Subject) -> list[str]:
    """Return the patterns of a parameter; none where its values are known by themselves."""
    if parameter.enum or parameter.pattern:
        return []
    if parameter.type in ("date", "datetime"):
        return _patterns_of_days(parameter, subject)
    references = subject.references
    if parameter.name in phrases().first_names | phrases().last_names:
        is_first = parameter.name in phrases().first_names
        return [_FIRST_OF_TWO if is_first else _LAST_OF_TWO]
    if parameter.type == "string" and set(words(parameter.name).split()) & phrases().makers:
        return [rf"\bby\s+({_NAMES})"]
    if parameter.type == "string" and subject.kind == "list":
        if parameter.name in phrases().own_names:
            return [rf"\b(?:called|named|titled|have|find|is)\s+({_TITLE})"]
        if parameter.name in phrases().topics:
            return [r"\b(?:about|on the subject of)\s+(.+?)(?:\s+(?:in|at|by|from)\b|[,?.!]|$)"]
    own = next((p for p in subject.parameters if p.name == parameter.name), parameter)
    if own.is_code:
        shape = shape_of_code(parameter.example)
        nouns = nouns_of(parameter, references) if parameter.name in references else []
        nouns = nouns or [words(parameter.name)]
        noun = "|".join(dict.fromkeys(_spaced(each.split(" ")[-1]) for each in nouns))
        noun = f"(?:{noun})" if "|" in noun else noun
        named = rf"\b{noun}\s*(?:number|no\.?|id|code|#)?\s*([\w-]*\d[\w-]*)"
        return [named, rf"\b({shape})\b"] if shape else [named]
    if parameter.type == "string" and set(words(parameter.name).split()) & phrases().phones:
        return [_PHONE]
    label = _spaced(words(parameter.name))
    before = rf"\b{label}\s*(?:is|of|=|:)?\s*"
    match parameter.type:
        case "integer":
            numbers = [before + r"(-?\d+)\b"]
            if parameter.name in phrases().limits:
                numbers.append(rf"\b(?:{'|'.join(sorted(phrases().first_words))})\s+(\d+)\b")
            if parameter.name in references:
                noun = _spaced(references[parameter.name].split(" ")[-1])
                numbers.append(rf"\b{noun}\s*(?:number|no\.?|id|#)?\s*(\d+)\b")
            return numbers
        case "number":
            return [before + r"(-?\d+(?:\.\d+)?)"]
        case "boolean":
            return [before + r"(true|false|yes|no)\b"]
        case "object":
            return [before + r"(\{.*\})"]
    return []


def _patterns_of_days(parameter: ApiParameter, subject: Subject) -> list[str]:
    """How one of several days is told from the others."""
    others = [p for p in subject.parameters if p.type == parameter.type and p is not parameter]
    if not others:
        return []
    patterns = []
    if any(is_span(parameter, other) for other in others):
        patterns.append(r"\b(?:from|between)\s+(.+?)\s+(?:to|until|till|and)\b")
    if any(is_span(other, parameter) for other in others):
        patterns.append(r"\b(?:from|between)\s+.+?\s+(?:to|until|till|and)\s+(.+)")
    if subject.kind == "update":
        label = _spaced(label_of(parameter))
        patterns += [
            rf"\b{label}\s+(?:of|for)\b.*?\b(?:to|is now|is|should be)\s+(.+)",
            rf"\b{label}\s*(?:is now|is|should be|to|:)\s*(.+)",
        ]
    return patterns


def _spaced(text: str) -> str:
    return r"[\s_-]*".join(text.split())
