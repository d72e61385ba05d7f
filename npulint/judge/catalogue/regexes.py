"""Restricts the regular expressions of checks to those that match in little time whatever the text is.

The matcher of Python backtracks: where a text can be divided among repetitions and alternatives in many ways, it tries
them all before it gives up. So the ways are counted in the parsed expression."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import Any

import msgspec

# The characters that a part of a parsed regular expression may begin with.

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
        firsts: list[Any] | None = []
        for branch in content[1]:
            firsts = _union(firsts, first_of([*branch, *rest]))
        return firsts
    following = first_of(rest) if str(content) in ("AT_BOUNDARY", "AT_NON_BOUNDARY") else None
    return None if following is None or END in following else following  # an anchor may fail, even at the end


def _union(firsts: list[Any] | None, other: list[Any] | None) -> list[Any] | None:
    return None if firsts is None or other is None else firsts + other


def disjoint(firsts: list[Any] | None, other: list[Any] | None) -> bool:
    """Whether no character belongs to both of two results of `first_of`."""
    if firsts is None or other is None:
        return False
    return all(_apart(left, right) for left in firsts for right in other)


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
    code_points: set[int] = set()
    for item, value in content[negated:]:
        if str(item) == "LITERAL":
            code_points.add(value)
        elif str(item) == "RANGE":
            code_points.update(range(value[0], min(value[1], _COMPARED) + 1))
        else:
            code_points.update(c for c in range(_COMPARED) if re.match(_CATEGORIES[str(value)], chr(c)))
    return _complement(_cased(code_points), negated)


def _cased(members: set[int]) -> set[int]:
    """With the other case of each, as an expression may ignore it."""
    other = {ord(text[0]) for code in members for text in (chr(code).lower(), chr(code).upper())}
    return members | {code for code in other if code < _COMPARED}


def _complement(members: set[int], negated: bool) -> frozenset[int] | None:
    if negated:
        return frozenset(range(_COMPARED)) - members
    return None if any(code >= _COMPARED for code in members) else frozenset(members)


_LONGEST = 300
_TEXT = 4096  # characters of the longest text that is searched
_MOST_STEPS = 16 * _TEXT**2  # about a second
_REFUSED = {
    "ASSERT": "look-around is not allowed",
    "ASSERT_NOT": "look-around is not allowed",
    "GROUPREF": "backreferences are not allowed",
    "GROUPREF_EXISTS": "conditional groups are not allowed",
    "ATOMIC_GROUP": "atomic groups are not allowed",
    "POSSESSIVE_REPEAT": "possessive repetition is not allowed",
}
_FLAGS = "flags other than (?i) are not allowed"
_parser: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")  # private to `re`


class _Refused(Exception):
    """An expression is refused; the text says why."""


class _Cost(msgspec.Struct, frozen=True):
    """The ways to match one text from one start: `ways`, times the length of the text to the power of `power`. `runs`
    if a repetition without a limit that ends at one place only is part of it."""

    ways: int = 1
    power: int = 0
    runs: bool = False

    @property
    def varies(self) -> bool:
        return self.ways > 1 or self.power > 0

    def then(self, other: _Cost) -> _Cost:
        return _Cost(min(self.ways * other.ways, 1 << 40), self.power + other.power, self.runs or other.runs)


def regex_problem(pattern: str) -> str:
    """Why `pattern` is refused; empty if it is not. Look-around, backreferences, conditionals, flags other than
    ``(?i)`` and what can match one text in too many ways are refused."""
    if len(pattern) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    try:
        re.compile(pattern)
        parsed = _parser.parse(pattern)
        if parsed.state.flags & ~(re.IGNORECASE | re.UNICODE):
            return _FLAGS
        costs = [_search(branch) for branch in _branches(list(parsed))]
    except (re.error, OverflowError, RecursionError) as error:
        return f"not a regular expression: {error}"
    except _Refused as refused:
        return str(refused)
    if sum(cost.ways * _TEXT**cost.power for cost in costs) <= _MOST_STEPS:
        return ""
    return (
        "a string can be divided among its repetitions and alternatives in too many ways, the search for the start "
        "included: begin with '^', or repeat characters other than the one that follows"
    )


def _branches(nodes: Nodes) -> list[Nodes]:
    """The alternatives of a whole expression, which are searched for one after the other."""
    return [list(branch) for branch in nodes[0][1][1]] if len(nodes) == 1 and kind_of(nodes[0]) == "BRANCH" else [nodes]


def _search(nodes: Nodes) -> _Cost:
    """The cost of a search in a text, which starts everywhere unless it is anchored."""
    cost = _sequence(nodes, [])
    anchored = bool(nodes) and kind_of(nodes[0]) == "AT" and str(nodes[0][1]).startswith("AT_BEGINNING")
    return _Cost(cost.ways, cost.power + int(cost.runs) + int(not anchored))


def _sequence(nodes: Nodes, after: Nodes) -> _Cost:
    """The cost of `nodes`, which `after` follow."""
    cost = _Cost()
    for index, node in enumerate(nodes):
        cost = cost.then(_node(node, nodes[index + 1 :] + after))
    return cost


def _node(node: Any, after: Nodes) -> _Cost:
    kind, content = kind_of(node), node[1]
    if kind in _REFUSED:
        raise _Refused(_REFUSED[kind])
    if kind in ("MAX_REPEAT", "MIN_REPEAT"):
        return _repetition(node, after)
    if kind == "SUBPATTERN":
        _, added, removed, inner = content
        if (added | removed) & ~re.IGNORECASE:
            raise _Refused(_FLAGS)
        return _sequence(list(inner), after)
    if kind == "BRANCH":
        return _alternatives([list(branch) for branch in content[1]], after)
    return _Cost()


def _alternatives(branches: list[Nodes], after: Nodes) -> _Cost:
    costs = [_sequence(branch, after) for branch in branches]
    ways = [cost.ways for cost in costs]
    firsts = [first_of(branch + after) for branch in branches]
    apart = all(disjoint(nodes, other) for place, nodes in enumerate(firsts) for other in firsts[:place])
    return _Cost(max(ways) if apart else sum(ways), max(cost.power for cost in costs), any(cost.runs for cost in costs))


def _repetition(node: Any, after: Nodes) -> _Cost:
    low, high, content = int(node[1][0]), int(node[1][1]), list(node[1][2])
    if high <= 1:
        inner = _sequence(content, after)
        optional = low == 0 and not disjoint(first_of(content + after), first_of(after))
        return _Cost(inner.ways + 1, inner.power, inner.runs) if optional else inner
    again = (node[0], (0, high, content))
    inner = _sequence(content, [again, *after])
    if inner.varies:
        raise _Refused("a repetition around repetitions or alternatives is not allowed")
    counts = high - low + 1
    following = first_of(after)
    if counts == 1 or (following is not None and END in following):  # then nothing can fail: no second way is tried
        return _Cost()
    if disjoint(first_of(content), following):
        return _Cost(runs=counts >= _TEXT)
    return _Cost(power=1) if counts >= _TEXT else _Cost(ways=counts)
