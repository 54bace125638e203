"""Exact amounts with their units: 5 kg, $15 an hour, 20 %."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from server.text.decimals import Number, divide
from server.text.language import load_language
from server.text.money import SIGNS

if TYPE_CHECKING:
    from pint import UnitRegistry

Unit = tuple[tuple[str, int], ...]
"""Names of units with their powers, in order of names; empty for a plain number."""

THING: Final = "~"
"""Begins the name of what is counted: the boxes of “12 per box”."""

_SIGN_OF: Final = {code: sign for sign, code in reversed(SIGNS.items()) if not sign.isalnum()}
_CALENDAR: Final = {"month": 1, "year": 12}
"""Units that have no fixed length in days, in months."""
_PLURALS: Final = load_language("en").sums.unit_plurals
_PINT_NAMES: Final = load_language("common").sums.pint_names
_SCALES: Final = load_language("common").sums.scales
_SMALLEST_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Quantity:
    """`value` is exact unless `rounded`; that of 20 % is 1/5, with `percent`."""

    value: Fraction
    unit: Unit = ()
    percent: bool = False
    rounded: bool = False

    @property
    def number(self) -> Number:
        """The value as JSON prints it best; 20 for 20 %."""
        value = self.value * 100 if self.percent else self.value
        found = divide(Decimal(value.numerator), Decimal(value.denominator))
        if self.rounded and isinstance(found, Decimal):
            found = float(found)
        return found

    @property
    def unit_name(self) -> str:
        """The unit as it is shown: %, kg, USD, m², mi/hour; empty for none."""
        if self.percent:
            return "%"
        above = "·".join(_powered(name, power) for name, power in self.unit if power > 0)
        below = "·".join(_powered(name, -power) for name, power in self.unit if power < 0)
        return f"{above}/{below}" if below else above

    def __str__(self) -> str:
        return written(self.number, self.unit_name)


def written(number: Number, unit: str) -> str:
    """Return a number with its unit as people write it: $12.50, 5.3 kg, 20%, 3 hours."""
    digits = _digits(number)
    head, slash, below = unit.partition("/")
    if head == "%":
        return f"{digits}%"
    if head in _SIGN_OF:
        signed = f"−{_SIGN_OF[head]}{digits[1:]}" if digits[0] == "−" else _SIGN_OF[head] + digits
        return signed + slash + below
    if number != 1 and head in _PLURALS:
        unit = f"{_PLURALS[head]}{slash}{below}"
    return f"{digits}{'' if unit[:1] == '/' else ' '}{unit}" if unit else digits


def in_words(unit: str) -> str:
    """Return a unit as it is said of several: inches."""
    head, slash, below = unit.partition("/")
    return f"{_PLURALS.get(head, head)}{slash}{below}"


def _digits(number: Number) -> str:
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if number and abs(exact.adjusted()) > _SMALLEST_SHOWN and isinstance(number, float):
        return str(number).replace("-", "−", 1) if number < 0 else str(number)
    return format(exact, "f").replace("-", "−", 1)


def _powered(name: str, power: int) -> str:
    return name.removeprefix(THING) + {1: "", 2: "²", 3: "³"}.get(power, f"^{power}")


def unit_of(*parts: tuple[str, int]) -> Unit:
    """Return the unit that is made of `parts`, each with its power."""
    powers: dict[str, int] = {}
    for name, power in parts:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def convert(quantity: Quantity, wanted: Unit) -> Quantity | None:
    """Return the same amount in another unit; None where there is no fixed factor."""
    if quantity.unit == wanted:
        return quantity
    factor = _factor(quantity.unit, wanted)
    if factor is None:
        return None
    return Quantity(quantity.value * factor, wanted, quantity.percent, quantity.rounded)


def on_scale(quantity: Quantity, wanted: Unit) -> Quantity | None:
    """Return what stands on one scale at the same place of another: 0 °C is 32 °F."""
    if not all(len(unit) == 1 and unit[0][0] in _SCALES for unit in (quantity.unit, wanted)):
        return None
    one, other = (_in_pint(unit).removesuffix(" ** 1") for unit in (quantity.unit, wanted))
    found: Any = _registry().Quantity(quantity.value, one).to(other).magnitude
    return Quantity(Fraction(found), wanted, rounded=quantity.rounded)


def product_unit(left: Quantity, right: Quantity, sign: int) -> tuple[Fraction, Unit]:
    """Return the unit of a product, or with `sign` -1 of a quotient, and a factor to it.

    What measures the same is brought to one unit: 120 km at 60 m/s.
    """
    factor, names = Fraction(1), [name for name, _ in left.unit]
    parts = [*left.unit]
    for name, power in right.unit:
        power *= sign
        same = next((n for n in names if n != name and _alike(n, name)), None)
        if same is not None and name not in names:
            one = _factor(((name, 1),), ((same, 1),))
            if one is not None:
                factor *= one**power
                name = same
        parts.append((name, power))
    return factor, unit_of(*parts)


def is_convertible(unit: Unit) -> bool:
    return bool(unit) and all(name in _CALENDAR or name in _PINT_NAMES for name, _ in unit)


def _alike(one: str, other: str) -> bool:
    return _factor(((one, 1),), ((other, 1),)) is not None


@cache
def _factor(unit: Unit, wanted: Unit) -> Fraction | None:
    if unit == wanted:
        return Fraction(1)
    shared = set(unit) & set(wanted)
    if shared:
        unit, wanted = (tuple(one for one in u if one not in shared) for u in (unit, wanted))
    if not is_convertible(unit) or not is_convertible(wanted):
        return None
    if any(name in _SCALES for name, _ in (*unit, *wanted)):
        return None
    if {name for name, _ in (*unit, *wanted)} & _CALENDAR.keys():
        return _months(unit, wanted)
    one, other = (_registry().Quantity(Fraction(1), _in_pint(each)) for each in (unit, wanted))
    if not one.is_compatible_with(other):
        return None
    magnitude: Any = one.to(other.units).magnitude
    return magnitude if isinstance(magnitude, Fraction) else None


def _months(unit: Unit, wanted: Unit) -> Fraction | None:
    """The factor between months and years, which are no fixed number of days."""
    if len(unit) != 1 or len(wanted) != 1 or unit[0][1] != wanted[0][1]:
        return None
    months, others = _CALENDAR.get(unit[0][0]), _CALENDAR.get(wanted[0][0])
    return None if months is None or others is None else Fraction(months, others) ** unit[0][1]


def _in_pint(unit: Iterable[tuple[str, int]]) -> str:
    return " * ".join(f"{_PINT_NAMES[name]} ** {power}" for name, power in unit)


def load_units() -> None:
    """Read the table of units now, for the first sum that converts one not to wait. Blocks."""
    _registry()


@cache
def _registry() -> "UnitRegistry[Any]":
    """The units of pint, whose table takes a third of a second to read."""
    from pint import UnitRegistry

    return UnitRegistry(non_int_type=Fraction)
