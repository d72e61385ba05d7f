"""The characters that a part of a parsed regular expression may begin with."""

from __future__ import annotations

import re
from typing import Any

Nodes = list[Any]
"""What the parser of `re` gives: pairs of a kind and its content."""

END = "end"
"""In a result of `first_of`: the end of the whole expression, where a match has succeeded."""

_CHARACTERS = ("LITERAL", "NOT_LITERAL", "IN", "ANY")
_CATEGORIES = {
    **{"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"},
    **{"CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_NOT_SPACE": r"\S", "CATEGORY_NOT_WORD": r"\W"},
}
_COMPARED = 256  # code points; beyond these, sets count as overlapping


def kind_of(node: Any) -> str:
    """The kind of a node, as `re` names it."""
    return str(node[0])


def first_of(nodes: Nodes) -> list[Any] | None:
    """The nodes of one character that a match of `nodes` may begin with, `END` if it may be empty; None if that is
    unknown."""
    if not nodes:
        return [END]
    node, rest = nodes[0], nodes[1:]
    kind, content = kind_of(node), node[1]
    if kind in _CHARACTERS:
        return [node]
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        low, _, inner = content
        begun = first_of([*inner, *rest])
        return begun if low else _union(begun, first_of(rest))
    if kind == "SUBPATTERN":
        return first_of([*content[3], *rest])
    if kind == "BRANCH":
        found: list[Any] | None = []
        for branch in content[1]:
            found = _union(found, first_of([*branch, *rest]))
        return found
    following = first_of(rest) if str(content) in ("AT_BOUNDARY", "AT_NON_BOUNDARY") else None
    return None if following is None or END in following else following  # an anchor may fail, even at the end


def _union(one: list[Any] | None, other: list[Any] | None) -> list[Any] | None:
    return None if one is None or other is None else one + other


def disjoint(one: list[Any] | None, other: list[Any] | None) -> bool:
    """Whether no character belongs to both of two results of `first_of`."""
    if one is None or other is None:
        return False
    return all(_apart(left, right) for left in one for right in other)


def _apart(left: Any, right: Any) -> bool:
    if END in (left, right):
        return left is not right
    members = _members(left), _members(right)
    return None not in members and not (members[0] & members[1])  # type: ignore[operator]


def _members(node: Any) -> frozenset[int] | None:
    """The code points of a node of one character in both cases; None if it contains some beyond those compared."""
    kind, content = kind_of(node), node[1]
    if kind == "ANY":
        return frozenset(range(_COMPARED)) - {ord("\n")}
    if kind in ("LITERAL", "NOT_LITERAL"):
        return _complement(_cased({content}), kind == "NOT_LITERAL")
    negated = bool(content) and kind_of(content[0]) == "NEGATE"
    found: set[int] = set()
    for item, value in content[negated:]:
        if str(item) == "LITERAL":
            found.add(value)
        elif str(item) == "RANGE":
            found.update(range(value[0], min(value[1], _COMPARED) + 1))
        else:
            found.update(c for c in range(_COMPARED) if re.match(_CATEGORIES[str(value)], chr(c)))
    return _complement(_cased(found), negated)


def _cased(members: set[int]) -> set[int]:
    """With the other case of each, as an expression may ignore it."""
    other = {ord(text[0]) for code in members for text in (chr(code).lower(), chr(code).upper())}
    return members | {code for code in other if code < _COMPARED}


def _complement(members: set[int], negated: bool) -> frozenset[int] | None:
    if negated:
        return frozenset(range(_COMPARED)) - members
    return None if any(code >= _COMPARED for code in members) else frozenset(members)
