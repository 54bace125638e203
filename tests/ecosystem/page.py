"""docs/ecosystem.md as programs: what each section installs, writes, runs and prints."""

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "ecosystem.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_INSTALL = "pip install "


@dataclass
class Step:
    """A program, or a file to write for those that follow. `…` in `prints` stands for anything."""

    language: str
    blocks: list[str]
    prints: str = ""

    @property
    def code(self) -> str:
        return "".join(self.blocks)

    @property
    def file(self) -> str:
        """The name of the file that it is, from its first line."""
        return self.code.partition("\n")[0].removeprefix("# ")

    @property
    def in_background(self) -> bool:
        return self.code.rstrip().endswith("&")

    def has_printed(self, said: str) -> bool:
        parts = (re.escape(part) for part in self.prints.strip().split("…"))
        return re.fullmatch(".*".join(parts), said.strip(), re.DOTALL) is not None


@dataclass
class Recipe:
    """A section. `installs` are the requirements that it names; none for what Orbit brings."""

    installs: list[str]
    steps: list[Step]


def _read(section: str) -> Recipe:
    recipe = Recipe([], [])
    steps = recipe.steps
    for language, code in _BLOCK.findall(section):
        if code.startswith(_INSTALL):
            recipe.installs += code.removeprefix(_INSTALL).replace('"', "").split()
        elif language == "text":
            steps[-1].prints += code
        elif language == "python" and steps and steps[-1].language == "python":
            steps[-1].blocks.append(code)  # it goes on with the names of the one before
        else:
            steps.append(Step(language, [code]))
    return recipe


RECIPES = {
    section.partition("\n")[0]: _read(section)
    for section in PAGE.split("\n## ")[1:]
    if _BLOCK.search(section)
}
