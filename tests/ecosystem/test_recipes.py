"""What docs/ecosystem.md shows works as it is written, against a server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ecosystem.conftest import Orbit, Workplace
from tests.ecosystem.environments import group_of
from tests.ecosystem.page import RECIPES, Recipe, Step

ASKED = "What is 15% of 200?"
NOTIFY = "Notify the ops channel that lunch is ready"
ONLY_TEMPLATES = 'tools = [tool for tool in tools if tool.name not in ("ask", "confirm")]'

At = Callable[[Recipe], Workplace]


@pytest.fixture
def workplace(orbit: Orbit, tmp_path: Path) -> Iterator[At]:
    made: list[Workplace] = []

    def make(recipe: Recipe) -> Workplace:
        group = group_of(recipe.installs) if recipe.installs else None
        made.append(Workplace(orbit, tmp_path, group))
        return made[0]

    yield make
    for each in made:
        each.close()


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_prints_what_the_page_says(name: str, workplace: At) -> None:
    recipe = RECIPES[name]
    at = workplace(recipe)
    for step in recipe.steps:
        said = at.do(step)
        assert step.has_printed(said), said
    assert any(step.prints for step in recipe.steps)


def ask_instead(name: str, question: str, *, without: str = "") -> Recipe:
    """The first block of a recipe with another question, and without a line of it."""
    recipe = RECIPES[name]
    (step,) = (step for step in recipe.steps if step.language == "python")
    code = step.blocks[0]
    assert ASKED in code
    assert without in code
    code = code.replace(ASKED, question).replace(without, "pass" if without else "")
    return Recipe(recipe.installs, [Step("python", [code])])


@pytest.mark.parametrize("name", ["LangChain", "LlamaIndex", "pydantic-ai"])
def test_an_agent_without_confirm_can_only_propose(name: str, orbit: Orbit, workplace: At) -> None:
    recipe = ask_instead(name, NOTIFY)
    said = workplace(recipe).do(recipe.steps[0])
    assert "Please confirm: **Send a notification" in said
    assert orbit.channel.asked == []


def test_an_agent_with_confirm_says_yes_itself(orbit: Orbit, workplace: At) -> None:
    recipe = ask_instead("LangChain", NOTIFY, without=ONLY_TEMPLATES)
    assert workplace(recipe).do(recipe.steps[0]).strip() == "Sent to **ops**"
    assert [asked.body["message"] for asked in orbit.channel.asked] == ["lunch is ready"]
