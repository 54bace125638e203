"""Geocoding in the shape of Open-Meteo: `GET /v1/search?name=London,Canada&count=1`."""

import unicodedata
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route


@dataclass(frozen=True)
class Place:
    name: str
    country: str
    country_code: str
    latitude: float
    longitude: float
    timezone: str
    population: int

    def to_dict(self, number: int) -> dict[str, object]:
        return {
            "id": 1_000_000 + number,
            "name": self.name,
            "latitude": self.latitude,
            "longitude": self.longitude,
            "elevation": 25.0,
            "feature_code": "PPL",
            "country_code": self.country_code,
            "timezone": self.timezone,
            "population": self.population,
            "country": self.country,
        }


_ROWS = """
Amsterdam|Netherlands|NL|52.37|4.89|Europe/Amsterdam|741636
Athens|Greece|GR|37.98|23.73|Europe/Athens|664046
Bangkok|Thailand|TH|13.75|100.50|Asia/Bangkok|5104476
Barcelona|Spain|ES|41.39|2.16|Europe/Madrid|1620343
Beijing|China|CN|39.91|116.40|Asia/Shanghai|18960744
Berlin|Germany|DE|52.52|13.41|Europe/Berlin|3426354
Bilbao|Spain|ES|43.26|-2.93|Europe/Madrid|345821
Boston|United States|US|42.36|-71.06|America/New_York|653833
Brussels|Belgium|BE|50.85|4.35|Europe/Brussels|1019022
Buenos Aires|Argentina|AR|-34.61|-58.38|America/Argentina/Buenos_Aires|13076300
Cairo|Egypt|EG|30.06|31.25|Africa/Cairo|9606916
Cambridge|United Kingdom|GB|52.20|0.12|Europe/London|145700
Cape Town|South Africa|ZA|-33.93|18.42|Africa/Johannesburg|3433441
Chicago|United States|US|41.85|-87.65|America/Chicago|2696555
Copenhagen|Denmark|DK|55.68|12.57|Europe/Copenhagen|1153615
Dakar|Senegal|SN|14.69|-17.44|Africa/Dakar|2476400
Delhi|India|IN|28.65|77.23|Asia/Kolkata|10927986
Dubai|United Arab Emirates|AE|25.07|55.30|Asia/Dubai|3790000
Dublin|Ireland|IE|53.33|-6.25|Europe/Dublin|1024027
Edinburgh|United Kingdom|GB|55.95|-3.20|Europe/London|506520
Geneva|Switzerland|CH|46.20|6.15|Europe/Zurich|183981
Glasgow|United Kingdom|GB|55.87|-4.26|Europe/London|591620
Hamburg|Germany|DE|53.55|9.99|Europe/Berlin|1845229
Helsinki|Finland|FI|60.17|24.94|Europe/Helsinki|658864
Hong Kong|Hong Kong|HK|22.28|114.17|Asia/Hong_Kong|7396076
Istanbul|Türkiye|TR|41.01|28.95|Europe/Istanbul|15701602
Jerusalem|Israel|IL|31.77|35.22|Asia/Jerusalem|971800
Kyoto|Japan|JP|35.02|135.75|Asia/Tokyo|1463723
Lagos|Nigeria|NG|6.45|3.39|Africa/Lagos|15388000
Lima|Peru|PE|-12.04|-77.03|America/Lima|7737002
Lisbon|Portugal|PT|38.72|-9.13|Europe/Lisbon|517802
London|United Kingdom|GB|51.51|-0.13|Europe/London|8961989
London|Canada|CA|42.98|-81.23|America/Toronto|422324
Los Angeles|United States|US|34.05|-118.24|America/Los_Angeles|3820914
Madrid|Spain|ES|40.42|-3.70|Europe/Madrid|3255944
Manila|Philippines|PH|14.60|120.98|Asia/Manila|1600000
Melbourne|Australia|AU|-37.81|144.96|Australia/Melbourne|4917750
Mexico City|Mexico|MX|19.43|-99.13|America/Mexico_City|12294193
Miami|United States|US|25.77|-80.19|America/New_York|441003
Milan|Italy|IT|45.46|9.19|Europe/Rome|1371498
Montreal|Canada|CA|45.51|-73.59|America/Toronto|1762949
Moscow|Russia|RU|55.75|37.62|Europe/Moscow|10381222
Mumbai|India|IN|19.07|72.88|Asia/Kolkata|12691836
Munich|Germany|DE|48.14|11.58|Europe/Berlin|1260391
Nairobi|Kenya|KE|-1.28|36.82|Africa/Nairobi|4397073
New York|United States|US|40.71|-74.01|America/New_York|8804190
Oslo|Norway|NO|59.91|10.75|Europe/Oslo|580000
Paris|France|FR|48.85|2.35|Europe/Paris|2138551
Paris|United States|US|33.66|-95.56|America/Chicago|24171
Phoenix|United States|US|33.45|-112.07|America/Phoenix|1608139
Portland|United States|US|45.52|-122.68|America/Los_Angeles|652503
Porto|Portugal|PT|41.15|-8.61|Europe/Lisbon|249633
Prague|Czechia|CZ|50.09|14.42|Europe/Prague|1165581
Reykjavik|Iceland|IS|64.14|-21.90|Atlantic/Reykjavik|118918
Richmond|United States|US|37.55|-77.46|America/New_York|226610
Rio de Janeiro|Brazil|BR|-22.91|-43.18|America/Sao_Paulo|6747815
Rome|Italy|IT|41.89|12.48|Europe/Rome|2318895
San Francisco|United States|US|37.77|-122.42|America/Los_Angeles|864816
São Paulo|Brazil|BR|-23.55|-46.64|America/Sao_Paulo|12400232
Seattle|United States|US|47.61|-122.33|America/Los_Angeles|737015
Seoul|South Korea|KR|37.57|126.98|Asia/Seoul|10349312
Shanghai|China|CN|31.22|121.46|Asia/Shanghai|24874500
Singapore|Singapore|SG|1.29|103.85|Asia/Singapore|5638700
Springfield|United States|US|37.22|-93.30|America/Chicago|169176
Springfield|United States|US|42.10|-72.59|America/New_York|155929
Stockholm|Sweden|SE|59.33|18.07|Europe/Stockholm|1515017
Sydney|Australia|AU|-33.87|151.21|Australia/Sydney|4627345
Tel Aviv|Israel|IL|32.08|34.78|Asia/Jerusalem|432892
Tokyo|Japan|JP|35.69|139.69|Asia/Tokyo|9733276
Toronto|Canada|CA|43.71|-79.40|America/Toronto|2794356
Vancouver|Canada|CA|49.25|-123.12|America/Vancouver|662248
Vienna|Austria|AT|48.21|16.37|Europe/Vienna|1691468
Warsaw|Poland|PL|52.23|21.01|Europe/Warsaw|1702139
Washington|United States|US|38.90|-77.04|America/New_York|689545
Wellington|New Zealand|NZ|-41.29|174.78|Pacific/Auckland|381900
Zürich|Switzerland|CH|47.37|8.55|Europe/Zurich|436551
"""


def _read(row: str) -> Place:
    name, country, code, latitude, longitude, timezone, population = row.split("|")
    return Place(name, country, code, float(latitude), float(longitude), timezone, int(population))


PLACES = tuple(map(_read, _ROWS.strip().splitlines()))


def routes() -> list[Route]:
    return [Route("/v1/search", search, methods=["GET"])]


def search(request: Request) -> JSONResponse:
    """Places whose name begins with what is asked for, the largest first."""
    name, _, country = request.query_params.get("name", "").partition(",")
    wanted = plain(name).removesuffix(" city")
    if not wanted:
        reason = "Parameter 'name' is required."
        return JSONResponse({"error": True, "reason": reason}, status_code=400)
    count = request.query_params.get("count", "10")
    if not count.isdecimal() or not 1 <= int(count) <= 100:
        reason = "Parameter 'count' must be between 1 and 100."
        return JSONResponse({"error": True, "reason": reason}, status_code=400)
    found = [
        (place, number)
        for number, place in enumerate(PLACES)
        if len(wanted) > 1
        and plain(place.name).startswith(wanted)
        and plain(place.country).startswith(plain(country))
    ]
    found.sort(key=lambda pair: -pair[0].population)
    answer: dict[str, object] = {"generationtime_ms": 0.5}
    if found:
        shown = [place.to_dict(number) for place, number in found[: int(count)]]
        answer = {"results": shown} | answer
    return JSONResponse(answer)


def plain(text: str) -> str:
    """Lower case without accents, as people type."""
    decomposed = unicodedata.normalize("NFKD", text.strip().casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))
