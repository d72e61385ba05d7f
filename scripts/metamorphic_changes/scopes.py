"""Which scope a name of a module belongs to, and whether other modules may use it."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator
from pathlib import PurePosixPath

from scripts.metamorphic_changes.source import Program, Source

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
Scope = ast.Module | ast.FunctionDef
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BY_TEXT = frozenset(("locals", "globals", "exec", "eval"))
_BY_TEXT_ALONE = frozenset(("vars", "dir"))
"""Those that find the names around them if they are called without an argument."""
_FRAMES = frozenset("inspect traceback _getframe currentframe settrace setprofile __class__".split())


def scope_of(source: Source, node: ast.AST) -> ast.AST:
    """The innermost function, lambda, class, comprehension or module whose names a node sees first."""
    child = node
    for parent in source.ancestors(node):
        if isinstance(parent, (*_COMPREHENSIONS, ast.Module)):
            return parent
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and child in parent.body:
            return parent
        if isinstance(parent, ast.Lambda) and child is parent.body:
            return parent
        child = parent
    return source.tree


def finds_names_by_text(source: Source) -> bool:
    """Whether a module may read its names in another way than by writing them."""
    for node in source.nodes:
        if isinstance(node, ast.Name) and node.id in _BY_TEXT:
            return True
        if isinstance(node, ast.Name) and node.id in _BY_TEXT_ALONE:
            parent = source.parents[node]
            if not (isinstance(parent, ast.Call) and parent.func is node and parent.args):
                return True
    return False


def reads_frames(source: Source) -> bool:
    """Whether a module may depend on which function calls which."""
    return bool(source.words & _FRAMES)


def is_plain(source: Source, node: ast.AST) -> bool:
    """Whether no function around a node is decorated or asynchronous, and no class is decorated: decorators may compile
    the text of what they decorate."""
    return not any(
        isinstance(parent, ast.AsyncFunctionDef)
        or (isinstance(parent, ast.FunctionDef | ast.ClassDef) and parent.decorator_list)
        for parent in (node, *source.ancestors(node))
    )


def names_of(source: Source, name: str, within: ast.AST | None = None) -> list[ast.Name]:
    """The nodes of a name in a module, or below a node of it."""
    nodes = source.nodes if within is None else ast.walk(within)
    return [node for node in nodes if isinstance(node, ast.Name) and node.id == name]


def other_bindings(root: ast.AST) -> Iterator[str]:
    """The names below a node that are bound, or declared, otherwise than by an assignment."""
    for node in ast.walk(root):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest
        elif isinstance(node, ast.NamedExpr):
            yield node.target.id


def names_in_formats(source: Source) -> set[str]:
    """The names in f-strings, whose positions Python 3.11 does not know, and which ``{name=}`` prints."""
    strings = (node for node in source.nodes if isinstance(node, ast.JoinedStr))
    return {node.id for string in strings for node in ast.walk(string) if isinstance(node, ast.Name)}


def text_constants(source: Source) -> set[str]:
    """All strings of a module."""
    return {node.value for node in source.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def module_names(path: str) -> tuple[str, ...]:
    """The dotted names by which a file may be imported, the shortest first: ``c``, ``b.c`` and ``a.b.c``."""
    pure = PurePosixPath(path)
    parts = pure.parent.parts if pure.name == "__init__.py" else (*pure.parent.parts, pure.stem)
    return tuple(".".join(parts[start:]) for start in range(len(parts) - 1, -1, -1))


def importers(program: Program, source: Source) -> list[Source]:
    """The other modules with a statement that may import this one, or one that has the same last name."""
    last = (module_names(source.path) or ("",))[0]
    return [other for other in program.sources.values() if other is not source and _may_import(other, last)]


def _may_import(source: Source, last: str) -> bool:
    for node in source.nodes:
        if isinstance(node, ast.Import) and any(alias.name.rpartition(".")[2] == last for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom):
            modules = {(node.module or "").rpartition(".")[2], *(alias.name for alias in node.names)}
            if last in modules or not node.module:
                return True
    return False


def is_used_elsewhere(program: Program, source: Source, name: str) -> bool:
    """Whether another file may read a name of a module: by an import, as an attribute, or by its text."""
    if "__all__" in source.words or name in program.other_words:
        return True
    if "import_module" in program.words or "__import__" in program.words:
        others = [other for other in program.sources.values() if other is not source]
    else:
        others = importers(program, source)
    stars = any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for o in others for node in o.nodes)
    return bool(others) and (stars or any(name in other.words for other in others))


def global_names(text: str) -> set[str]:
    """The names that the text of a definition reads from its module, builtins left out. Raises `SyntaxError`."""
    table = symtable.symtable(text, "definition", "exec")
    defined = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_namespace()}
    read = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    tables = list(table.get_children())
    while tables:
        inner = tables.pop()
        tables += inner.get_children()
        read |= {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global()}
    return {name for name in read - defined if not hasattr(builtins, name)}


def declared_global(program: Program) -> set[str]:
    """The names that a function of any module may assign outside of itself."""
    declarations = (
        node
        for source in program.sources.values()
        for node in source.nodes
        if isinstance(node, ast.Global | ast.Nonlocal)
    )
    return {name for node in declarations for name in node.names}


def assigned_attributes(program: Program) -> set[str]:
    """The names of the attributes that any module assigns or deletes."""
    return {
        node.attr
        for source in program.sources.values()
        for node in source.nodes
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)
    }


def top_line(source: Source) -> int:
    """The first line at which an import may be put: after the docstring and imports from ``__future__``."""
    line = 1
    for number, node in enumerate(source.tree.body):
        docstring = number == 0 and is_docstring(node)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (docstring or future):
            break
        assert node.end_lineno is not None
        line = node.end_lineno + 1
    return line if line > 1 else _after_comments(source)


def _after_comments(source: Source) -> int:
    line = 1
    while line < len(source.lines) and source.lines[line - 1].startswith(b"#"):
        line += 1
    return line


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a string."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
