"""Imports that must come before all others of a file, for they change what the others find."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence

from npulint.findings import Edit
from npulint.fix.model import FixRefused
from npulint.fix.python.sections import import_place, imports, put
from npulint.fix.python.statements import without
from npulint.fix.python.tree import Tree, parsed


def put_first(tree: Tree, wanted: Sequence[str]) -> tuple[Edit, ...]:
    """The edits after which some import statements, in their order, stand before all other imports but those of the
    standard library. Raises `FixRefused` where one of them runs already, but not at the top."""
    known = [ast.dump(parsed(statement).body[0]) for statement in wanted]
    leading = [one for one in tree.module.body if imports(one) and not _is_future(one)]
    told = [ast.dump(one) for one in leading]
    if _in_time(leading, told, known):
        return ()
    kept = 0
    while kept < min(len(told), len(known)) and told[kept] == known[kept]:
        kept += 1
    edits: list[Edit] = []
    for statement, text in zip(leading[kept:], told[kept:], strict=True):
        if text in known:
            edits += without(tree, statement)
    lines = "\n".join(wanted[kept:])
    if kept:
        place = tree.line_end(tree.range(leading[kept - 1])[1])
        return (*edits, tree.edit(place, place, "\n" + lines))
    if not leading:
        return (*edits, put(tree, *import_place(tree), lines, False))
    start = tree.range(leading[0])[0]
    if not tree.leads(start):
        raise FixRefused("one-line")
    return (*edits, tree.edit(start, start, lines + "\n"))


def _in_time(leading: Sequence[ast.stmt], told: Sequence[str], known: Sequence[str]) -> bool:
    """Whether all stand there in their order, behind nothing but the standard library."""
    if any(text not in told for text in known):
        return False
    places = [told.index(text) for text in known]
    before = [one for one, text in zip(leading[: places[-1]], told, strict=False) if text not in known]
    return places == sorted(places) and all(_is_standard(one) for one in before)


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
