"""Which hosts templates may call is said before anybody asks."""

import pytest

from server.library.model import Domain, Library, Template
from server.tools.http.egress import EgressPolicy, host_problems
from tests.tools.http.calls import execution


def said(origin: str, egress: EgressPolicy) -> list[str]:
    call = execution("GET", "/x", base_url=origin)
    library = Library(Domain("d"), {"t": Template("t", "", "query", ("x",), (), call)})
    return [f"{problem.severity} {problem.kind}" for problem in host_problems(library, egress)]


ONE = EgressPolicy(allowed_hosts=frozenset({"api.example.org", "127.0.0.1:8900"}))


@pytest.mark.parametrize(
    ("origin", "egress", "expected"),
    [
        ("https://api.example.org", EgressPolicy(), []),
        ("https://api.example.org", ONE, []),
        ("https://API.example.org:8443", ONE, []),
        ("https://other.example.org", ONE, ["error host-not-allowed"]),
        ("http://127.0.0.1:8901", ONE, ["error host-not-allowed"]),
        ("http://127.0.0.1:8900", ONE, ["warning private-host"]),
        ("http://localhost", EgressPolicy(), ["warning private-host"]),
        ("http://[::1]:9", EgressPolicy(), ["warning private-host"]),
        ("http://10.0.0.5", EgressPolicy(private_hosts=frozenset({"10.0.0.5"})), []),
        ("http://10.0.0.5:81", EgressPolicy(private_hosts=frozenset({"10.0.0.5:80"})),
         ["warning private-host"]),
    ],
)  # fmt: skip
def test_what_is_said_of_a_host(origin: str, egress: EgressPolicy, expected: list[str]) -> None:
    assert said(origin, egress) == expected
