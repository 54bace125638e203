"""Models whose fields are explained by the text below each, for schemas and tables of docs.

Pydantic would read those texts when a class is made, for which it looks for the source of each:
a tenth of a second for a command that shows none of them. Here they are read when asked for.
"""

import ast
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from pydantic import BaseModel, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class Documented(BaseModel):
    """A model that puts the texts below its fields into its JSON Schema."""

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for name, text in field_docs(cls).items():
            for key in {name, cls.model_fields[name].alias} & properties.keys():
                properties[key].setdefault("description", text)
        return schema


def field_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return what stands below each field of a model, or of one that it is made from."""
    docs: dict[str, str] = {}
    for cls in reversed(model.__mro__):
        docs |= _docs_in(cls.__module__).get(cls.__qualname__, {})
    return {name: text for name, text in docs.items() if name in model.model_fields}


@cache
def _docs_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """The texts below the fields of each class at the top of a module, by class and field."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}  # built in, or installed without its source
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    return {one.name: dict(_texts_below(one.body)) for one in classes}


def _texts_below(body: Sequence[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(body):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, inspect.cleandoc(text)
