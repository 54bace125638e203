"""What can be said of an author's Jinja text before it is ever rendered."""

from functools import lru_cache
from typing import Final

from jinja2 import StrictUndefined, TemplateSyntaxError, meta, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from server.settings.wording import instead

_ENVIRONMENT: Final = ImmutableSandboxedEnvironment(undefined=StrictUndefined)


def jinja_problem(text: str) -> str | None:
    """Return why `text` could not be rendered whatever its variables are, or None."""
    try:
        tree = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError as wrong:
        line = f" in line {wrong.lineno} of the text" if "\n" in text.strip() else ""
        return f"{wrong.message}{line}"
    for node in tree.find_all(nodes.Filter):
        if node.name not in _ENVIRONMENT.filters:
            return f"no filter {node.name!r}; {instead(node.name, sorted(_ENVIRONMENT.filters))}"
    for test in tree.find_all(nodes.Test):
        if test.name not in _ENVIRONMENT.tests:
            return f"no test {test.name!r}; {instead(test.name, sorted(_ENVIRONMENT.tests))}"
    if any(True for _ in meta.find_referenced_templates(tree)):
        return "include, import and extends have nothing to load from"
    return None


@lru_cache(maxsize=4096)
def variables(text: str) -> frozenset[str]:
    """Names that `text` needs from outside; `text` must be without problems."""
    found = meta.find_undeclared_variables(_ENVIRONMENT.parse(text))
    return frozenset(found - _ENVIRONMENT.globals.keys())
