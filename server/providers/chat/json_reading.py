"""JSON in what a model wrote, and whether it fits a schema."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NoReturn

_FENCED: Final = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_LONGEST: Final = 1_000_000


class NoJson(ValueError):
    """The text is no JSON; the message says where it stops being so."""


def json_in(text: str) -> Any:
    """The one JSON value that `text` is, in a Markdown fence or without.

    Raises:
        NoJson: it is none, or one that other programs would not read (`NaN`).
    """
    if len(text) > _LONGEST:
        raise NoJson("it is too long")
    fenced = _FENCED.match(text)
    try:
        return json.loads(fenced[1] if fenced else text, parse_constant=_refuse)
    except json.JSONDecodeError as broken:
        raise NoJson(f"it is no JSON ({broken.msg} at character {broken.pos})") from None
    except RecursionError:
        raise NoJson("it is nested too deeply") from None
    except ValueError:  # such as an integer of 5000 digits
        raise NoJson("it holds a number that cannot be used") from None


def misfit(data: Any, schema: Mapping[str, Any]) -> str | None:
    """Where and how `data` breaks `schema`, without the data itself; None when it fits.

    Patterns run in linear time.
    """
    # Only servers with a model that fills in schemas need it.
    import jsonschema_rs

    validator = jsonschema_rs.validator_for(
        dict(schema), pattern_options=jsonschema_rs.RegexOptions()
    )
    for error in validator.iter_errors(data):
        place = "/".join(str(part) for part in error.instance_path)
        broken = error.schema_path[-1] if error.schema_path else "schema"
        return f"{place or 'it'} breaks the schema's {broken!r}"
    return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
