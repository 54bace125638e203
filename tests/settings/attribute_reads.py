"""Which attributes of which objects a piece of source code reads."""

import ast
from collections.abc import Iterator


def reads(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(name or annotation of the object, attribute) of every attribute that is read."""
    annotated = dict(annotations(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            owner = last_name(node.value)
            yield owner, node.attr
            yield from ((annotation, node.attr) for annotation in annotated.get(owner, ()))


def annotations(tree: ast.AST) -> dict[str, set[str]]:
    """The types that each name, or attribute of self, is annotated with or made from."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            found.setdefault(node.arg, set()).update(words(node.annotation))
        elif isinstance(node, ast.AnnAssign):
            found.setdefault(last_name(node.target), set()).update(words(node.annotation))
    for node in ast.walk(tree):  # self._settings = settings
        if isinstance(node, ast.Assign):
            for target, value in pairs(node):
                found.setdefault(last_name(target), set()).update(found.get(last_name(value), ()))
    return found


def pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def words(annotation: ast.expr) -> set[str]:
    """Names of types in an annotation, quoted ones too."""
    text = annotation.value if isinstance(annotation, ast.Constant) else None
    tree = ast.parse(text, mode="eval") if isinstance(text, str) else annotation
    return {
        last_name(node) for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute)
    }


def last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
