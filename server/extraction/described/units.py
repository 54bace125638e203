"""Units of measure, as they stand after a number and in the description of a parameter."""

import re
from typing import Final

_WORDS: Final = {
    "length": "m meter meters metre metres km kilometer kilometers kilometre kilometres cm "
    "centimeter centimeters centimetre mm millimeter millimeters ft foot feet inch inches mi mile "
    "miles yd yard yards nm",
    "mass": "kg kgs kilogram kilograms g gram grams mg lb lbs pound pounds oz ounce ounces ton "
    "tons tonne tonnes",
    "speed": "m/s km/h kmh kph mph meters/second km/hr mi/h",
    "acceleration": "m/s^2 m/s2 m/s²",
    "temperature": "°c °f celsius fahrenheit kelvin k c f degc",
    "volume": "l liter liters litre litres ml milliliter milliliters gallon gallons m^3 m³ m3 "
    "cm^3 cm3 cubic cup cups teaspoon teaspoons tablespoon tablespoons pint pints quart quarts",
    "area": "m^2 m² m2 cm^2 km^2 km² sqft sq square acre acres hectare hectares",
    "energy": "j joule joules kj kcal calorie calories kwh",
    "power": "w watt watts kw kilowatt kilowatts",
    "pressure": "pa pascal pascals kpa atm atmosphere atmospheres bar psi",
    "voltage": "v volt volts mv kv",
    "current": "amp amps ampere amperes a ma",
    "resistance": "ohm ohms ω",
    "charge": "coulomb coulombs",
    "capacitance": "µf μf nf pf farad farads",
    "inductance": "mh µh henry henries",
    "frequency": "hz hertz khz mhz ghz",
    "force": "newton newtons n",
    "field": "tesla teslas",
    "data": "gb mb kb tb byte bytes gigabytes megabytes",
    "angle": "degree degrees radian radians",
    "bpm": "bpm",
    "efficiency": "mpg",
    "second": "s sec secs second seconds",
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "day days night nights",
    "week": "week weeks",
    "month": "month months",
    "year": "year years yr yrs",
    "money": "usd eur gbp dollar dollars euro euros pound pounds cents",
    "percent": "percent percentage %",
    "people": "people persons person guests passengers",
}
"""What is measured, and the words for its units. Spans of time are apart from each other."""

MEASURES: Final[dict[str, str]] = {}
for _measure, _units in _WORDS.items():
    for _unit in _units.split():
        MEASURES.setdefault(_unit, _measure)

TIMES: Final = frozenset({"second", "minute", "hour", "day", "week", "month", "year"})
_LONGEST: Final = 24

# One run each of what units are made of; nothing to go back to.
_AFTER: Final = re.compile(
    r"\s{0,2}-?\s?((?:degrees?\s+)?(?:sq(?:uare)?\.?\s|cubic\s)?[°µμΩ%a-z]+(?:/[a-z]+)?(?:\^?[23²³])?)",
    re.IGNORECASE,
)
_IN: Final = re.compile(
    r"\b(?:in|as)\s+(?:a\s+|the\s+)?([°µa-z]+(?:/[a-z]+(?:\^?[2²])?)?(?:\^?[23²³])?)"
    r"|\(\s*(?:in\s+)?([°µa-z]+(?:/[a-z]+(?:\^?[2²])?)?(?:\^?[23²³])?)\s*\)"
    r"|,\s*([a-z]+(?:/[a-z]+(?:\^?[2²])?)?)\.?$",
    re.IGNORECASE,
)
_LONG: Final = re.compile(r"[a-z]{4,}", re.IGNORECASE)
_PER: Final = {"second": "speed", "hour": "speed"}


def measure_after(text: str, place: int) -> str:
    """What a number that ends at `place` measures, by the unit after it; empty for nothing."""
    found = _AFTER.match(text, place, place + _LONGEST)
    if found is None:
        return ""
    words = found[1].lower()
    if words.startswith(("sq", "cubic")):
        return "area" if words.startswith("sq") else "volume"
    unit = words.split()[-1]
    glued = text[place : place + 1] not in (" ", "")
    if len(unit) < 3 and not glued and unit in ("a", "c", "f", "k", "n", "s", "in", "h", "j", "v"):
        after = text[found.end() : found.end() + 1]
        if after not in ("", ".", ",", "?", ")") or unit == "a":
            return ""  # "5 a day" is no current
    measure = MEASURES.get(unit, "") or MEASURES.get(unit.rstrip("s"), "")
    rest = text[found.end() : found.end() + 12].lower()
    if measure == "length" and rest.startswith((" per ", "/")):
        return "speed"
    if measure in ("speed", "length") and rest.startswith(("^2", "²", "2")):
        return "acceleration" if measure == "speed" else "area"
    return measure


def measures_told(text: str) -> frozenset[str]:
    """What the description of a parameter says that it is measured in."""
    lowered = text.lower()
    found: set[str] = set()
    for match in _IN.finditer(lowered):
        unit = match[1] or match[2] or match[3]
        if unit == "square" or unit == "cubic":
            found.add("area" if unit == "square" else "volume")
        elif unit in MEASURES and unit not in ("a", "second", "degree", "degrees"):
            found.add(MEASURES[unit])
        elif "/" in unit:
            found.add(unit)  # of no known measure, and so not of that of its parts
    if not found:
        found = {
            MEASURES[word]
            for word in _LONG.findall(lowered)
            if word in MEASURES and word not in ("second", "person", "people", "pound", "yard")
        }
    if "temperature" in found:
        found.discard("angle")  # degrees Celsius
    if "length" in found and ("per second" in lowered or "per hour" in lowered):
        found = {"acceleration" if "squared" in lowered else "speed"}
    if "square" in lowered and "square root" not in lowered and "length" in found:
        found = {"area"}
    if "per gallon" in lowered:
        found = {"efficiency"}
    return frozenset(found)
