"""The tables of the documentation, made from the models they describe.

`python -m tests.settings.tables` writes them into the pages that have a place for them.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from server import plugins
from server.conversation.reformulation import loader as reformulator_yaml
from server.core.suggestions import join_words
from server.guards import pack
from server.library import data_model, http_yaml, yaml_models
from server.providers.spec import ProviderKind, ProviderSpec, find_provider
from server.settings import adapters, models
from server.settings.documented import field_docs
from server.settings.validation import schema_lookup

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGES: Final = tuple(
    DOCS / f"{name}.md"
    for name in (
        "configuration",
        "authoring",
        "http-tools",
        "guards",
        "reformulator",
        "conversations",
    )
)
TABLE_PAGES: Final = (*PAGES, DOCS / "databases.md")
"""Those that hold tables; the YAML of the last one is tested where databases are."""
_PROVIDER_KINDS: Final[tuple[tuple[type[BaseModel], ProviderKind], ...]] = (
    (models.ModelsSettings, "chat provider"),
    (models.EmbeddingsSettings, "embedding provider"),
)
PROVIDERS: Final[Mapping[type[BaseModel], Mapping[str, ProviderSpec]]] = {
    model: {name: find_provider(kind, name) for name in plugins.TABLES[kind]}
    for model, kind in _PROVIDER_KINDS
}
"""The settings with a section for each provider, and the providers."""
MODELS: Final[Mapping[str, type[BaseModel]]] = {
    name: kind
    for module in (
        models,
        adapters,
        yaml_models,
        http_yaml,
        data_model,
        pack,
        reformulator_yaml,
    )
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, BaseModel)
} | {spec.options.__name__: spec.options for specs in PROVIDERS.values() for spec in specs.values()}
SHOWN_ELSEWHERE: Final[Mapping[type[BaseModel], type[BaseModel]]] = {
    yaml_models.TemplateYaml: http_yaml.HttpYaml,
    yaml_models.ExecutionYaml: http_yaml.HttpYaml,
    http_yaml.PrepareYaml: http_yaml.ReadingYaml,
}
"""Models whose table leaves out the keys that they share with another."""
PLACE: Final = re.compile(r"(<!-- table: (\w+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

_WORDS: Final[Mapping[Any, str]] = {
    int: "whole number",
    float: "number",
    bool: "true or false",
    str: "text",
    SecretStr: "text",
    Path: "path",
    Any: "anything",
}


def with_tables(page: str) -> str:
    """The page with each of its tables as it has to be."""
    return PLACE.sub(lambda place: f"{place[1]}{table(MODELS[place[2]])}{place[4]}", page)


def table(model: type[BaseModel]) -> str:
    shared = SHOWN_ELSEWHERE.get(model, BaseModel).model_fields
    docs = field_docs(model)
    rows = [
        f"| `{field.alias or name}` | {kind(field)}{bounds(model, name, field)} "
        f"| {default(field)} | {docs[name]} |\n"
        for name, field in model.model_fields.items()
        if name not in shared
    ]
    rows += [
        f"| `{name}` | `name: value` lines |  | Provider `{name}`. |\n"
        for name in PROVIDERS.get(model, ())
    ]
    return "| key | value | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def kind(field: FieldInfo) -> str:
    kinds = _kinds(field.annotation)
    if any(rule in field.metadata for rule in get_args(yaml_models.TextByLanguage)):
        kinds.insert(0, "text")
    return " or ".join(dict.fromkeys(kinds))


def _kinds(annotation: Any) -> list[str]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kinds(arguments[0])
    if origin is Literal:
        return [join_words(f"`{choice}`" for choice in arguments)]
    if origin in {Union, UnionType}:
        return [word for part in arguments if part is not type(None) for word in _kinds(part)]
    if origin is tuple:
        members = _kinds(arguments[0])
        return [f"{members[0]} or list"] if members[0] in {"text", "path"} else ["list"]
    if origin is dict or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return ["`name: value` lines"]
    return [_WORDS[annotation]]


def bounds(model: type[BaseModel], name: str, field: FieldInfo) -> str:
    found = schema_lookup(model, (field.alias or name,)).range
    return f" {found}" if found else ""


def default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.default
    if value is None or value == () or value is PydanticUndefined or isinstance(value, BaseModel):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`" if value != "" else ""


if __name__ == "__main__":
    for path in TABLE_PAGES:
        path.write_text(with_tables(path.read_text()))
