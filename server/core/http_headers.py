"""What a client's headers say of the form in which it takes an answer, and of what it has."""

from collections.abc import Mapping


def takes_gzip(headers: Mapping[str, str]) -> bool:
    """Whether Accept-Encoding names gzip, and not with a weight of nothing."""
    for part in headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = "".join(part.split()).partition(";q=")
        if name == "gzip":
            return weight.strip("0.") != "" or not weight
    return False


def has_already(headers: Mapping[str, str], etag: str) -> bool:
    """Whether If-None-Match names what `etag`, with its quotes, stands for."""
    known = headers.get("if-none-match", "").split(",")
    return any(each.strip().removeprefix("W/") in (etag, "*") for each in known)
