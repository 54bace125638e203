"""Changes of a library, as changes of the texts of its files."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.adapters.authored import AuthoredFile, Content
from server.authoring.yaml_edits import Keys, add_text, remove_text
from server.core.suggestions import did_you_mean
from server.errors import EditRefused
from server.library.changes import LibraryChange
from server.settings.documents import parse_yaml

_LISTS: Final[Mapping[str, tuple[str, str]]] = {
    "add_example": ("nl_examples", "description"),
    "remove_example": ("nl_examples", ""),
    "add_counter_example": ("counter_examples", "nl_examples"),
}
"""The key of the list that a change is about, and the key that a new one stands behind."""


@dataclass(frozen=True, slots=True)
class ChangedText:
    """A file as it is and as it would be."""

    file: AuthoredFile
    before: Content
    text: str

    @property
    def line(self) -> int:
        """The first line that is not as it was, from 1."""
        old, new = self.before.text.splitlines(), self.text.splitlines()
        same = next(
            (n for n, pair in enumerate(zip(old, new, strict=False)) if len({*pair}) > 1), -1
        )
        return (same if same >= 0 else min(len(old), len(new))) + 1

    def to_dict(self) -> dict[str, Any]:
        old, new = (text.splitlines() for text in (self.before.text, self.text))
        diff = difflib.unified_diff(old, new, self.file.id, self.file.id, lineterm="")
        return {
            "id": self.file.id,
            "version": self.before.version,
            "line": self.line,
            "diff": "\n".join(diff),
        }


def changed_texts(
    files: Mapping[str, AuthoredFile],
    changes: Sequence[LibraryChange],
    environ: Mapping[str, str],
) -> list[ChangedText]:
    """Return the files that changes are made in, all of them made. Blocks.

    What a file takes from `environ` is only compared. Raises `EditRefused`, and as reading does.
    """
    library = _Library(files, environ)
    for change in changes:
        try:
            library.make(change)
        except EditRefused as refused:
            raise EditRefused(f"{_described(change)}: {refused}", [change.to_dict()]) from None
    return list(library.changed())


def _described(change: LibraryChange) -> str:
    about = change.template or change.word
    return f"{change.kind} {change.text!r} ({about})"


class _Library:
    def __init__(self, files: Mapping[str, AuthoredFile], environ: Mapping[str, str]) -> None:
        self._files, self._environ = files, environ
        read = (file for file in files.values() if file.kind in ("domain", "templates"))
        self._before = {file.id: file.read() for file in read}
        self._texts = {name: content.text for name, content in self._before.items()}

    def changed(self) -> Iterator[ChangedText]:
        for name, text in self._texts.items():
            if text != self._before[name].text:
                yield ChangedText(self._files[name], self._before[name], text)

    def make(self, change: LibraryChange) -> None:
        if change.kind == "add_synonym":
            file, keys, after, there = self._word(change.word)
        else:
            file, keys, after, there = self._list_of(change)
        text = self._texts[file]
        if change.kind == "remove_example":
            self._texts[file] = remove_text(text, keys, change.text, self._environ)
        elif change.text in there:
            raise EditRefused("it stands there already")
        else:
            self._texts[file] = add_text(text, keys, change.text, after=after)

    def _list_of(self, change: LibraryChange) -> tuple[str, Keys, str, Sequence[Any]]:
        """Where the list of a template stands, and what it holds."""
        key, after = _LISTS[change.kind]
        known: list[str] = []
        for file, data in self._data("templates"):
            within: Keys = ("templates",) if isinstance(data, dict) else ()
            entries = data.get("templates") if isinstance(data, dict) else data
            for number, entry in enumerate(entries if isinstance(entries, list) else ()):
                if not isinstance(entry, dict):
                    continue
                known.append(str(entry.get("id")))
                if entry.get("id") == change.template:
                    return file, (*within, number, key), after, _listed(entry.get(key))
        raise EditRefused(
            f"no template is called {change.template!r}; {did_you_mean(change.template, known)}"
        )

    def _word(self, word: str) -> tuple[str, Keys, str, Sequence[Any]]:
        """Where the synonyms of a word stand, and what they are."""
        for file, data in self._data("domain"):
            if not isinstance(data, dict):
                continue
            nested = data.get("domain")
            # At the top or under `domain:`, wherever its author has it.
            within: Keys = (
                () if "vocabulary" in data or not isinstance(nested, dict) else ("domain",)
            )
            holder = data if not within else nested
            vocabulary = holder.get("vocabulary") if isinstance(holder, dict) else None
            synonyms = vocabulary.get("synonyms") if isinstance(vocabulary, dict) else None
            known = synonyms if isinstance(synonyms, dict) else {}
            word = next((each for each in known if each.casefold() == word.casefold()), word)
            there = known.get(word)
            return file, (*within, "vocabulary", "synonyms", word), "", _listed(there)
        raise EditRefused("the adapter has no domain that can be read")

    def _data(self, kind: str) -> Iterator[tuple[str, Any]]:
        for name, text in self._texts.items():
            if self._files[name].kind == kind:
                top = (dict, list) if kind == "templates" else (dict,)
                yield name, parse_yaml(text.encode(), name, self._environ, top=top).data


def _listed(data: Any) -> Sequence[Any]:
    if isinstance(data, list):
        return data
    return [] if data is None else [data]
