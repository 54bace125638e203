"""Exchange rates in the shape of Frankfurter: `GET /v1/latest?base=USD&symbols=EUR`.

`GET /v1/2024-01-15?…` has those of a past day, which differ from the latest ones by up to two
percent; for a day at a weekend, those of the Friday before.
"""

from collections.abc import Callable
from datetime import date, timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

CURRENCIES = {
    "AUD": ("Australian Dollar", 1.64),
    "BRL": ("Brazilian Real", 6.1),
    "CAD": ("Canadian Dollar", 1.5),
    "CHF": ("Swiss Franc", 0.94),
    "CNY": ("Chinese Renminbi Yuan", 7.8),
    "CZK": ("Czech Koruna", 25.0),
    "DKK": ("Danish Krone", 7.46),
    "EUR": ("Euro", 1.0),
    "GBP": ("British Pound", 0.84),
    "HKD": ("Hong Kong Dollar", 8.5),
    "HUF": ("Hungarian Forint", 400.0),
    "IDR": ("Indonesian Rupiah", 17500.0),
    "ILS": ("Israeli New Shekel", 4.0),
    "INR": ("Indian Rupee", 92.0),
    "JPY": ("Japanese Yen", 164.0),
    "KRW": ("South Korean Won", 1520.0),
    "MXN": ("Mexican Peso", 20.5),
    "MYR": ("Malaysian Ringgit", 4.8),
    "NOK": ("Norwegian Krone", 11.7),
    "NZD": ("New Zealand Dollar", 1.84),
    "PHP": ("Philippine Peso", 61.0),
    "PLN": ("Polish Złoty", 4.25),
    "RON": ("Romanian Leu", 4.98),
    "SEK": ("Swedish Krona", 11.2),
    "SGD": ("Singapore Dollar", 1.42),
    "THB": ("Thai Baht", 37.0),
    "TRY": ("Turkish Lira", 38.0),
    "USD": ("United States Dollar", 1.25),
    "ZAR": ("South African Rand", 19.5),
}
"""Name, and units for one euro: round figures, near what they once were."""

FIRST_DAY = date(1999, 1, 4)
"""There are no rates of the euro before this day, nor of days to come."""


def routes(today: Callable[[], date]) -> list[Route]:
    def latest(request: Request) -> JSONResponse:
        return rates_of(request, today())

    def historical(request: Request) -> JSONResponse:
        try:
            day = date(*(request.path_params[part] for part in ("year", "month", "day")))
        except ValueError:
            day = date.max
        if not FIRST_DAY <= day <= today():
            return JSONResponse({"message": "not found"}, status_code=404)
        return rates_of(request, day - timedelta(days=max(0, day.weekday() - 4)))

    def rates_of(request: Request, day: date) -> JSONResponse:
        base = request.query_params.get("base", "EUR").upper()
        wanted = request.query_params.get("symbols", "").upper()
        symbols = [code for code in wanted.split(",") if code] or list(CURRENCIES)
        if base not in CURRENCIES or any(code not in CURRENCIES for code in symbols):
            return JSONResponse({"message": "not found"}, status_code=404)
        if symbols == [base]:
            return JSONResponse({"message": "bad currency pair"}, status_code=422)
        rates = {
            code: round(_rate(code, day, today()) / _rate(base, day, today()), 5)
            for code in sorted(symbols)
            if code != base
        }
        return JSONResponse({"amount": 1.0, "base": base, "date": day.isoformat(), "rates": rates})

    def names(_request: Request) -> JSONResponse:
        return JSONResponse({code: name for code, (name, _) in CURRENCIES.items()})

    return [
        Route("/v1/currencies", names, methods=["GET"]),
        Route("/v1/latest", latest, methods=["GET"]),
        Route("/v1/{year:int}-{month:int}-{day:int}", historical, methods=["GET"]),
    ]


def _rate(code: str, day: date, latest: date) -> float:
    """Units for one euro on a day."""
    rate = CURRENCIES[code][1]
    if code == "EUR" or day == latest:
        return rate
    number = sum(map(ord, code)) + day.toordinal()
    return rate * (1 + (number % 41 - 20) / 1000)
