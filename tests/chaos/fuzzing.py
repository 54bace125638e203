"""Requests of every kind, bent in every way: the same ones for the same seed."""

import json
import random
import string
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import quote

from server.guards.changes import Kind

CHARACTERS = (
    string.printable
    + "\0\x1b\x7f\x85\xa0\xad\u0301\u05d0\u0660\u200b\u200f\u2028\u202e\u2066\ufeff\ufffd\uffff"
    + "½²①१٣一億ß\u0130ﬀ€漢ไทย\U0001f600\U0001d7d8\U000e0041"
)
PIECES = (
    "{{ 7*7 }}", "{% raw %}", "${ORBIT_HOME}", "%s%n", "../../etc/passwd", "'; DROP TABLE keys; --",
    "<script>", "-", "--", "1e999", "-0", "NaN", "٣٤", "9" * 400, "0." + "0" * 300 + "1", "1/0",
    "2^99999", "(" * 60, "2025-02-30", "31.12.9999", "25:61", "[]", "{}", '[{"a": 1}, {"a": null}]',
    "a,b\n1,2\n3", "null", "\r\n\r\n", "\\", '"', "not ", "and then ", "of 0", "by 0", "yes", "no",
    "the second one", "cancel that", "for each ", "%" * 50, "a" * 300, "\ud800",
)  # fmt: skip
ODD_JSON = (
    b"", b"{", b"[]", b"null", b"0", b'"x"', b'{"message": "\\ud800"}', b'{"message": "\xff"}',
    b'{"message": NaN}', b"\xef\xbb\xbf{}", b'{"a":' * 2000, b"[" * 100_000,
    b'{"message": "a", "message": "b"}', b'{"message": 1e999}', b"{}" * 3, b"\0" * 50,
    b'{"message": "' + b"9" * 5000 + b'"}', b"1" * 10_000,
)  # fmt: skip
ODD_HEADERS = {
    "Accept-Language": ("he;q=x, *;q=9e99", "en" * 500, ",,,;q=", "de;q=nan", "\xff"),
    "X-Request-ID": ("a" * 300, "\x01", "é", "'", ""),
    "Host": ("", "evil.example", "[::1", "localhost:99999999", "a" * 300, "127.0.0.1:x", "[::1]:8"),
    "Content-Type": ("text/plain", "application/json; charset=punycode", "multipart/form-data", ""),
    "Content-Length": ("-1", "1e3", "99999999999999999999", "0x10", "5, 5", "٣"),
    "Transfer-Encoding": ("chunked", "gzip", "chunked, chunked", "identity", "\x0bchunked"),
    "X-Forwarded-For": ("1.2.3.4", "unknown, ::1", "," * 200, "'"),
    "Forwarded": ("for=1.2.3.4", "for=[::1"),
    "Authorization": ("Bearer", "Bearer  ", "Basic Og==", "Bearer orb_" + "0" * 12 + "_x", "\xe9"),
    "X-API-Key": ("agent", "orb_", "a" * 257, "orb_000000000000_" + "A" * 43, "\xe9" * 20),
    "X-Orbit-User": ("ana", "", "\xe9"),
    "X-Orbit-Role": ("admin", "guest"),
    "X-Orbit-Time": ("0", "-1", "9" * 40, "NaN"),
    "X-Orbit-Signature": ("00", "\xe9", "t=1"),
    "Expect": ("100-continue", "200-ok"),
    "Upgrade": ("websocket", "h2c"),
    "Connection": ("upgrade", "close", "keep-alive, upgrade"),
    "Range": ("bytes=0-1",),
    "Accept": ("text/event-stream", "image/*", ""),
    "Cookie": ("a=b;" * 500,),
    "Origin": ("http://evil.example", "null"),
}
METHODS = ("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "GARBAGE")
PATHS = (
    "/", "/health", "/ready", "/metrics", "/docs", "/openapi.json", "/chat", "/chat/confirm",
    "/chat/sessions/s", "/intents/detect", "/v1/models", "/v1/models/agent",
    "/adapters/agent/tools", "/v1/chat/completions", "/v1/responses", "/admin/keys",
    "/admin/adapters", "/admin/keys/000000000000/revoke",
    "/admin/keys/000000000000/rotate", "/admin/adapters/agent", "/admin/adapters/none/reload",
    "/admin/guards", "/admin/guards/guarded", "/admin/guards/guarded/decisions?limit=1",
    "/admin/guards/guarded/changes", "/admin/guards/guarded/try", "/admin/guards/none/try",
)  # fmt: skip


@dataclass(frozen=True)
class Keys:
    """Keys that open something, by adapter, and an admin's."""

    users: Sequence[str]
    admin: str


@dataclass(frozen=True)
class Fuzzed:
    """A request as it goes over the wire; with `malformed` it may be none, and get no answer."""

    kind: str
    wire: bytes
    key: str = ""
    malformed: bool = False
    no_body: bool = False


class Fuzzer:
    """Makes requests. `proposals` are keys, sessions and ids to confirm, which answers add to."""

    def __init__(self, seed: int, keys: Keys, questions: Sequence[str]) -> None:
        self._chance = random.Random(seed)
        self._keys = keys
        self._questions = questions
        self.proposals = deque([(keys.admin, "s", "0" * 32)], maxlen=50)
        self._kinds: dict[Callable[[], Fuzzed], int] = {
            self._question: 30, self._stream: 8, self._fields: 12, self._body: 8, self._confirm: 8,
            self._session: 4, self._completion: 10, self._intents: 6, self._admin: 12,
            self._headers: 10, self._path: 6, self._wire: 8,
        }  # fmt: skip

    def request(self) -> Fuzzed:
        return self._chance.choices([*self._kinds], [*self._kinds.values()])[0]()

    def _question(self) -> Fuzzed:
        return self._post("question", "/chat", {"message": self._text(), **self._maybe_session()})

    def _stream(self) -> Fuzzed:
        data = {"message": self._text(), "stream": True, **self._maybe_session()}
        return self._post("stream", "/chat", data)

    def _fields(self) -> Fuzzed:
        data: dict[str, Any] = {
            "message": "What is 15% of 200?",
            "session_id": "s",
            "stream": False,
        }
        for _ in range(self._chance.randint(1, 2)):
            name = self._chance.choice([*data, self._word()])
            data[name] = self._value()
        return self._post("fields", "/chat", data)

    def _body(self) -> Fuzzed:
        whole = self._dumped({"message": self._text(), "session_id": "s"})
        odd = self._chance.choice([self._bent(whole), self._chance.choice(ODD_JSON), self._bytes()])
        return self._sent("body", "POST", self._chance.choice(PATHS), odd)

    def _confirm(self) -> Fuzzed:
        key, session, proposal = self._chance.choice(self.proposals)
        data: dict[str, Any] = {"session_id": session, "proposal_id": proposal, "accept": True}
        if self._chance.random() < 0.5:
            name = self._chance.choice([*data, "seal"])
            data[name] = self._value()
        return self._sent("confirm", "POST", "/chat/confirm", self._dumped(data), key=key)

    def _session(self) -> Fuzzed:
        if self._chance.random() < 0.3:
            return self._sent("session", "DELETE", f"/chat/sessions/s{self._chance.randrange(50)}")
        name = quote(self._text()[:200].encode("utf-8", "replace"), safe=self._word())
        return self._sent("session", "DELETE", f"/chat/sessions/{name}")

    def _completion(self) -> Fuzzed:
        messages: Any = [{"role": "user", "content": self._text()}]
        if self._chance.random() < 0.3:
            messages = [{"role": self._word(), "content": self._value()}, *messages]
        data: dict[str, Any] = {"messages": messages}
        data["stream"] = self._chance.random() < 0.3
        for name in ("model", "n", "tools", "response_format", "metadata", "messages"):
            if self._chance.random() < 0.1:
                data[name] = self._value()
        return self._post("completion", "/v1/chat/completions", data)

    def _intents(self) -> Fuzzed:
        return self._post("intents", "/intents/detect", {"message": self._text()})

    def _admin(self) -> Fuzzed:
        paths = [path for path in PATHS if path.startswith("/admin")]
        path = self._chance.choice(paths)
        if self._chance.random() < 0.3:
            path += "/" + quote(self._text()[:40].encode("utf-8", "replace"))
        if self._chance.random() < 0.2:
            path += "?limit=" + quote(self._text()[:20].encode("utf-8", "replace"))
        data: Any = {
            "kind": self._chance.choice([*get_args(Kind), "x"]),
            "category": self._chance.choice(["litecoin", "price_speculation", self._word()]),
            "text": self._text()[:300], "number": self._number(),
        }  # fmt: skip
        if "keys" in path or self._chance.random() < 0.3:
            data = {name: self._value() for name in ("adapter", "role", "limits", "expires", "x")}
            data["adapter"] = self._chance.choice(["agent", self._value()])
        elif "/try" in path:
            data = {"question": self._text(), "message": self._text(), "changes": self._value()}
        method = self._chance.choice(METHODS[:3])
        return self._sent("admin", method, path, self._dumped(data), key=self._keys.admin)

    def _headers(self) -> Fuzzed:
        odd = self._chance.sample([*ODD_HEADERS], self._chance.randint(1, 3))
        headers = {name: self._chance.choice(ODD_HEADERS[name]) for name in odd}
        if self._chance.random() < 0.2:
            headers[self._word() or "X"] = self._word() * 50
        body = self._dumped({"message": "What is 15% of 200?"})
        framed = {"Content-Length", "Transfer-Encoding", "Upgrade", "Expect", "Connection"}
        bent = bool(framed & headers.keys()) or "\x01" in "".join(headers.values())
        method, path = self._chance.choice([("POST", "/chat"), ("GET", self._chance.choice(PATHS))])
        return self._sent("headers", method, path, body, headers, malformed=bent)

    def _path(self) -> Fuzzed:
        method, path = self._chance.choice(METHODS), self._chance.choice(PATHS)
        if self._chance.random() < 0.7:
            path = "/" + quote(self._text()[:300].encode("utf-8", "replace"), safe="/?&=%;:@")
        return self._sent("path", method, path, malformed=method == "GARBAGE" or "%" in path)

    def _wire(self) -> Fuzzed:
        whole = self._chance.choice([self._question, self._headers, self._path])().wire
        return Fuzzed("wire", self._bent(whole), malformed=True)

    def _post(self, kind: str, path: str, data: Any) -> Fuzzed:
        return self._sent(kind, "POST", path, self._dumped(data))

    def _sent(
        self,
        kind: str,
        method: str,
        path: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        *,
        key: str = "",
        malformed: bool = False,
    ) -> Fuzzed:
        key = key or self._chance.choice(self._keys.users)
        given = {
            "Host": "localhost",
            "X-API-Key": key,
            "Content-Length": str(len(body)),
        } | (headers or {})
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in given.items())]
        wire = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n" + body
        return Fuzzed(kind, wire, key, malformed, no_body=method == "HEAD")

    def _maybe_session(self) -> dict[str, str]:
        chosen = self._chance.random()
        if chosen < 0.6:
            return {}
        return {"session_id": f"s{self._chance.randrange(50)}" if chosen < 0.95 else self._word()}

    def _text(self) -> str:
        text = self._chance.choice(self._questions)
        for _ in range(self._chance.choice([0, 1, 1, 2, 4, 12])):
            at = self._chance.randint(0, len(text))
            bend = self._chance.randrange(6)
            if bend == 0:
                text = text[:at] + self._chance.choice(CHARACTERS) + text[at:]
            elif bend == 1:
                text = text[:at] + self._chance.choice(PIECES) + text[at:]
            elif bend == 2:
                text = text[:at] + text[at + self._chance.randint(1, 8) :]
            elif bend == 3:
                text = text[at:] + " " + text[:at]
            elif bend == 4:
                text = text[:at] + self._chance.choice(self._questions)
            else:
                text += text[: self._chance.randint(0, 200)]
        return text[:6000]

    def _word(self) -> str:
        length = self._chance.randint(0, 12)
        return "".join(self._chance.choice(string.ascii_letters + "._-: ") for _ in range(length))

    def _number(self) -> Any:
        return self._chance.choice([0, -1, 0.5, 1, 1e308, 10**400, -0.0, 2**63, True])

    def _value(self, depth: int = 0) -> Any:
        kind = self._chance.randrange(7 if depth < 3 else 5)
        if kind == 5:
            return [self._value(depth + 1) for _ in range(self._chance.randint(0, 4))]
        if kind == 6:
            names = (self._word() for _ in range(self._chance.randint(0, 4)))
            return {name: self._value(depth + 1) for name in names}
        return [None, self._number(), self._word(), self._text(), self._chance.choice(PIECES)][kind]

    def _bytes(self) -> bytes:
        return self._chance.randbytes(self._chance.randint(0, 300))

    def _bent(self, whole: bytes) -> bytes:
        for _ in range(self._chance.randint(1, 4)):
            at = self._chance.randint(0, len(whole))
            bend = self._chance.randrange(4)
            if bend == 0:
                whole = whole[:at] + self._chance.randbytes(self._chance.randint(1, 6)) + whole[at:]
            elif bend == 1:
                whole = whole[:at] + whole[at + self._chance.randint(1, 20) :]
            elif bend == 2:
                whole = whole[:at] + whole[: self._chance.randint(0, 100)] + whole[at:]
            else:
                whole = whole[:at]
        return whole

    def _dumped(self, data: Any) -> bytes:
        escaped = self._chance.random() < 0.5
        return json.dumps(data, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
