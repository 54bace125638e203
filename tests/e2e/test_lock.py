"""The lock and pyproject.toml say the same, and what is left out is left out on purpose."""

from collections.abc import Iterator
from importlib import metadata

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement

from utils.lock import ECOSYSTEM, FOLDER, PROJECT, Pin, name_of, pins, read_lock, read_project

PROJECT_SAYS = read_project()
RELOCK = "run utils/scripts/lock-dependencies.sh"
DECLARED = {
    "build": PROJECT_SAYS.build,
    "base": PROJECT_SAYS.base,
    **{extra: PROJECT_SAYS.declared(extra) for extra in PROJECT_SAYS.extras},
    **{f"ecosystem/{group}": needs for group, needs in PROJECT_SAYS.groups.items()},
}
OURS = [name for name in DECLARED if not name.startswith("ecosystem/")]


def holds(marker: str) -> bool:
    return not marker or Marker(marker).evaluate()


def installed_with(name: str) -> list[Pin]:
    """The pins of a file, and of the base, if the file adds to that."""
    files = [name] if name in ("base", "build") or name not in OURS else ["base", name]
    return [pin for file in files for pin in read_lock(file)]


def test_there_is_a_file_for_each_extra_and_group_and_no_other() -> None:
    files = [*FOLDER.glob("*.txt"), *ECOSYSTEM.iterdir()]
    names = [file.relative_to(FOLDER).with_suffix("").as_posix() for file in files]
    assert sorted(names) == sorted(DECLARED), RELOCK


@pytest.mark.parametrize("name", DECLARED)
def test_each_file_has_what_pyproject_asks_for(name: str) -> None:
    wanted = {name_of(requirement): Requirement(requirement) for requirement in DECLARED[name]}
    locked = installed_with(name)
    assert wanted.keys() - {pin.name for pin in locked} == set(), RELOCK
    unfit = [
        f"{pin.name}=={pin.version}"
        for pin in locked
        if pin.name in wanted and not wanted[pin.name].specifier.contains(pin.version)
    ]
    assert unfit == [], RELOCK
    direct = {pin.name for pin in read_lock(name) if PROJECT in pin.askers}
    assert direct - wanted.keys() - {name_of(each) for each in PROJECT_SAYS.base} == set(), RELOCK


def test_a_distribution_asks_for_nothing_of_the_ecosystem() -> None:
    """It would be installed with Orbit, which does without."""
    ours = {pin.name for name in OURS for pin in read_lock(name)}
    groups = {name_of(each) for needs in PROJECT_SAYS.groups.values() for each in needs}
    assert ours & groups == set()


@pytest.mark.parametrize("name", DECLARED)
def test_each_file_is_as_it_was_written_and_every_pin_has_hashes(name: str) -> None:
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    assert text.split("Do not edit.\n")[1] == "".join(map(str, pins(text)))
    assert [pin for pin in pins(text) if not pin.hashes] == []


@pytest.mark.parametrize("name", sorted(set(OURS) - {"build"}))
def test_what_is_left_out_comes_only_where_pyproject_names_it(name: str) -> None:
    excluded = PROJECT_SAYS.excluded([] if name == "base" else DECLARED[name])
    assert {pin.name for pin in installed_with(name)}.isdisjoint(excluded)


def asked_for(pin: Pin) -> Iterator[str]:
    """What a package asks for here, where it is installed in the version locked."""
    try:
        about = metadata.distribution(pin.name)
    except metadata.PackageNotFoundError:
        return
    if about.version == pin.version:
        for requirement in map(Requirement, about.requires or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                yield name_of(requirement.name)


@pytest.mark.parametrize("name", sorted(set(OURS) - {"build"}))
def test_nothing_else_is_missing(name: str) -> None:
    """A new version may ask for more, or another package for what was left out of one."""
    locked = [pin for pin in installed_with(name) if holds(pin.marker)]
    there = {pin.name for pin in locked}
    missing = [
        f"{asked} for {pin.name}"
        for pin in locked
        for asked in asked_for(pin)
        if asked not in there and asked not in PROJECT_SAYS.left_out.get(pin.name, ())
    ]
    assert missing == []
