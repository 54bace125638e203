"""Values that wait in the supervisor until a worker has written them."""

from server.workers.notes import Notes

ANA, BOB = 1, 2


def test_the_latest_is_seen_until_it_is_written() -> None:
    notes = Notes()
    notes.put("talks", "a", "1")
    notes.put("talks", "a", "2")
    assert notes.get("talks", "a") == "2"
    assert notes.take("talks", ANA) == [("a", "2")]
    assert notes.get("talks", "a") == "2"
    notes.give_back("talks", ANA, written=True)
    assert (notes.get("talks", "a"), notes.take("talks", ANA), notes.unwritten) == (None, [], 0)


def test_one_worker_at_a_time_writes_a_kind() -> None:
    notes = Notes()
    for kind in ("talks", "uses"):
        notes.put(kind, "a", "1")
    assert notes.take("talks", ANA) == [("a", "1")]
    notes.put("talks", "b", "1")
    assert notes.take("talks", BOB) is None
    assert notes.take("uses", BOB) == [("a", "1")]
    notes.give_back("talks", BOB, written=True)  # which is not his
    assert notes.take("talks", BOB) is None
    notes.give_back("talks", ANA, written=True)
    assert notes.take("talks", BOB) == [("b", "1")]


def test_what_was_not_written_waits_again_unless_there_is_newer() -> None:
    notes = Notes()
    notes.put("talks", "a", "1")
    notes.put("talks", "b", "1")
    notes.take("talks", ANA)
    notes.put("talks", "b", "2")
    notes.lose(ANA)
    assert notes.take("talks", BOB) == [("a", "1"), ("b", "2")]


def test_what_is_dropped_is_not_written_any_more_and_whoever_drops_it_knows_when() -> None:
    notes = Notes()
    notes.put("talks", "a", "1")
    assert notes.drop("talks", "a")
    assert notes.take("talks", ANA) == []
    notes.put("talks", "a", "2")
    notes.take("talks", ANA)
    notes.put("talks", "a", "3")
    assert not notes.drop("talks", "a")
    notes.give_back("talks", ANA, written=True)
    assert notes.drop("talks", "a")
    assert notes.get("talks", "a") is None


def test_of_too_many_the_oldest_go() -> None:
    notes = Notes(most=2)
    for key in "abc":
        notes.put("talks", key, "1")
    assert notes.take("talks", ANA) == [("b", "1"), ("c", "1")]
    assert (notes.lost, notes.unwritten) == (1, 3)
