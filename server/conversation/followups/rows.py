"""Which field of a row that was shown is the value of which parameter."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from server.library.model import Parameter, Template
from server.text.stems import inflections

_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_IDENTITY: Final = frozenset({"id", "number", "no", "nr", "code", "key"})

Row = Mapping[str, Any]


def row_value(parameter: Parameter, row: Row, shown_by: Template) -> Any:
    """The value of a parameter in a row that `shown_by` listed; None when it has none.

    A field of the parameter's name is its value; so is `government` of `government_number`,
    and the `id` or `number` of a row of posts of `post_id`.
    """
    wanted = _words(parameter.name)
    fields = {_words(name): value for name, value in row.items()}
    if wanted in fields:
        return fields[wanted]
    if len(wanted) < 2 or wanted[-1] not in _IDENTITY:
        return None
    owner = wanted[:-1]
    if owner in fields:
        return fields[owner]
    if len(owner) == 1 and owner[0] in nouns(shown_by):
        for name in (wanted[-1:], *((word,) for word in sorted(_IDENTITY))):
            if name in fields:
                return fields[name]
    return None


def row_identity(
    row: Row, shown_by: Template, templates: Sequence[Template]
) -> tuple[str, Any] | None:
    """What a row is called by: the parameter that takes it, and its value there.

    Of parameters that could, the one that most templates have.
    """
    kinds = nouns(shown_by)
    found = [
        (parameter.name, value)
        for template in templates
        for parameter in template.required
        if _is_identity(parameter.name) and _words(parameter.name)[0] in kinds
        if (value := row_value(parameter, row, shown_by)) is not None
    ]
    if not found:
        return None
    ((name, _),) = Counter(name for name, _ in found).most_common(1)
    return name, dict(found)[name]


def named(arguments: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The one argument that names a thing by its number, as `post_id` does."""
    found = [(name, value) for name, value in arguments.items() if _is_identity(name)]
    return found[0] if len(found) == 1 else None


def noun_of(name: str) -> str:
    """What a parameter such as `post_id` is about: post."""
    return " ".join(_words(name)[:-1])


def nouns(template: Template) -> frozenset[str]:
    """What a template lists, in one and in many: by its tags, else by the end of its name."""
    words = {word for tag in template.tags for word in _words(tag)}
    words |= {_words(template.id)[-1]} if _words(template.id) else set()
    return frozenset(form for word in words for form in inflections(word))


def _is_identity(name: str) -> bool:
    words = _words(name)
    return len(words) == 2 and words[1] in _IDENTITY


def _words(name: str) -> tuple[str, ...]:
    return tuple(part.lower() for part in _PARTS.findall(name))
