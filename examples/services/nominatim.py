"""Places by name and by kind in the shape of Nominatim: `GET /search?q=museums in Paris`."""

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from .places import PLACES, Place, plain

KINDS = {
    "bakery": ("shop", "bakery"),
    "cafe": ("amenity", "cafe"),
    "castle": ("historic", "castle"),
    "hotel": ("tourism", "hotel"),
    "library": ("amenity", "library"),
    "museum": ("tourism", "museum"),
    "pharmacy": ("amenity", "pharmacy"),
    "restaurant": ("amenity", "restaurant"),
}
"""What is found of each kind, by the key and value that OpenStreetMap has for it."""

SIGHTS = {
    "brandenburg gate": ("Brandenburg Gate", "Berlin", 52.5163, 13.3777),
    "colosseum": ("Colosseum", "Rome", 41.8902, 12.4922),
    "eiffel tower": ("Eiffel Tower", "Paris", 48.8583, 2.2945),
    "sagrada familia": ("Sagrada Família", "Barcelona", 41.4036, 2.1744),
}

_LICENCE = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"
_OF_EACH_KIND = ("Old", "New", "Central")


def routes() -> list[Route]:
    return [Route("/search", search, methods=["GET"])]


def search(request: Request) -> JSONResponse:
    """Towns and sights by name, and three made-up places of a kind in a town."""
    query = request.query_params
    wanted = plain(query.get("q", ""))
    limit = query.get("limit", "10")
    if not wanted:
        return _refuse("Nothing to search for.")
    if not limit.isdecimal() or not 1 <= int(limit) <= 40:
        return _refuse("Parameter 'limit' must be a number from 1 to 40.")
    what, _, where = wanted.partition(" in ")
    found = _of_kind(what, where) if where else [*_sights(wanted), *_towns(wanted)]
    return JSONResponse([row | {"licence": _LICENCE} for row in found[: int(limit)]])


def _of_kind(what: str, where: str) -> list[dict[str, object]]:
    towns = _named(where)
    kind = _singular(what)
    if not towns or kind not in KINDS:
        return []
    category, value = KINDS[kind]
    town = towns[0]
    return [
        _row(
            f"{which} {town.name} {kind.capitalize()}",
            (category, value),
            town,
            (town.latitude + number / 100, town.longitude - number / 100),
        )
        for number, which in enumerate(_OF_EACH_KIND, 1)
    ]


def _sights(wanted: str) -> list[dict[str, object]]:
    if wanted not in SIGHTS:
        return []
    name, town, latitude, longitude = SIGHTS[wanted]
    return [_row(name, ("tourism", "attraction"), _named(plain(town))[0], (latitude, longitude))]


def _towns(wanted: str) -> list[dict[str, object]]:
    return [
        _row(
            town.name,
            ("boundary", "administrative"),
            town,
            (town.latitude, town.longitude),
            {"population": str(town.population)},
        )
        for town in _named(wanted)
    ]


def _named(wanted: str) -> list[Place]:
    name, _, country = (part.strip() for part in wanted.partition(","))
    towns = [town for town in PLACES if plain(town.name) == name]
    if country:
        towns = [town for town in towns if plain(town.country) == country]
    return sorted(towns, key=lambda town: -town.population)


def _row(
    name: str,
    kind: tuple[str, str],
    town: Place,
    at: tuple[float, float],
    more: dict[str, str] | None = None,
) -> dict[str, object]:
    category, value = kind
    return {
        "lat": f"{at[0]:.7f}",
        "lon": f"{at[1]:.7f}",
        "category": category,
        "type": value,
        "name": name,
        "display_name": f"{name}, {town.country}",
        "address": {
            "city": town.name,
            "country": town.country,
            "country_code": town.country_code.lower(),
        },
        "extratags": more or {},
    }


def _singular(kind: str) -> str:
    if kind.endswith("ies"):
        return f"{kind[:-3]}y"
    return kind.removesuffix("s")


def _refuse(message: str) -> JSONResponse:
    return JSONResponse({"error": {"code": 400, "message": message}}, status_code=400)
