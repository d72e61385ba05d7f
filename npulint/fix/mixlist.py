"""Adds an operator to the mixed precision list of a program, or creates such a list."""

from __future__ import annotations

import ast
import json
import posixpath
from collections.abc import Callable
from itertools import accumulate

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.fix.python.tree import Tree, tree_of
from npulint.judge.findings import Edit, FixStep
from npulint.read.json_tree import JsonNode, Lines, parse_json
from npulint.read.mixlist import ACTIONS, LISTS

FILE = "ops_info.json"
"""The file name of a new list, next to the script that sets it."""

_ADD = ACTIONS[0]
_MODES = ("precision_mode", "precision_mode_v2")
_OPTION = "modify_mixlist"
_NAMED = 'os.path.join(os.path.dirname(os.path.abspath(__file__)), "{file}")'


def plan(step: FixStep, text: Text, text_of: Callable[[str], Text]) -> Plan:
    """The plan of a ``mixlist`` step in the list `text`, or in the script `text` at the setting of the precision mode,
    to which a new list is added. In a list also ``retext`` (of a name) and ``delete`` (of a comment). Raises
    `FixRefused`: ``list`` (invalid JSON or structure), ``contradicts`` (it has another entry for the operator),
    ``exists`` (the file of the new list exists), ``place`` (no suitable setting), ``not-python``, ``verb``."""
    if step.verb != "mixlist":
        return Plan((_corrected(step, text),))
    operator, name = step.words["operator"], step.words.get("list", LISTS[0])
    if name not in LISTS:
        raise FixRefused("verb")
    if text.kind == "mixlist":
        return Plan(_listed(text, operator, name))
    if text.kind != "python":
        raise FixRefused("place")
    tree = tree_of(text)
    path = posixpath.join(posixpath.dirname(text.path), FILE)
    if not text_of(path).new:
        raise FixRefused("exists")
    content = json.dumps({name: {_ADD: [operator]}}, indent=4).replace(
        f"[\n            {json.dumps(operator)}\n        ]", f"[{json.dumps(operator)}]"
    )
    made = Edit(path, Span(), content + "\n")
    return Plan((*_named(tree, step.span), made), (ImportRequest(text.path, "import os"),))


# -- an existing list


def _corrected(step: FixStep, text: Text) -> Edit:
    """The edit that replaces the name at a place, or deletes the comment there."""
    lines = text.text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    if text.kind != "mixlist" or step.span.end_line > len(lines):
        raise FixRefused("place")
    start = starts[step.span.line - 1] + step.span.column - 1
    end = starts[step.span.end_line - 1] + step.span.end_column - 1
    old = text.text[start:end]
    if step.verb == "retext" and old == json.dumps(step.words["part"]):
        return _edit(text, start, end, json.dumps(step.words["to"]))
    if step.verb == "delete" and old.startswith(("//", "/*")):
        alone = _indent("\n" + text.text, start + 1) is not None
        while start and text.text[start - 1] in " \t":
            start -= 1
        if alone and text.text[end : end + 1] == "\n":
            end += 1
        return _edit(text, start, end, "")
    raise FixRefused("place")


def _listed(text: Text, operator: str, name: str) -> tuple[Edit, ...]:
    root, faults = parse_json(text.text)
    if faults or root is None or not isinstance(root.value, dict):
        raise FixRefused("list")
    for other, action, item in _entries(root):
        if item != operator:
            continue
        if (other, action) == (name, _ADD):
            return ()
        if action == _ADD or other == name:
            raise FixRefused("contradicts")
    own = root.value.get(name)
    if own is None:
        return (_member(text, root, f'"{name}": {{"{_ADD}": [{json.dumps(operator)}]}}'),)
    added = own[1].value.get(_ADD) if isinstance(own[1].value, dict) else None
    if added is None:
        return (_member(text, own[1], f'"{_ADD}": [{json.dumps(operator)}]'),)
    return (_item(text, added[1], json.dumps(operator)),)


def _entries(root: JsonNode) -> list[tuple[str, str, object]]:
    """List, action and operator of all entries; raises `FixRefused` (``list``) for another structure."""
    entries: list[tuple[str, str, object]] = []
    lists = root.value if isinstance(root.value, dict) else {}
    for name, (_, actions) in lists.items():
        if name not in LISTS:
            continue
        if not isinstance(actions.value, dict):
            raise FixRefused("list")
        for action, (_, items) in actions.value.items():
            if action not in ACTIONS:
                continue
            if not isinstance(items.value, list):
                raise FixRefused("list")
            entries += [(name, action, item.value) for item in items.value]
    return entries


def _edit(text: Text, start: int, end: int, new: str) -> Edit:
    return Edit(text.path, Lines(text.text).span(start, end), new)


def _indent(text: str, place: int) -> str | None:
    """The indentation of a place that begins its line, else None."""
    start = text.rfind("\n", 0, place) + 1
    return text[start:place] if start and not text[start:place].strip() else None


def _member(text: Text, node: JsonNode, member: str) -> Edit:
    """Insert the first member of an object, on its own line if the others are."""
    members = node.value if isinstance(node.value, dict) else {}
    if not members:
        return _edit(text, node.start, node.end, f"{{{member}}}")
    first = min(key.start for key, _ in members.values())
    indent = _indent(text.text, first)
    return _edit(text, first, first, f"{member}, " if indent is None else f"{member},\n{indent}")


def _item(text: Text, node: JsonNode, item: str) -> Edit:
    """Append the last item of an array, on its own line if the others are."""
    items = node.value if isinstance(node.value, list) else []
    if not items:
        return _edit(text, node.start, node.end, f"[{item}]")
    last = items[-1]
    indent = _indent(text.text, last.start)
    return _edit(text, last.end, last.end, f", {item}" if indent is None else f",\n{indent}{item}")


# -- a new list


def _named(tree: Tree, span: Span) -> list[Edit]:
    """Insert the setting of the new list next to the precision mode at a place, and wherever the same key of another
    session gets the same mode."""
    node = tree.at(span)
    while not isinstance(node, ast.stmt | ast.keyword):
        node = tree.parent(node)
    value = _NAMED.format(file=FILE)
    if isinstance(node, ast.keyword):
        if node.arg not in _MODES:
            raise FixRefused("place")
        return [_argument(tree, node, f"{_OPTION}={value}")]
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        raise FixRefused("place")
    same = [
        assignment
        for _, _, assignment in tree.nodes
        if isinstance(assignment, ast.Assign) and ast.dump(assignment) == ast.dump(node)
    ]
    return [
        _statement(tree, assignment, _target(tree, assignment.targets[0]), _spelt(tree, assignment.value, value))
        for assignment in same
    ]


def _argument(tree: Tree, node: ast.keyword, argument: str) -> Edit:
    """Insert an argument after another, on its own line if that one is."""
    start, _ = tree.range(node)
    _, end = tree.outer(node.value)
    joint = f",\n{tree.indent(start)}" if tree.leads(start) else ", "
    return tree.edit(end, end, joint + argument)


def _target(tree: Tree, target: ast.expr) -> str:
    """The assignment target of the new setting: a key next to the mode's, or an attribute of the global options."""
    if isinstance(target, ast.Attribute) and target.attr in _MODES:
        return f"{tree.text(target.value)}.{_OPTION}"
    if not isinstance(target, ast.Attribute) or target.attr != "s" or not isinstance(target.value, ast.Subscript):
        raise FixRefused("place")
    key = target.value.slice
    if not isinstance(key, ast.Constant) or key.value not in _MODES:
        raise FixRefused("place")
    quote = tree.text(key)[-1]
    return f"{tree.text(target.value.value)}[{quote}{_OPTION}{quote}].s"


def _spelt(tree: Tree, old: ast.expr, value: str) -> str:
    """The value as source, as bytes if the mode is a byte string."""
    if isinstance(old, ast.Call) and isinstance(old.func, ast.Attribute):
        if old.func.attr == "as_bytes" and len(old.args) == 1:
            return f"{tree.text(old.func)}({value})"
        if old.func.attr == "encode":
            return f"{value}.encode()"
    if isinstance(old, ast.Constant) and isinstance(old.value, bytes):
        return f"{value}.encode()"
    return value


def _statement(tree: Tree, node: ast.Assign, target: str, value: str) -> Edit:
    """Insert a statement below another at the same indentation."""
    start, end = tree.range(node)
    stop = tree.line_end(end)
    behind = tree.source[end:stop].strip()
    if not tree.leads(start) or (behind and not behind.startswith("#")) or "\n" in target:
        raise FixRefused("place")
    if target.endswith(".s") and not (value.endswith(".encode()") or "as_bytes(" in value):
        value += ".encode()"
    return tree.edit(stop, stop, f"\n{tree.indent(start)}{target} = {value}")
