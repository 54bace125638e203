"""What a template does, as one short text that changes when that does."""

import json
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

from server.library.model import Template


def template_hash(template: Template) -> str:
    """SHA-256, in hexadecimal, of what runs and who may run it.

    Examples, tags and the words of answers do not count; neither do credentials, which may
    be renewed at any time.
    """
    what = (
        template.id,
        template.description,
        template.parameters,
        template.execution,
        template.effect,
        template.policy,
    )
    return sha256(json.dumps(_plain(what)).encode()).hexdigest()


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        counted = (field for field in fields(value) if field.compare and field.repr)
        return {field.name: _plain(getattr(value, field.name)) for field in counted}
    if isinstance(value, Mapping):
        return [[_plain(key), _plain(item)] for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Set):
        return sorted(map(str, value))
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
