"""What `type`, `datasource`, `adapter` and `implementation` of an adapter stand for.

An adapter type is a class that is called with `DeciderDependencies` and is a `Decider`. It may
have `template_kinds`, and a short name in `server.plugins.TABLES["retriever"]`. That of adapters
with others behind them has no library to be called with: see `server.adapters.composite`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

from server import plugins
from server.core.ports import Decider
from server.errors import PluginInvalid, Problem
from server.library.model import Library, TemplateKind
from server.retrievers.base import DeciderDependencies
from server.settings.models import AdapterSettings


@dataclass(frozen=True, slots=True)
class AdapterType:
    """The class that an adapter's settings name; `label` is how readiness shows them."""

    name: str
    label: str
    decider: Callable[[DeciderDependencies], Decider]
    template_kinds: frozenset[TemplateKind] | None
    """The templates that it answers; None for those of every kind."""
    datasource: str = ""
    """The kind of database that a path is, where it does not tell that itself."""

    @classmethod
    def of(cls, adapter: AdapterSettings) -> Self:
        """Return the type of an adapter; raise PluginInvalid if its implementation is none."""
        found = plugins.resolve("retriever", adapter.implementation)
        return cls(
            getattr(found, "__name__", adapter.implementation),
            f"{adapter.type}/{adapter.datasource}/{adapter.adapter}",
            found,
            getattr(found, "template_kinds", None),
            getattr(found, "datasource", ""),
        )

    def build(self, parts: DeciderDependencies) -> Decider:
        """Return what decides for an adapter; raise PluginInvalid if the class cannot."""
        decider = self.decider(parts)
        if not isinstance(decider, Decider):
            raise PluginInvalid(f"{self.name!r} is not a retriever: it needs `decide` and `close`")
        return decider

    def template_problems(self, library: Library) -> Iterator[Problem]:
        kinds = self.template_kinds
        for template in library.templates.values():
            if kinds is not None and template.kind not in kinds:
                what = (
                    f"{template.id!r} is a {template.kind} template, which {self.name} does not "
                    f"answer; it answers {' and '.join(sorted(kinds))} templates"
                )
                yield Problem(what, template.where, "foreign-template", template=template.id)
