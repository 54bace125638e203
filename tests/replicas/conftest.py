"""A database of either kind, and the level of the log as it was."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.databases import WHY_NOT, Databases
from tests.support.databases import made as made
from tests.support.databases import url as url


@pytest.fixture
def postgresql_url(made: Databases, tmp_path: Path) -> str:
    if WHY_NOT is not None:
        pytest.skip(WHY_NOT)
    return made.empty("postgresql", tmp_path)


@pytest.fixture
def level() -> Iterator[None]:
    root = logging.getLogger()
    before = root.level
    yield
    root.setLevel(before)
