"""Values: equal by what they hold, and made anew rather than changed."""

from dataclasses import field, replace

import pytest

from server.core.values import value


@value
class Point:
    x: int
    y: int = 0
    names: tuple[str, ...] = field(default=())


def test_values_that_hold_the_same_are_equal_and_hash_alike() -> None:
    assert (Point(1, 2), hash(Point(1))) == (Point(x=1, y=2), hash(Point(1, 0, ())))
    assert Point(1, 2) != Point(2, 1)


def test_a_changed_value_is_another_one() -> None:
    first = Point(1)
    assert (replace(first, y=5), first) == (Point(1, 5), Point(1, 0))


def test_a_value_takes_nothing_that_it_has_no_room_for() -> None:
    with pytest.raises(AttributeError):
        Point(1).__setattr__("z", 3)
