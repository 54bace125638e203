"""Text that every database, log and client can take."""

from collections.abc import Mapping
from typing import Any, Final

_REPLACEMENT: Final = "\ufffd"


def storable_text(text: str) -> str:
    """Return the text with NUL and halves of characters replaced by U+FFFD.

    Two halves that belong together become their character.
    """
    if "\x00" in text:
        text = text.replace("\x00", _REPLACEMENT)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def storable_data(value: Any) -> Any:
    """Return data of mappings and lists with every text in it storable, keys too.

    What holds nothing else is returned as it is, and not copied.
    """
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, Mapping):
        fields = {_storable_key(key): storable_data(item) for key, item in value.items()}
        same = len(fields) == len(value) and all(
            name is key and fields[name] is item
            for name, (key, item) in zip(fields, value.items(), strict=True)
        )
        return value if same else fields
    if isinstance(value, list | tuple):
        items = [storable_data(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    return value


def _storable_key(key: Any) -> Any:
    return storable_text(key) if isinstance(key, str) else key
