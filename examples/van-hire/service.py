"""A small service of one's own, for the quickstart: the vans of a garage, and their bookings.

    python3 examples/van-hire/service.py [PORT]

It needs nothing but Python, describes itself at /openapi.json, and forgets everything when it ends.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

OPENAPI = (Path(__file__).parent / "openapi.json").read_bytes()
VANS = [
    {"plate": "KV079", "model": "Atlas 200", "seats": 3, "status": "free"},
    {"plate": "LM518", "model": "Atlas 200", "seats": 3, "status": "hired"},
    {"plate": "RT604", "model": "Orion", "seats": 7, "status": "free"},
    {"plate": "ZA310", "model": "Orion", "seats": 7, "status": "broken"},
]
BOOKINGS = [{"plate": "LM518", "day": "2027-03-04", "customer": "Maria Novak"}]


class Garage(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        url = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        van = re.fullmatch("/vans/([^/]+)", url.path)
        if url.path == "/openapi.json":
            self._answer(json.loads(OPENAPI))
        elif url.path == "/vans":
            self._answer([van for van in VANS if asked.items() <= van.items()])
        elif url.path == "/bookings":
            self._answer([one for one in BOOKINGS if asked.items() <= one.items()])
        elif van and (found := [one for one in VANS if one["plate"] == van[1]]):
            self._answer(found[0])
        else:
            self._answer({"message": f"there is nothing at {url.path}"}, 404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        if body.get("plate") not in {van["plate"] for van in VANS}:
            self._answer({"message": f"there is no van {body.get('plate')}"}, 404)
            return
        BOOKINGS.append(body)
        self._answer(body, 201)

    def _answer(self, data: Any, status: int = 200) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing: the terminal is shared with what is typed."""


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8901
    ThreadingHTTPServer(("127.0.0.1", port), Garage).serve_forever()
