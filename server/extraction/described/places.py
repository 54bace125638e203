"""Places as a description wants them: with the short name of their state, "Denver, CO"."""

import re
from typing import Final

_WANTED: Final = re.compile(r"\b[A-Z][\w.]+(?: [A-Z][\w.]+)*, [A-Z]{2}\b")

_STATES: Final = {
    "alabama": "AL", "alaska": "AK", "arizona": "AZ", "arkansas": "AR", "california": "CA",
    "colorado": "CO", "connecticut": "CT", "delaware": "DE", "florida": "FL", "georgia": "GA",
    "hawaii": "HI", "idaho": "ID", "illinois": "IL", "indiana": "IN", "iowa": "IA",
    "kansas": "KS", "kentucky": "KY", "louisiana": "LA", "maine": "ME", "maryland": "MD",
    "massachusetts": "MA", "michigan": "MI", "minnesota": "MN", "mississippi": "MS",
    "missouri": "MO", "montana": "MT", "nebraska": "NE", "nevada": "NV", "new hampshire": "NH",
    "new jersey": "NJ", "new mexico": "NM", "new york": "NY", "north carolina": "NC",
    "north dakota": "ND", "ohio": "OH", "oklahoma": "OK", "oregon": "OR", "pennsylvania": "PA",
    "rhode island": "RI", "south carolina": "SC", "south dakota": "SD", "tennessee": "TN",
    "texas": "TX", "utah": "UT", "vermont": "VT", "virginia": "VA", "washington": "WA",
    "west virginia": "WV", "wisconsin": "WI", "wyoming": "WY",
}  # fmt: skip

_LARGEST: Final = {
    "AZ": "phoenix,tucson,mesa,scottsdale", "CA": "los angeles,san diego,san jose,san francisco,"
    "fresno,sacramento,long beach,oakland,anaheim,palo alto,berkeley,san mateo,santa monica",
    "CO": "denver,colorado springs", "DC": "washington d.c.,washington dc",
    "FL": "miami,orlando,tampa,jacksonville", "GA": "atlanta", "HI": "honolulu", "IL": "chicago",
    "IN": "indianapolis", "LA": "new orleans", "MA": "boston", "MD": "baltimore",
    "MI": "detroit", "MN": "minneapolis", "MO": "kansas city,st. louis", "NC": "charlotte,raleigh",
    "NE": "omaha", "NM": "albuquerque", "NV": "las vegas,reno", "NY": "new york,new york city,"
    "brooklyn,manhattan,buffalo", "OH": "cleveland,cincinnati,columbus", "OK": "oklahoma city",
    "OR": "portland", "PA": "philadelphia,pittsburgh", "TN": "nashville,memphis",
    "TX": "houston,dallas,austin,san antonio,fort worth,el paso", "UT": "salt lake city",
    "VA": "virginia beach", "WA": "seattle", "WI": "milwaukee",
}  # fmt: skip
_CITIES: Final = {city: state for state, named in _LARGEST.items() for city in named.split(",")}


def wants_state(description: str) -> bool:
    """Whether a description shows a city with the short name of its state."""
    return _WANTED.search(description) is not None


def with_state(place: str) -> str:
    """A city of the United States with its state as two letters, where that is known."""
    city, comma, state = place.partition(",")
    if comma:
        short = _STATES.get(state.strip().lower())
        return f"{city.strip()}, {short}" if short else place
    known = _CITIES.get(city.strip().lower())
    return f"{city.strip()}, {known}" if known else place
