"""An API description as it is published: OpenAPI 3 or Swagger 2, JSON or YAML."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urljoin

import yaml

from server.errors import ConfigurationInvalid, Location, Problem

MAX_BYTES: Final = 32 * 1024 * 1024
METHODS: Final = ("get", "post", "put", "patch", "delete")

_MAX_REFS: Final = 16


_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):  # type: ignore[misc]
    """Reads YAML as JSON would: `on` and `no` are words, and a date is text."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {
        first: [
            (tag, pattern)
            for tag, pattern in resolvers
            if tag not in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp")
        ]
        for first, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)


@dataclass(frozen=True, slots=True)
class ApiDocument:
    """The description as plain data. `source` is the file or address it came from."""

    data: Mapping[str, Any]
    source: str

    @property
    def is_swagger_2(self) -> bool:
        return "swagger" in self.data

    @property
    def title(self) -> str:
        return str(mapping(self.data.get("info")).get("title") or "").strip() or "API"

    @property
    def description(self) -> str:
        return str(mapping(self.data.get("info")).get("description") or "")

    @property
    def base_url(self) -> str:
        """The address of the service, or nothing when the document does not tell."""
        url = self._swagger_2_url() if self.is_swagger_2 else self._server_url()
        if self.source.startswith(("http://", "https://")):
            # Where none is named, it is the server that the document comes from, from its root on.
            url = urljoin(self.source, url or "/")
        return url.rstrip("/") if url.startswith(("http://", "https://")) else ""

    def resolve(self, node: Any) -> Mapping[str, Any]:
        """Return the mapping that a node is, or that its `$ref` leads to; empty if to nowhere."""
        for _ in range(_MAX_REFS):
            found = mapping(node)
            reference = found.get("$ref")
            if not isinstance(reference, str):
                return found
            node = self._follow(reference)
        return {}

    def operations(self) -> Iterator[tuple[str, str, Mapping[str, Any], Sequence[Any]]]:
        """Yield method, path, operation, and the parameters that its path shares."""
        for path, item in mapping(self.data.get("paths")).items():
            item = self.resolve(item)
            for method in METHODS:
                operation = item.get(method)
                if isinstance(operation, Mapping):
                    yield method.upper(), str(path), operation, items(item.get("parameters"))

    def _follow(self, reference: str) -> Any:
        if not reference.startswith("#/"):
            return None
        node: Any = self.data
        for step in reference[2:].split("/"):
            key = unquote(step).replace("~1", "/").replace("~0", "~")
            node = mapping(node).get(key)
        return node

    def _server_url(self) -> str:
        servers = items(self.data.get("servers"))
        if not servers:
            return ""
        server = mapping(servers[0])
        variables = mapping(server.get("variables"))
        return re.sub(
            r"\{([^}]+)\}",
            lambda found: str(mapping(variables.get(found[1])).get("default", "")),
            str(server.get("url", "")),
        )

    def _swagger_2_url(self) -> str:
        host = self.data.get("host")
        if not host:
            return str(self.data.get("basePath", ""))
        schemes = items(self.data.get("schemes")) or ["https"]
        scheme = "https" if "https" in schemes else str(schemes[0])
        return f"{scheme}://{host}{self.data.get('basePath', '')}"


def read_document(raw: bytes, source: str) -> ApiDocument:
    """Parse an API description. May raise ConfigurationInvalid."""
    if len(raw) > MAX_BYTES:
        raise _invalid(f"is larger than {MAX_BYTES // 2**20} MiB", source)
    try:
        data = yaml.load(raw, Loader=_Loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as broken:
        reason = " ".join(str(broken).split())[:200]
        raise _invalid(f"is neither JSON nor YAML: {reason}", source) from None
    if not isinstance(data, dict) or not ({"openapi", "swagger"} & data.keys()):
        raise _invalid("is not an OpenAPI document: it has no 'openapi' or 'swagger'", source)
    version = str(data.get("openapi", data.get("swagger")))
    if not version.startswith(("3.", "2.")):
        raise _invalid(f"is of version {version}; OpenAPI 3 and Swagger 2 can be read", source)
    if not mapping(data.get("paths")):
        raise _invalid("describes no paths", source)
    return ApiDocument(data, source)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty one: documents are often wrong."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _invalid(what: str, source: str) -> ConfigurationInvalid:
    return ConfigurationInvalid([Problem(what, Location(source), "bad-openapi")])
