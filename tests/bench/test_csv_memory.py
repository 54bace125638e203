"""A long result is sent as CSV without being held."""

from pathlib import Path

import pytest

from utils.bench.csv_rows import sent
from utils.bench.databases import CITIES, sqlite_of

pytestmark = pytest.mark.slow

ROWS = 200_000
MOST_MB = 20
"""Held as objects, so many rows take about 60 MB."""


def test_a_server_does_not_grow_with_the_rows_that_it_sends(tmp_path: Path) -> None:
    rows = [(n, CITIES[n % len(CITIES)], n) for n in range(ROWS)]
    sqlite_of(tmp_path / "shop.db", rows)
    figures = sent(tmp_path / "sqlite", str(tmp_path / "shop.db"), ROWS)
    assert figures["grown_mb"] < MOST_MB, figures
