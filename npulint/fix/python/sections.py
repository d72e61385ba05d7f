"""The head of a file: docstring, ``from __future__``, imports."""

from __future__ import annotations

import ast

from npulint.fix.python.tree import Tree
from npulint.judge.findings import Edit

_BLOCKS = (ast.If, ast.With, ast.Try, *((ast.TryStar,) if hasattr(ast, "TryStar") else ()))


def leading_import(tree: Tree) -> ast.stmt | None:
    """The last import at the head of a file. Blocks with imports, assignments to the environment and dunder names, and
    plain calls may be between them."""
    last: ast.stmt | None = None
    for number, statement in enumerate(tree.module.body):
        if isinstance(statement, ast.Import | ast.ImportFrom) or (
            isinstance(statement, _BLOCKS) and imports(statement)
        ):
            last = statement
        elif not _between(statement, number):
            break
    return last


def imports(statement: ast.stmt, package: str = "") -> bool:
    """Whether a module-level statement imports `package` (empty: any), blocks included; ``if __name__ == "__main__"``
    does not count."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import) and any(_of(alias.name, package) for alias in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and (not package or (not node.level and _of(node.module or "", package))):
            return True
        if isinstance(node, ast.If) and is_main(node):
            continue
        if isinstance(node, (*_BLOCKS, ast.ExceptHandler)):
            waiting += [
                iter_child_node
                for iter_child_node in ast.iter_child_nodes(node)
                if isinstance(iter_child_node, ast.stmt | ast.ExceptHandler)
            ]
    return False


def is_main(node: ast.If) -> bool:
    """Whether a block is ``if __name__ == "__main__"``."""
    return isinstance(node.test, ast.Compare) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in (node.test.left, *node.test.comparators)
    )


def import_place(tree: Tree, package: str = "", own: str = "") -> tuple[int, bool]:
    """The offset for a new import (the end of a line, or 0), and whether another import precedes it: after the first
    import of `package`, or after ``import package`` itself if only imports precede it, and after those of `own` below
    it."""
    statement = None
    if package:
        statement = next((node for node in tree.module.body if imports(node, package)), None)
        statement = _plain(tree, statement, package) or statement
    if own:
        others = (
            node for node in tree.module.body if isinstance(node, ast.Import | ast.ImportFrom) and imports(node, own)
        )
        first = next(others, None)
        if first is not None and (statement is None or first.lineno > statement.lineno):
            statement = first
    future = [node for node in tree.module.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    statement = statement or leading_import(tree) or (future[-1] if future else None)
    if statement is not None:
        return tree.line_end(_line_of_statements(tree, statement)), True
    return _behind_head(tree), False


def _plain(tree: Tree, first: ast.stmt | None, package: str) -> ast.stmt | None:
    """The plain import of a package, if only imports are between `first` and it."""
    body = tree.module.body
    for statement in body[body.index(first) :] if first is not None else ():
        if not isinstance(statement, ast.Import | ast.ImportFrom):
            return None
        if isinstance(statement, ast.Import) and any(
            (name.name, name.asname) == (package, None) for name in statement.names
        ):
            return statement
    return None


def _line_of_statements(tree: Tree, statement: ast.stmt) -> int:
    """The end of the last statement in the last line of one."""
    end = tree.range(statement)[1]
    for other in tree.module.body:
        start, stop = tree.range(other)
        if start >= end and tree.line_of(start) == tree.line_of(end):
            end = stop
    return end


def _behind_head(tree: Tree) -> int:
    """The end of the line of the docstring, or of the leading comments that do not belong to the first statement."""
    body = tree.module.body
    if body and is_docstring(body[0]):
        return tree.line_end(_line_of_statements(tree, body[0]))
    first = tree.line_of(_start(tree, body[0])) - 1 if body else len(tree.lines)
    line = 0
    head = 0
    while line < first and (tree.lines[line].lstrip().startswith("#") or not tree.lines[line].strip()):
        if tree.lines[line].strip():
            head = line + 1
        elif head and any(tree.lines[line:first]):
            break
        line += 1
    return tree.starts[head - 1] + len(tree.lines[head - 1]) if head else 0


def _start(tree: Tree, statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min(tree.range(node)[0] for node in (statement, *decorators))


def is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def put(tree: Tree, place: int, behind_import: bool, lines: str, spaced: bool) -> Edit:
    """The edit that inserts lines at an `import_place`, followed by a blank line before code unless after another
    import; `spaced`: also preceded by one."""
    following = tree.line_of(place) if place else 0
    code = following < len(tree.lines) and bool(tree.lines[following].strip())
    gap = "\n" if code and (spaced or not behind_import) else ""
    if not place:
        return tree.edit(0, 0, f"{lines}\n{gap}")
    spaced = spaced or not behind_import
    if following >= len(tree.lines):
        return tree.edit(place, place, ("\n\n" if spaced else "\n") + lines)
    if spaced:
        start = tree.starts[following]
        return tree.edit(start, start, f"\n{lines}\n{gap}")
    return tree.edit(place, place, f"\n{lines}")


def behind_imports(tree: Tree, text: str) -> Edit:
    """The edit that inserts statements after the imports at the head of a file."""
    place, behind = import_place(tree)
    only_imports = all(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.parse(text).body)
    return put(tree, place, behind, text, not only_imports)


def _of(module: str, package: str) -> bool:
    return not package or module == package or module.startswith(f"{package}.")


def _between(statement: ast.stmt, number: int) -> bool:
    """Whether a statement may be between the imports at the head of a file."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) or is_docstring(statement)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if isinstance(target, ast.Subscript):
        holder = target.value
        return (isinstance(holder, ast.Attribute) and holder.attr == "environ") or (
            isinstance(holder, ast.Name) and holder.id == "environ"
        )
    return isinstance(target, ast.Name) and target.id.startswith("__")
