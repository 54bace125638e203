"""Who asks, as templates name it: given by the server, from the key, and never by a question."""

from collections.abc import Iterator
from typing import Final

from jinja2 import nodes

CALLER: Final = "caller"
"""What holds these in a request: `{{ caller.user_id }}`."""

CALLER_FIELDS: Final = {"user_id": "caller_user_id", "role": "caller_role"}
"""What is known of who asks, and the arguments that say it: `:caller_user_id` in SQL."""

CALLER_ARGUMENTS: Final = frozenset(CALLER_FIELDS.values())
RESERVED: Final = CALLER_ARGUMENTS | {CALLER}
"""Names in a request that no parameter can have."""

BARE_CALLER: Final = f"write {' or '.join(f'{CALLER}.{field}' for field in CALLER_FIELDS)}"


class CallerUnknown(ValueError):
    """What an expression says of `caller` is nothing that is known."""


def caller_arguments(tree: nodes.Template) -> frozenset[str]:
    """Return the arguments that `caller` stands for in an expression, or raise CallerUnknown."""
    fields = list(_fields(tree))
    if len(fields) < sum(1 for name in tree.find_all(nodes.Name) if name.name == CALLER):
        raise CallerUnknown(f"{CALLER!r} is who asks; {BARE_CALLER}")
    for field in fields:
        if field not in CALLER_FIELDS:
            raise CallerUnknown(f"{CALLER!r} has no {field!r}; {BARE_CALLER}")
    return frozenset(CALLER_FIELDS[field] for field in fields)


def _fields(tree: nodes.Template) -> Iterator[str]:
    for node in tree.find_all(nodes.Getattr):
        if isinstance(node.node, nodes.Name) and node.node.name == CALLER:
            yield node.attr
