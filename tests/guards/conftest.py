"""A data folder in which the help desk's library is indexed and learnt already."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.guards.desk import open_desk, settings_in


@pytest.fixture(scope="session")
def opened_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("desk")

    async def opened() -> None:
        async with open_desk(settings_in(data)):
            pass

    asyncio.run(opened())
    (data / "orbit.db").unlink()
    return data


@pytest.fixture
def data(opened_once: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(opened_once, tmp_path / "data"))
