"""What the YAML parser says, in words that help its author."""

from typing import Final

import yaml

_HINTS: Final = {
    "mapping values are not allowed in this context": (
        "put the text in quotes when it holds ': ', and check the indentation"
    ),
    "found unknown escape character": (
        r"in double quotes a backslash is written twice ('\\d'); single quotes take it as it is"
    ),
    "found unexpected end of stream": "what opens here is never closed",
    "found character that cannot start any token": (
        "text that begins with '@', '`' or '%' needs quotes"
    ),
    "did not find expected key": "check the indentation of this line and the one before",
    "did not find expected '-' indicator": "check the indentation of this line",
}


def explain(broken: yaml.YAMLError, text: str) -> tuple[int, str, str]:
    """Return line, problem kind and sentence for a parser's complaint."""
    if isinstance(broken, yaml.reader.ReaderError):
        # libyaml counts bytes and PyYAML characters; lines before it are the same.
        position = broken.position
        before = text.encode()[:position].decode(errors="ignore")
        return before.count("\n") + 1, "yaml-syntax", "holds a character that YAML does not allow"
    if not isinstance(broken, yaml.MarkedYAMLError):
        return 1, "yaml-syntax", "is not valid YAML"
    said = broken.problem or "cannot be read"
    mark = broken.problem_mark or broken.context_mark
    if said == "found unexpected end of stream" and broken.context_mark is not None:
        mark = broken.context_mark  # where the quote opened, not where the file ends
    line = mark.line if mark is not None else 0
    lines = text.splitlines()
    if line < len(lines) and "\t" in _indentation(lines[line]):
        return line + 1, "tab", "a tab indents this line; YAML takes only spaces"
    hint = _HINTS.get(said, broken.context or "")
    if said.startswith("did not find expected ','") and line < len(lines) and "${" in lines[line]:
        hint = "inside { } and [ ], a ${NAME} needs quotes"
    return line + 1, "yaml-syntax", f"is not valid YAML: {said}" + (f"; {hint}" if hint else "")


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
