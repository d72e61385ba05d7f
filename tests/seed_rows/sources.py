"""A program as text that is rewritten by its syntax tree: comments and marks stay where they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from textwrap import dedent, indent
from typing import NamedTuple

Files = dict[str, str]
"""Texts by path."""
ENTRY = "train.py"
SLOT = "SLOT_OF_THE_VALUE"
_VALUE = re.compile("«(.*?)»")


class DoesNotApplyError(Exception):
    """A style has no meaning for a program; the text is the reason."""


class Parts(NamedTuple):
    """The statements of a module in three groups, each as text."""

    imports: str
    definitions: str
    body: str


def value_of(text: str) -> str:
    """The marked value of a program. Raises `DoesNotApplyError` where there is none."""
    found = _VALUE.findall(text)
    if not found:
        raise DoesNotApplyError("no value is marked")
    assert len(set(found)) == 1, "one value is marked"
    return str(found[0])


def unmarked(text: str, value: str = "") -> str:
    """The program without the marks of its value, or with another text in its place."""
    return _VALUE.sub(lambda found: value or found[1], text)


def parts(text: str) -> Parts:
    """The statements of a module: imports; definitions and constants; what runs."""
    lines = text.split("\n")
    groups: dict[str, list[str]] = {"imports": [], "definitions": [], "body": []}
    begin = 0
    for node in ast.parse(text).body:
        assert node.end_lineno is not None
        groups[_group(node)].append("\n".join(lines[begin : node.end_lineno]).strip("\n"))
        begin = node.end_lineno
    return Parts("\n".join(groups["imports"]), "\n\n\n".join(groups["definitions"]), "\n".join(groups["body"]))


def _group(node: ast.stmt) -> str:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return "imports"
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return "definitions"
    targets = node.targets if isinstance(node, ast.Assign) else []
    constant = bool(targets) and all(isinstance(one, ast.Name) and one.id.isupper() for one in targets)
    return "definitions" if constant else "body"


def module(*texts: str) -> str:
    """A module of several texts."""
    return "\n\n\n".join(text.strip("\n") for text in texts if text.strip()) + "\n"


def function(head: str, body: str) -> str:
    """A definition with a body."""
    return f"{head}\n{indent(dedent(body).strip(), '    ') or '    pass'}"


def statements(text: str) -> list[str]:
    """The top-level statements of a text, each with the comments before it."""
    lines, begin, found = text.split("\n"), 0, []
    for node in ast.parse(text).body:
        assert node.end_lineno is not None
        found.append("\n".join(lines[begin : node.end_lineno]))
        begin = node.end_lineno
    return found


def replaced(text: str, edits: Iterable[tuple[ast.expr | ast.keyword | ast.stmt, str]]) -> str:
    """The text with other texts in the places of some nodes."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    places = []
    for node, new in edits:
        assert node.end_lineno is not None and node.end_col_offset is not None
        places.append(
            (starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset, new)
        )
    for begin, end, new in sorted(set(places), reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with other texts in the places of some names."""
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name) and node.id in names]
    return replaced(text, [(node, names[node.id]) for node in found])


def assigned(text: str) -> list[str]:
    """The names that the statements of a text bind, other than in comprehensions and inner functions."""
    inner: set[str] = set()
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.comprehension):
            inner |= {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
        if isinstance(node, ast.Lambda):
            inner |= {one.arg for one in node.args.args}
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
    return [name for name in found if name not in inner]


def read(text: str, among: Collection[str]) -> list[str]:
    """Those names of `among` that a text reads."""
    names = (node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))
    return list(dict.fromkeys(name for name in names if name in among))


def defined(text: str) -> list[str]:
    """The names of the functions and classes that a text defines."""
    return [node.name for node in ast.parse(text).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
