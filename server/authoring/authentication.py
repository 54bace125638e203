"""How a service knows its callers, as its description says it: for all operations, and for one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from server.authoring.document import ApiDocument, items, mapping
from server.authoring.naming import identifier
from server.authoring.operations import ApiOperation

Setting = dict[str, Any]
"""`authentication:` of a domain or of a template."""


@dataclass(slots=True)
class Authentication:
    """The schemes of a document. `common` is that of the domain, `notes` name what is left out."""

    document: ApiDocument
    prefix: str
    """What the names of variables begin with."""
    common: Setting = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, document: ApiDocument, prefix: str) -> "Authentication":
        found = cls(document, prefix)
        schemes = found._schemes()
        stated = document.data.get("security")
        wanted = [name for entry in items(stated) for name in mapping(entry)]
        for name in [*wanted, *schemes]:
            setting = found._setting(name, prefix)
            if setting is not None:
                found.common = setting
                if found._fetches(name):
                    token = f"{prefix}_API_TOKEN"
                    found.notes.append(f"put an access token into {token}; none is fetched")
                return found
        if schemes:
            named = ", ".join(map(str, schemes))
            found.notes.append(f"authentication {named} is left out: it is not supported")
        return found

    def own(self, operation: ApiOperation) -> Setting | None:
        """What a template has to say, where its operation differs; None where it does not."""
        if operation.security is None:
            return None
        choices = [mapping(entry) for entry in items(operation.security)]
        if not choices or not all(choices):
            return {"type": "none"} if self.common else None
        alone = [next(iter(choice)) for choice in choices if len(choice) == 1]
        for name in alone:
            setting = self._setting(name, self.prefix)
            if setting == self.common:
                return None
        for name in alone:
            setting = self._setting(name, f"{self.prefix}_{identifier(name).upper()}")
            if setting is not None:
                return setting
        named = " with ".join(str(name) for name in choices[0])
        where = f"{operation.method} {operation.path}"
        self.notes.append(f"{where} is called as all others are: {named} is not supported")
        return None

    def _schemes(self) -> Mapping[str, Any]:
        data = self.document.data
        named = mapping(mapping(data.get("components")).get("securitySchemes"))
        return named or mapping(data.get("securityDefinitions"))

    def _fetches(self, name: str) -> bool:
        kind = self.document.resolve(self._schemes().get(name)).get("type")
        return kind in ("oauth2", "openIdConnect")

    def _setting(self, name: str, prefix: str) -> Setting | None:
        scheme = self.document.resolve(self._schemes().get(name))
        kind, place = scheme.get("type"), scheme.get("in")
        http = str(scheme.get("scheme", "")).lower()
        if kind == "apiKey" and place in ("header", "query"):
            key = f"${{{prefix}_API_KEY:-}}"
            return {"type": "api_key", "name": scheme.get("name"), "in": place, "key": key}
        if kind == "basic" or (kind == "http" and http == "basic"):
            user, password = f"${{{prefix}_API_USER:-}}", f"${{{prefix}_API_PASSWORD:-}}"
            return {"type": "basic", "username": user, "password": password}
        if kind in ("oauth2", "openIdConnect") or (kind == "http" and http == "bearer"):
            return {"type": "bearer", "token": f"${{{prefix}_API_TOKEN:-}}"}
        return None
