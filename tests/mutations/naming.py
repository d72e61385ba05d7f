"""Names of a project that may be changed without changing what it does."""

from __future__ import annotations

import ast
import keyword
import tokenize
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import PurePosixPath

from tests.mutations.table import Files

Names = dict[str, str]
"""New names by old ones."""


def in_tokens(text: str, names: Names) -> str:
    """A source with other names wherever a name stands in its code."""
    if not names:
        return text
    lines = text.split("\n")
    found = [t for t in tokenize.generate_tokens(StringIO(text).readline) if t.type == tokenize.NAME]
    for token in reversed(found):
        if token.string in names:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + names[token.string] + line[column + len(token.string) :]
    return "\n".join(lines)


def definitions(files: Files) -> Names:
    """Functions and classes at the top of a module whose names mean nothing else anywhere in the project."""
    trees = [ast.parse(text) for path, text in files.items() if path.endswith(".py")]
    defined = Counter(
        node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    )
    taken = {name for tree in trees for name in (*_attributes(tree), *_keywords(tree), *_in_strings(tree))}
    taken |= {name for tree in trees for name in (*_parameters(tree), *_stored(tree))}
    taken |= {PurePosixPath(path).stem for path in files}
    return {
        name: f"{name}V2" if name[0].isupper() else f"do_{name}"
        for name, count in defined.items()
        if count == 1 and name not in taken and name != "main"
    }


def locals_of(path: str, files: Files) -> Names:
    """Parameters and variables of functions of a file whose names mean nothing else in it and are no keywords of any
    call of the project."""
    if not path.endswith(".py"):
        return {}
    tree = ast.parse(files[path])
    inner = {name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for name in _bound(node)}
    trees = [ast.parse(text) for name, text in files.items() if name.endswith(".py")]
    taken = {name for one in trees for name in _keywords(one)}
    taken |= {*_attributes(tree), *_in_strings(tree), *_outer(tree), *_imported(tree), *_globals(tree), "self", "cls"}
    return {name: f"{name}_x" for name in sorted(inner - taken) if not keyword.iskeyword(name)}


def _bound(function: ast.FunctionDef) -> Iterator[str]:
    yield from _parameters(function)
    yield from _stored(function)


def _parameters(tree: ast.AST) -> Iterator[str]:
    yield from (node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))


def _stored(tree: ast.AST) -> Iterator[str]:
    yield from (n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def _attributes(tree: ast.AST) -> Iterator[str]:
    yield from (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))


def _keywords(tree: ast.AST) -> Iterator[str]:
    yield from (node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg)


def _in_strings(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield from (name.id for name in ast.walk(node) if isinstance(name, ast.Name))


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
            yield from (alias.name for alias in node.names)
            yield from (getattr(node, "module", "") or "").split(".")


def _globals(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names


def _outer(tree: ast.Module) -> Iterator[str]:
    """Names bound outside functions: of the module and of classes."""
    waiting: list[ast.stmt] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
            waiting += node.body if isinstance(node, ast.ClassDef) else []
        else:
            yield from _stored(node)
