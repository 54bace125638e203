"""Which hosts the templates of a library call, judged before anybody asks."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from server.core.problems import Problem
from server.library.http import HttpExecution
from server.library.model import Library
from server.tools.http.cage import Cage, is_public

_PORTS = {"http": 80, "https": 443}


def _is_private(host: str) -> bool:
    try:
        return not is_public(ip_address(host))
    except ValueError:
        return host.rstrip(".") == "localhost"


def host_problems(library: Library, cage: Cage) -> list[Problem]:
    """Templates whose requests go where the adapter lets none go.

    Kinds: `host-not-allowed`, and the warning `private-host`: only addresses that are
    written out are judged here, since what a name means is known when it is called.
    """
    problems = []
    for template in library.templates.values():
        execution = template.execution
        if not isinstance(execution, HttpExecution):
            continue
        requests = [execution.request]
        if execution.prepare is not None:
            requests.append(execution.prepare.request)
        for request in requests:
            place = urlsplit(request.origin)
            host, port = place.hostname or "", place.port or _PORTS.get(place.scheme, 0)
            if not cage.admits(host, port):
                what = f"template {template.id!r} calls {place.netloc}, which is not among "
                what += f"http.allowed_hosts ({', '.join(sorted(cage.allowed_hosts))})"
                problems.append(Problem(what, template.where, "host-not-allowed"))
            elif _is_private(host) and not cage.may_be_private(host, port):
                what = (
                    f"template {template.id!r} calls {place.netloc}, which is private, so it will "
                )
                what += "be refused; list it in config.http.private_hosts to allow it"
                problems.append(Problem(what, template.where, "private-host", "warning"))
    return problems
