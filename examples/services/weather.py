"""Weather in the shape of Open-Meteo: `GET /v1/forecast?latitude=…&longitude=…`.

The weather is made up from the place and the day, so that it is plausible and always
the same.
"""

import math
from collections.abc import Callable
from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

_CODES = (0, 1, 2, 3, 45, 51, 61, 63, 80, 95)
_UNITS = {
    "temperature_2m": "°C",
    "apparent_temperature": "°C",
    "relative_humidity_2m": "%",
    "wind_speed_10m": "km/h",
    "weather_code": "wmo code",
    "precipitation": "mm",
    "temperature_2m_max": "°C",
    "temperature_2m_min": "°C",
    "precipitation_sum": "mm",
    "precipitation_probability_max": "%",
}

_WIND = {
    "kmh": ("km/h", 1.0),
    "mph": ("mp/h", 1.609344),
    "ms": ("m/s", 3.6),
    "kn": ("kn", 1.852),
}
"""Units of wind speed as they are shown, and the kilometres an hour in one."""


class _Wrong(ValueError):
    pass


def routes(today: Callable[[], date]) -> list[Route]:
    def forecast(request: Request) -> JSONResponse:
        try:
            return JSONResponse(_forecast(request, today()))
        except _Wrong as wrong:
            return JSONResponse({"error": True, "reason": str(wrong)}, status_code=400)

    return [Route("/v1/forecast", forecast, methods=["GET"])]


def _forecast(request: Request, day: date) -> dict[str, object]:
    latitude = _number(request, "latitude", -90, 90)
    longitude = _number(request, "longitude", -180, 180)
    imperial = _choice(request, "temperature_unit", "celsius", "fahrenheit") == "fahrenheit"
    wind_unit = _choice(request, "wind_speed_unit", *_WIND)
    units = dict(_UNITS)
    if imperial:
        units = {name: "°F" if unit == "°C" else unit for name, unit in units.items()}
    units["wind_speed_10m"], slower = _WIND[wind_unit]
    answer: dict[str, object] = {
        "latitude": latitude,
        "longitude": longitude,
        "generationtime_ms": 0.1,
        "utc_offset_seconds": 0,
        "timezone": request.query_params.get("timezone", "GMT"),
        "elevation": 25.0,
    }
    names = _names(request, "current")
    if names:
        values = _weather(latitude, longitude, day)
        answer["current_units"] = {"time": "iso8601", **{name: units[name] for name in names}}
        answer["current"] = {
            "time": f"{day.isoformat()}T12:00",
            "interval": 900,
            **{
                name: _convert(name, values[name], imperial=imperial, slower=slower)
                for name in names
            },
        }
    names = _names(request, "daily")
    if names:
        days = _days(request, day)
        weather = [_weather(latitude, longitude, each) for each in days]
        answer["daily_units"] = {"time": "iso8601", **{name: units[name] for name in names}}
        answer["daily"] = {
            "time": [each.isoformat() for each in days],
            **{
                name: [
                    _convert(name, values[name], imperial=imperial, slower=slower)
                    for values in weather
                ]
                for name in names
            },
        }
    return answer


def _days(request: Request, today: date) -> list[date]:
    """The days asked for: so many from today on, or from one date to another."""
    query = request.query_params
    if "start_date" not in query and "end_date" not in query:
        count = int(_number(request, "forecast_days", 0, 16, default=7))
        return [today + timedelta(days=n) for n in range(count)]
    if "forecast_days" in query:
        raise _Wrong(
            "Parameter 'forecast_days' is mutually exclusive with 'start_date' and 'end_date'"
        )
    try:
        start = date.fromisoformat(query.get("start_date", ""))
        end = date.fromisoformat(query.get("end_date", ""))
    except ValueError:
        raise _Wrong("Both 'start_date' and 'end_date' must be set as yyyy-mm-dd") from None
    if not today - timedelta(days=92) <= start <= end <= today + timedelta(days=15):
        raise _Wrong("Parameter 'start_date' or 'end_date' is out of allowed range")
    return [start + timedelta(days=n) for n in range((end - start).days + 1)]


def _weather(latitude: float, longitude: float, day: date) -> dict[str, float]:
    season = math.cos(2 * math.pi * (day.timetuple().tm_yday - 200) / 365)
    if latitude < 0:
        season = -season
    chance = (int(abs(latitude) * 100) * 7 + int(abs(longitude) * 100) * 3 + day.toordinal()) % 10
    warmth = 28 - abs(latitude) * 0.4 + season * abs(latitude) * 0.2 + (chance - 5) * 0.4
    rain = max(0, chance - 5) * 1.5
    return {
        "temperature_2m": round(warmth, 1),
        "apparent_temperature": round(warmth - 1.5, 1),
        "relative_humidity_2m": 50 + chance * 4,
        "wind_speed_10m": round(6 + chance * 2.2, 1),
        "weather_code": _CODES[chance],
        "precipitation": rain,
        "temperature_2m_max": round(warmth + 3, 1),
        "temperature_2m_min": round(warmth - 5, 1),
        "precipitation_sum": rain,
        "precipitation_probability_max": chance * 10,
    }


def _convert(name: str, value: float, *, imperial: bool, slower: float) -> float:
    if imperial and _UNITS[name] == "°C":
        return round(value * 9 / 5 + 32, 1)
    if name == "wind_speed_10m":
        return round(value / slower, 1)
    return value


def _number(
    request: Request, name: str, low: float, high: float, default: float | None = None
) -> float:
    text = request.query_params.get(name)
    if text is None and default is not None:
        return default
    try:
        value = float(text or "")
    except ValueError:
        raise _Wrong(f"Parameter '{name}' must be a number.") from None
    if not low <= value <= high:
        raise _Wrong(f"Parameter '{name}' must be in range of {low:g} to {high:g}.")
    return value


def _choice(request: Request, name: str, usual: str, *others: str) -> str:
    value = request.query_params.get(name, usual)
    if value not in (usual, *others):
        raise _Wrong(f"Cannot use '{value}' for parameter '{name}'.")
    return value


def _names(request: Request, name: str) -> list[str]:
    names = [part for part in request.query_params.get(name, "").split(",") if part]
    for part in names:
        if part not in _UNITS:
            raise _Wrong(f"Cannot initialize variable '{part}' for '{name}'.")
    return names
