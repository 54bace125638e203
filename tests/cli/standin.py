"""A small server that stands in for Orbit's own, and misbehaves as a test asks.

Usage: standin.py PORT BEHAVIOUR, one of: ready, opening (three answers long), degraded,
unavailable, for-ever (opening, and never done), dies, silent, deaf (to SIGTERM),
drains (for a second).
"""

import json
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import count

PORT, BEHAVIOUR = int(sys.argv[1]), sys.argv[2]
GOOD = {"name": "good", "state": "ready"}
OPENING = {"name": "good", "state": "opening"}
BROKEN = {"name": "bad", "state": "unavailable", "why": "no such file @ tools.yaml:3"}
ANSWERS = {
    "degraded": ("degraded", [GOOD, BROKEN]),
    "unavailable": ("unavailable", [BROKEN]),
    "for-ever": ("opening", [OPENING]),
}
asked = count(1)


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, adapters = ANSWERS.get(BEHAVIOUR, ("ready", [GOOD]))
        if BEHAVIOUR == "opening" and next(asked) <= 3:
            status, adapters = "opening", [OPENING]
        body = json.dumps({"status": status, "adapters": adapters}).encode()
        self.send_response(200 if status in ("ready", "degraded") else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def end_later(_signal: int, _frame: object) -> None:
    time.sleep(1)
    sys.exit()


if BEHAVIOUR == "dies":
    sys.stderr.write("loading\nTraceback: the disk is on fire\n")
    sys.exit(7)
if BEHAVIOUR == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if BEHAVIOUR == "drains":
    signal.signal(signal.SIGTERM, end_later)
if BEHAVIOUR == "silent":
    time.sleep(3600)
HTTPServer(("127.0.0.1", PORT), Ready).serve_forever()
