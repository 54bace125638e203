"""What is kept of an adapter's files, and under which policy it may be used again."""

import json
from pathlib import Path
from typing import Any

import pytest

from server.adapters.snapshots import Snapshots
from server.cli.options import Configured
from tests.support.configuring import adapter, configure, write_library


def configured(folder: Path, config: dict[str, Any], **more: Any) -> Configured:
    sections = more.pop("sections", {})
    row = adapter("sums", write_library(folder / "sums"), config=config, **more)
    return configure(folder, [row], data_dir=str(folder / "data"), **sections)


def kept(folder: Path) -> tuple[Configured, dict[Path, bytes]]:
    found = configured(folder, {})
    texts = {file: file.read_bytes() for file in (folder / "sums").iterdir()}
    Snapshots(found.settings).keep(found.settings.adapters[0], texts)
    return found, texts


def test_what_is_kept_is_read_by_its_owner_alone(tmp_path: Path) -> None:
    found, texts = kept(tmp_path)
    snapshots = Snapshots(found.settings)
    earlier = snapshots.of(found.settings.adapters[0])
    assert earlier is not None
    assert (earlier.texts, earlier.withheld) == (texts, "")
    (file,) = (tmp_path / "data" / "snapshots").iterdir()
    modes = [path.stat().st_mode & 0o777 for path in (file, file.parent)]
    assert [f"{mode:o}" for mode in modes] == ["600", "700"]
    snapshots.forget("sums")
    assert snapshots.of(found.settings.adapters[0]) is None


def test_the_time_is_that_at_which_it_became_so(tmp_path: Path) -> None:
    found, texts = kept(tmp_path)
    (file,) = (tmp_path / "data" / "snapshots").iterdir()
    file.write_text(json.dumps(json.loads(file.read_text()) | {"read_at": "2025-01-31T12:03:00Z"}))
    snapshots, sums = Snapshots(found.settings), found.settings.adapters[0]
    snapshots.keep(sums, texts)
    earlier = snapshots.of(sums)
    assert earlier is not None
    assert earlier.read_at.year == 2025
    snapshots.keep(sums, texts | {tmp_path / "more.yaml": b"templates: []\n"})
    earlier = snapshots.of(sums)
    assert earlier is not None
    assert earlier.read_at.year > 2025


SAME: dict[str, Any] = {}
FEWER = {"policy": {"rate_limit": "5/hour"}}


@pytest.mark.parametrize(
    ("config", "more", "serves"),
    [
        (SAME, {}, True),
        ({"max_templates": 3, "confidence_threshold": 0.4}, {}, True),
        ({"agent": {"show_notes": True}}, {"inference_model": "m"}, True),
        (FEWER, {}, False),
        ({"policy": {"intent_tools": {"A": ["current_time"]}}}, {}, False),
        ({"http": {"allowed_hosts": ["example.org"]}}, {}, False),
        ({"http": {"private_hosts": ["localhost"]}}, {}, False),
        ({"intents": "pack.yaml"}, {}, False),
        (SAME, {"guards": {"fail_closed": True}}, False),
        (SAME, {"implementation": "IntentHTTPRetriever"}, False),
        (SAME, {"sections": {"guards": {"fail_closed": True}}}, False),
        (SAME, {"sections": {"access": {"roles": {"names": ["guest", "admin"]}}}}, False),
        (SAME, {"sections": {"tools": {"mine": "my.Tool"}}}, False),
        (SAME, {"sections": {"python_tools": {"modules": ["shop"]}}}, False),
        (SAME, {"sections": {"logging": {"level": "error"}}}, True),
    ],
)
def test_it_may_serve_under_the_policy_it_was_kept_with(
    tmp_path: Path, config: dict[str, Any], more: dict[str, Any], serves: bool
) -> None:
    kept(tmp_path)
    now = configured(tmp_path, config, **more)
    earlier = Snapshots(now.settings).of(now.settings.adapters[0])
    assert earlier is not None
    assert (earlier.withheld == "") is serves


@pytest.mark.parametrize(
    ("was", "becomes"), [('"format": 1', '"format": 2'), ("{", "["), ('"read_at"', '"at"')]
)
def test_a_snapshot_that_makes_no_sense_counts_as_none(
    tmp_path: Path, was: str, becomes: str
) -> None:
    found, _ = kept(tmp_path)
    (file,) = (tmp_path / "data" / "snapshots").iterdir()
    file.write_text(file.read_text().replace(was, becomes, 1))
    assert Snapshots(found.settings).of(found.settings.adapters[0]) is None


def test_a_text_that_was_changed_by_hand_counts_as_none(tmp_path: Path) -> None:
    found, _ = kept(tmp_path)
    (file,) = (tmp_path / "data" / "snapshots").iterdir()
    file.write_text(file.read_text().replace("calculator", "date_time"))
    earlier = Snapshots(found.settings).of(found.settings.adapters[0])
    assert earlier is not None
    assert [path.name for path in earlier.texts] == ["domain.yaml"]
