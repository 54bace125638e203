"""The benchmarks of utils/cluster run, and the model says what can be worked out by hand."""

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import mean
from typing import Any, Final

import pytest

from tests.support import postgresql, redis

pytestmark = pytest.mark.slow

KIND: Final = "new wording"
ONE: Final = {KIND: 1.0}


def costs(
    *, loop_ms: float = 4.0, storage_ms: float = 1.0, encoder_ms: float = 2.0,
    database_ms: float = 1.0, away_ms: float = 2.0, redis_ms: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Figures as `utils.cluster.costs` prints them, of questions that are all alike."""
    loop, threads = loop_ms / 1000, (storage_ms + encoder_ms) / 1000
    samples = {
        "loop_s": [loop], "threads_s": [threads],
        "database_s": [(database_ms + away_ms) / 1000],
    }  # fmt: skip
    means = {
        "loop_s": loop, "threads_s": threads, "transactions": 1.0, "statements": 2.0,
        "database_cpu_s": database_ms / 1000, "database_bytes": 1000.0,
        "redis_cpu_s": redis_ms / 1000, "redis_messages": 2.0, "bytes_in": 250.0,
        "bytes_out": 1000.0,
    }  # fmt: skip
    # Twice as many texts at once take half as long again.
    encoder = {size: encoder_ms / 1000 * 1.5**n for n, size in enumerate((1, 2, 4, 8, 16, 32))}
    kinds = ("new wording", "known wording", "follow-up", "refusal", "proposal", "confirmation")
    return {
        "encoder": {str(size): [{"cpu_s": took, "wall_s": took}] for size, took in encoder.items()},
        "stores": {
            "postgresql": {
                "kinds": {kind: {"samples": samples, "means": means} for kind in kinds},
                "idle": {"statements": 2.0, "cpu_s": 0.0, "redis_commands": 0.0},
            }
        },
    }


@pytest.fixture(scope="module")
def model() -> Any:
    pytest.importorskip("simpy", reason="./bin/orbit.sh install test")
    return import_module("utils.cluster.model")


def test_one_client_waits_for_everything_in_turn(model: Any) -> None:
    outcome = model.simulate(costs(), model.Setup(replicas=1, mix=ONE, clients=1))
    assert outcome.ms["p50"] == pytest.approx(4 + 1 + 2 + 1 + 2)
    assert outcome.answers_per_second == pytest.approx(100, rel=0.02)
    assert outcome.in_flight == pytest.approx(1, rel=0.02)


def test_many_clients_get_what_one_thread_of_python_can_do(model: Any) -> None:
    """And the encoder, which works on all of them when Python has nothing else to do."""
    setup = model.Setup(replicas=1, mix=ONE, clients=32)
    alone = model.simulate(costs(), setup)
    each_ms = 4 + 1 + 2 * 1.5**5 / 32
    assert alone.answers_per_second == pytest.approx(1000 / each_ms, rel=0.02)
    assert alone.ms["mean"] == pytest.approx(32 * each_ms, rel=0.05)  # by Little's law
    three = model.simulate(costs(), replace(setup, replicas=3, clients=96))
    assert three.answers_per_second == pytest.approx(3 * alone.answers_per_second, rel=0.02)


def test_the_encoder_shares_its_work_among_those_who_wait(model: Any) -> None:
    figures = costs(loop_ms=0.2, storage_ms=0.0, encoder_ms=8.0)
    few = model.simulate(figures, model.Setup(replicas=1, mix=ONE, clients=1))
    many = model.simulate(figures, model.Setup(replicas=1, mix=ONE, clients=64))
    assert few.answers_per_second < 125 < 3 * 125 < many.answers_per_second


def test_replicas_on_the_same_cores_bear_what_these_do(model: Any) -> None:
    work_ms = 4 + 1 + 1  # and the encoder, whose share is less the more wait
    setup = model.Setup(replicas=1, mix=ONE, clients=32, shared_cores=2)
    rates = [
        model.simulate(costs(encoder_ms=0.1), replace(setup, replicas=n)).answers_per_second
        for n in (1, 2, 3)
    ]
    assert rates[0] == pytest.approx(1000 / 5, rel=0.05)
    assert rates[1] == pytest.approx(2 * 1000 / work_ms, rel=0.05)
    assert rates[2] == pytest.approx(rates[1], rel=0.05)


def test_questions_that_come_at_random_wait_as_long_as_theory_says(model: Any) -> None:
    """One station, Poisson arrivals, always the same work.

    A question comes back to it for each part of its work, so its time lies between those of who
    is served at once (Pollaczek and Khinchine) and of who shares with all others all the time.
    """
    figures = costs(loop_ms=5, storage_ms=0, encoder_ms=0, database_ms=0, away_ms=0)
    setup = model.Setup(replicas=1, mix={"known wording": 1.0}, rate=140.0, seconds=200)
    busy = 0.14 * 5
    got = model.simulate(figures, setup)
    assert 5 + 5 * busy / (2 * (1 - busy)) < got.ms["mean"] < 5 / (1 - busy)


def test_the_fit_finds_by_how_much_all_takes_longer(model: Any) -> None:
    setup = model.Setup(replicas=1, mix=ONE, clients=16, shared_cores=2)
    beside = model.Beside(stretch=1.3, handover=0.4)
    rows = [
        {
            "replicas": n,
            "clients": 16,
            "answers_per_second": got.answers_per_second,
            "ms": got.ms,
            "cpu_ms": {"client": 0.0, "loop": 4.0 * 1.3},
        }
        for n in (1, 2)
        for got in [model.simulate(costs(), replace(setup, replicas=n, beside=beside))]
    ]
    found, checks = model.checks(costs(), {"machine": {"cores": 2}, "rows": rows})
    assert found.stretch == pytest.approx(1.3, rel=0.001)
    assert found.handover == pytest.approx(0.4, rel=0.1)
    assert [check.fitted for check in checks] == [True, False]
    assert max(map(abs, checks[1].errors().values())) < 0.05


def test_what_many_questions_take_grows_with_them(model: Any) -> None:
    audit = {"rows": [{"batch": 1, "chains": 1, "appends_per_second": 300}]}
    few, many = (
        model.capacity(costs(redis_ms=0.1), audit, model.Beside(), rate) for rate in (1000, 30_000)
    )
    assert few.busy_cores == pytest.approx(1000 * 0.007)
    assert few.replicas * 1000 / 5 * model.UTILIZATION >= 1000
    assert few.p50_ms == pytest.approx(10, rel=0.5)
    assert (many.p50_ms, many.redis["servers"]) == (None, 5)
    assert many.replicas == pytest.approx(30 * few.replicas, rel=0.1)
    # Every replica asks for announcements, whether anybody asks it or not.
    assert many.database["statements/s"] == pytest.approx(60_000 + many.replicas * 2)
    assert many.audit["appends/s"] > many.audit["appends/s that were measured"] > 0


Bench = Callable[..., dict[str, Any]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bench:
    def ran(module: str, *given: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", [module, *given, "--json"])
        import_module(f"utils.cluster.{module}").main()
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return ran


needs_stores = pytest.mark.skipif(
    bool(postgresql.why_not() or redis.why_not()),
    reason=str(postgresql.why_not() or redis.why_not()),
)


@pytest.mark.slow
@needs_stores
def test_costs_and_throughput_are_measured_and_the_model_reads_them(
    run: Bench, model: Any, tmp_path: Path
) -> None:
    measured = run("costs", "--questions", "5")
    for stores in ("sqlite", "postgresql"):
        kinds = measured["stores"][stores]["kinds"]
        means = {kind: found["means"] for kind, found in kinds.items()}
        assert means["known wording"]["threads_s"] < means["new wording"]["threads_s"]
        assert means["confirmation"]["statements"] > means["proposal"]["statements"] > 2
        assert min(each["bytes_out"] for each in means.values()) > 500
        asked = [each["redis_messages"] for each in means.values()]
        assert (mean(asked) > 0) == (stores == "postgresql")
    given = ("--replicas", "1", "2", "--clients", "2", "--rounds", "1", "--seconds", "0.5")
    throughput = run("throughput", *given)
    assert [row["replicas"] for row in throughput["rows"]] == [1, 2]
    files = [tmp_path / "costs.json", tmp_path / "throughput.json"]
    for path, figures in zip(files, (measured, throughput), strict=True):
        path.write_text(json.dumps(figures))
    found = run("model", *map(str, files), "--rates", "200")
    assert [check["fitted"] for check in found["checks"]] == [True, False]
    assert found["capacities"][0]["replicas"] >= 2


@pytest.mark.slow
@needs_stores
def test_appends_to_the_audit_are_counted(run: Bench) -> None:
    found = run("audit", "--writers", "1", "2", "--batches", "1", "20", "--seconds", "0.5")
    assert [row["chains"] for row in found["rows"]] == [1, 1, 1, 1, 2, 2]
    for row in found["rows"]:
        assert row["entries_per_second"] == pytest.approx(row["appends_per_second"] * row["batch"])
