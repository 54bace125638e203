"""Stock quotes as CSV in the shape of Stooq: `GET /q/l/?s=aapl.us&f=sd2t2ohlcvn&h&e=csv`."""

import csv
import io
from collections.abc import Callable
from datetime import date

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STOCKS = {
    "AAPL": ("Apple", 230.5),
    "AMD": ("Advanced Micro Devices", 141.25),
    "AMZN": ("Amazon.com", 205.75),
    "BA": ("Boeing", 171.1),
    "DIS": ("Walt Disney", 112.4),
    "F": ("Ford Motor", 11.2),
    "GOOGL": ("Alphabet", 175.35),
    "IBM": ("IBM", 221.9),
    "INTC": ("Intel", 24.65),
    "JPM": ("JPMorgan Chase", 238.2),
    "KO": ("Coca-Cola", 63.8),
    "MCD": ("McDonald's", 295.05),
    "META": ("Meta Platforms", 561.4),
    "MSFT": ("Microsoft", 428.15),
    "NFLX": ("Netflix", 823.9),
    "NKE": ("Nike", 77.3),
    "NVDA": ("NVIDIA", 138.85),
    "ORCL": ("Oracle", 187.6),
    "PEP": ("PepsiCo", 163.2),
    "TSLA": ("Tesla", 342.05),
    "WMT": ("Walmart", 88.7),
}

_HEADER = ("Symbol", "Date", "Time", "Open", "High", "Low", "Close", "Volume", "Name")


def routes(today: Callable[[], date]) -> list[Route]:
    def quote(request: Request) -> Response:
        asked = request.query_params.get("s", "").upper()
        symbol, _, market = asked.partition(".")
        known = STOCKS.get(symbol) if market in ("", "US") else None
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(_HEADER)
        if known is None:
            writer.writerow([asked, *["N/D"] * 7, asked])
        else:
            name, close = known
            prices = [round(close + change, 2) for change in (-1.2, 2.1, -2.4)]
            day = today().isoformat()
            writer.writerow([asked, day, "22:00:00", *prices, close, 1_000_000, name.upper()])
        return Response(text.getvalue(), media_type="text/csv")

    return [Route("/q/l/", quote, methods=["GET"])]
