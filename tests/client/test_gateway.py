"""What a client signs: for one user, and no two requests alike."""

from server.client.gateway import SignatureLog


def test_no_two_requests_are_signed_alike() -> None:
    now = 1000.0
    log = SignatureLog(lambda: now)
    signed = [log.sign(lambda stamp: f"of {stamp}") for _ in range(3)]
    assert signed == [("1000", "of 1000"), ("999", "of 999"), ("998", "of 998")]
    assert log.sign(lambda stamp: f"another of {stamp}") == ("1000", "another of 1000")
    now = 1001.0
    assert log.sign(lambda stamp: f"of {stamp}")[0] == "1001"


def test_what_is_old_is_not_kept_and_nothing_is_dated_back_too_far() -> None:
    now = 1000.0
    log = SignatureLog(lambda: now)
    stamps = {log.sign(lambda stamp: f"of {stamp}")[0] for _ in range(100)}
    assert min(map(int, stamps)) == 970
    for number in range(2000):
        now += 1
        log.sign(lambda stamp, number=number: f"{number} of {stamp}")  # type: ignore[misc]
    assert len(log._used) < 1100
