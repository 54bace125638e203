"""A library as the texts that are embedded, each under an id that its content decides."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from server.library.model import Library, Template
from server.matching import masking

EntryKind = Literal["example", "description"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One text of a template: what the author wrote, and what is embedded in its stead."""

    template_id: str
    kind: EntryKind
    text: str
    masked: str

    def key(self, fingerprint: str) -> str:
        """The id of this entry's vector; another text, template, mask or encoder has another."""
        parts = (self.template_id, self.kind, self.text, self.masked, fingerprint)
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            encoded = part.encode("utf-8", "surrogatepass")
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
        return digest.hexdigest()


def library_entries(library: Library) -> tuple[Entry, ...]:
    """Every example and description, in the order of the library, none twice."""
    entries = (entry for t in library.templates.values() for entry in _template_entries(t))
    return tuple(dict.fromkeys(entries))


def _template_entries(template: Template) -> Iterator[Entry]:
    for example in template.nl_examples:
        yield Entry(template.id, "example", example, masking.mask(example))
    # A template that says nothing of itself still has a name.
    about = template.description or _in_words(template.id)
    masked = masking.mask(about if template.nl_examples else _all_that_is_said(template))
    yield Entry(template.id, "description", about, masked)


def _all_that_is_said(template: Template) -> str:
    """Name, description and arguments, for a template that has no example to go by."""
    arguments = ", ".join(_in_words(parameter.name) for parameter in template.parameters)
    name = _in_words(template.function_name or template.id)
    said = " ".join(part for part in (template.description, arguments) if part)
    return f"{name}: {said}" if said else name


def _in_words(name: str) -> str:
    return name.replace("_", " ").replace("-", " ").replace(".", " ")
