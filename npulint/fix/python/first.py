"""Inserts imports that must run before all others, because they affect them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

from npulint.fix.model import FixRefused
from npulint.fix.python.sections import import_place, imports, put
from npulint.fix.python.statements import without
from npulint.fix.python.tree import Tree, parsed
from npulint.judge.findings import Edit


def put_first(tree: Tree, statements: Sequence[str]) -> tuple[Edit, ...]:
    """The edits that place import statements, in order, before all but standard library imports. Raises `FixRefused`
    where one of them exists elsewhere."""
    wanted = [ast.dump(parsed(statement).body[0]) for statement in statements]
    leading = [node for node in tree.module.body if imports(node) and not _is_future(node)]
    existing = [ast.dump(node) for node in leading]
    if _in_time(leading, existing, wanted):
        return ()
    kept = 0
    while kept < min(len(existing), len(wanted)) and existing[kept] == wanted[kept]:
        kept += 1
    edits: list[Edit] = []
    for statement, text in zip(leading[kept:], existing[kept:], strict=True):
        if text in wanted:
            edits += without(tree, statement)
    lines = "\n".join(statements[kept:])
    if kept:
        place = tree.line_end(tree.range(leading[kept - 1])[1])
        return (*edits, tree.edit(place, place, "\n" + lines))
    if not leading:
        return (*edits, put(tree, *import_place(tree), lines, False))
    start = tree.range(leading[0])[0]
    if not tree.leads(start):
        raise FixRefused("one-line")
    return (*edits, tree.edit(start, start, lines + "\n"))


def _in_time(leading: Sequence[ast.stmt], existing: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether all of them are there in order, after standard library imports only."""
    if any(text not in existing for text in wanted):
        return False
    places = [existing.index(text) for text in wanted]
    before = [node for node, text in zip(leading[: places[-1]], existing, strict=False) if text not in wanted]
    return places == sorted(places) and all(_is_standard(node) for node in before)


def _is_standard(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import):
        roots = [alias.name.partition(".")[0] for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom) and not statement.level:
        roots = [(statement.module or "").partition(".")[0]]
    else:
        return False
    return all(root in sys.stdlib_module_names for root in roots)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
