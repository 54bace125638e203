"""Drafts as YAML files."""

from pathlib import Path
from typing import Any, Final

import yaml

from server.authoring.drafts import Draft
from server.errors import RequestInvalid

DOMAIN_FILE: Final = "domain.yaml"
TEMPLATES_FILE: Final = "templates.yaml"
QUESTIONS_FILE: Final = "questions.yaml"

_HEADS: Final = {
    DOMAIN_FILE: "# The API, its address and its key. Written by `init`; yours to change.\n",
    TEMPLATES_FILE: (
        "# One template for each operation. Better examples make better matches: replace the\n"
        "# ones below with ten questions, each worded as people really ask.\n"
    ),
    QUESTIONS_FILE: ("# Questions that `eval` asks. Write them before you look at the examples.\n"),
}


def write_draft(draft: Draft, folder: Path) -> tuple[Path, ...]:
    """Write the three files of a library into a folder, which is made if need be.

    Raises:
        RequestInvalid: a file of that name is there already; nothing has been written.
    """
    contents = {
        DOMAIN_FILE: draft.domain,
        TEMPLATES_FILE: draft.templates,
        QUESTIONS_FILE: draft.questions,
    }
    for name in contents:
        if (folder / name).exists():
            raise RequestInvalid(f"{folder / name} is there already; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in contents.items():
        (folder / name).write_text(_HEADS[name] + to_yaml(data), encoding="utf-8")
    return tuple(folder / name for name in contents)


class _Dumper(yaml.SafeDumper):
    """Writes lists indented below their key, and never an alias."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True


def to_yaml(data: Any) -> str:
    """Data as YAML that people like to read."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=96)
