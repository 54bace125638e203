"""A setting that nothing reads is a promise that nothing keeps.

Every field of every settings model has to be read somewhere in the server, outside the
folder that reads the configuration. A read is an attribute access `….field` on something
that is known to be the model: a name that is annotated with it, or an expression that
ends in the name of the section (`settings.server.port`, `config.agent.tool_timeout`).
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel

from server.settings.models import Settings
from tests.settings.attribute_reads import reads
from tests.settings.tables import PROVIDERS

SERVER = Path(__file__).parents[2] / "server"
MODELS = [SERVER / "settings" / name for name in ("models.py", "adapters.py")]
READERS = [path for path in SERVER.rglob("*.py") if path not in MODELS]

Names = frozenset[str]


def fields_of(model: type[BaseModel], sections: Names) -> Iterator[tuple[str, str, Names]]:
    """Each field as (model, field, names that an object of the model goes by)."""
    names = sections | {base.__name__ for base in model.__mro__}
    for name, field in model.model_fields.items():
        yield model.__name__, name, names
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield from fields_of(kind, frozenset({name, name.removesuffix("s")}))


FIELDS = list(fields_of(Settings, frozenset({"settings"}))) + [
    field
    for providers in PROVIDERS.values()
    for spec in providers.values()
    for field in fields_of(spec.options, frozenset({"options", "limits"}))
]


def read_in_the_server() -> set[tuple[str, str]]:
    """Every read outside the models, and those that a property which is read makes itself."""
    found = {read for path in READERS for read in reads(ast.parse(path.read_text()))}
    attributes = {attribute for _, attribute in found}
    for path in MODELS:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name in attributes:
                found.update(reads(node))
    return found


READ = read_in_the_server()


@pytest.mark.parametrize(
    ("model", "field", "names"), FIELDS, ids=[f"{model}.{field}" for model, field, _ in FIELDS]
)
def test_it_is_read(model: str, field: str, names: Names) -> None:
    assert any((name, field) in READ for name in names), f"nothing reads {model}.{field}"


def test_what_is_written_or_belongs_to_something_else_does_not_count() -> None:
    tree = ast.parse(
        "def f(section: ServerSettings, other: Socket):\n"
        "    section.host = 1\n"
        "    print(section.port, other.host)\n"
    )
    assert set(reads(tree)) == {
        ("section", "port"),
        ("ServerSettings", "port"),
        ("other", "host"),
        ("Socket", "host"),
    }
