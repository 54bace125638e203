"""Three replicas are one server, whatever is done to them and to their stores."""

from collections.abc import Callable
from pathlib import Path

import pytest

from utils.cluster.__main__ import prove
from utils.cluster.services import missing

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(bool(missing()), reason="; ".join(missing())),
]


async def test_a_cluster_under_trouble(
    full: bool, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    verdict = await prove(tmp_path, full=full)
    record_property("cluster", f"\n{verdict}")
    assert verdict.holds, str(verdict)
