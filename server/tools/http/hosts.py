"""Which hosts the templates of a library call, judged before anybody asks."""

from urllib.parse import urlsplit

from server.core.problems import Problem
from server.library.http import HttpExecution
from server.library.model import Library
from server.tools.http.cage import Cage

_PORTS = {"http": 80, "https": 443}


def host_problems(library: Library, cage: Cage) -> list[Problem]:
    """Templates whose requests go to a host that the adapter does not list.

    Kind: `host-not-allowed`.
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
    return problems
