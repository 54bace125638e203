"""What can be said of an author's Jinja text before it is ever rendered."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from server.settings.wording import instead

_ENVIRONMENT: Final = ImmutableSandboxedEnvironment(undefined=StrictUndefined)
_LOADING: Final = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


@dataclass(frozen=True, slots=True)
class JinjaText:
    """`problem` says why the text could not be rendered whatever its variables are.

    `variables` are the names that it needs from outside.
    """

    problem: str | None = None
    variables: frozenset[str] = frozenset()


@lru_cache(maxsize=4096)
def examine(text: str) -> JinjaText:
    """Look at a text as the sandbox would, without rendering it."""
    try:
        tree = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError as wrong:
        line = f" in line {wrong.lineno} of the text" if "\n" in text.strip() else ""
        return JinjaText(f"{(wrong.message or 'cannot be read').rstrip('.')}{line}")
    except RecursionError:
        return JinjaText("is nested too deeply")
    except ValueError as wrong:  # a number of thousands of digits
        return JinjaText(str(wrong).partition(";")[0])
    used, own = set[str](), set[str]()
    for node in tree.find_all((nodes.Name, nodes.Filter, nodes.Test, *_LOADING)):
        if isinstance(node, nodes.Name):
            (used if node.ctx == "load" else own).add(node.name)
        elif isinstance(node, nodes.Filter | nodes.Test):
            is_filter = isinstance(node, nodes.Filter)
            known = _ENVIRONMENT.filters if is_filter else _ENVIRONMENT.tests
            if node.name not in known:
                kind = "filter" if is_filter else "test"
                hint = instead(node.name, sorted(known))
                return JinjaText(f"there is no {kind} {node.name!r}; {hint}")
        else:
            return JinjaText("include, import and extends have nothing to load from")
    return JinjaText(None, frozenset(used - own - _ENVIRONMENT.globals.keys() - {"loop"}))
