"""Aligns the statements of a function with those of its counterpart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from npulint.commands.compare.align import align
from npulint.commands.compare.code_changes.statements import Code, Statement
from npulint.commands.compare.code_changes.trees import LOCAL, Label, Tree
from npulint.commands.compare.code_changes.variables import Variables

_ALIKE: Final = 0.5  # common nodes of two statements that replace each other
_LITTLE: Final = 0.3  # where both begin the same kind of block
_GREATEST: Final = 400  # nodes of a statement into which values are put
_ROUNDS: Final = 4

Pair = tuple[Statement | None, Statement | None]


class Aligned(msgspec.Struct, frozen=True, eq=False):
    """Two functions: pairs of statements that are `equal` but for their variables, pairs that were `changed` (None
    where only one side has the statement), and their variables."""

    left: Code
    right: Code
    equal: list[tuple[Statement, Statement]]
    changed: list[Pair]
    variables: Variables


def aligned(left: Code, right: Code) -> Aligned:
    """The alignment of two functions. Variables that are only assigned once and read in differing statements alone are
    replaced by their values there, so that it makes no difference whether a value has a name."""
    for _ in range(_ROUNDS):
        pairs = _paired(left, right)
        ours = {id(a): a for a, b in pairs if a is not None and b is None}
        theirs = {id(b): b for a, b in pairs if b is not None and a is None}
        shorter = _without_aliases(left, ours, _assigned(theirs)) or _inlined(left, ours)
        other = _without_aliases(right, theirs, _assigned(ours)) or _inlined(right, theirs)
        if shorter is None and other is None:
            break
        left, right = shorter or left, other or right
    else:
        pairs = _paired(left, right)
    variables = Variables(left, right)
    equal = [(a, b) for a, b in pairs if a is not None and b is not None]
    changed = list(_replaced(pairs))
    for a, b in [*equal, *changed]:
        if a is not None and b is not None:
            variables.pair(a, b)
    return Aligned(left, right, equal, changed, variables)


def _assigned(statements: Mapping[int, Statement]) -> frozenset[Hashable]:
    """The names of the variables that some statements assign."""
    return frozenset(label[1] for each in statements.values() for label in each.targets)


def _without_aliases(code: Code, differing: Container[int], assigned: Container[Hashable]) -> Code | None:
    """The code without differing assignments that only give the value of a variable another name, which is not
    `assigned` on the other side, where every statement that reads it comes after the assignment for sure; None if there
    are none."""
    values: dict[Label, Tree] = {}
    for each in code.statements:
        value = each.tree.parts[0] if each.kind == "set" and len(each.tree.parts) == len(each.targets) == 1 else None
        if id(each) in differing and value is not None and value.label[0] == LOCAL:
            label, depth = each.targets[0], len(each.opened)
            readers = [reader for reader in code.statements if label in reader.uses]
            after = readers and all(reader.opened[:depth] == each.opened for reader in readers)
            if after and label[1] not in assigned:
                values[label] = value
    return _with_values(code, values) if values else None


def _paired(left: Code, right: Code) -> list[Pair]:
    """The statements in order: equal ones together, the others alone."""
    ours, theirs = left.statements, right.statements
    common = _parameters(left) & _parameters(right)
    pairs = align([_key(each, common) for each in ours], [_key(each, common) for each in theirs])
    return [(None if a is None else ours[a], None if b is None else theirs[b]) for a, b in pairs]


def _parameters(code: Code) -> frozenset[Hashable]:
    return frozenset(each.targets[0][1] for each in code.statements if each.kind == "parameter" and each.targets)


def _key(statement: Statement, common: Container[Hashable]) -> Hashable:
    """What is equal for statements that are paired: parameters of the same name are, the others in their order."""
    name = statement.targets[0][1] if statement.kind == "parameter" and statement.targets else None
    return (statement.shape, name) if name in common else statement.shape


def _inlined(code: Code, differing: Container[int]) -> Code | None:
    """The code with the values of variables in place of their names in differing statements; None if nothing is
    replaced."""
    assigned = Counter(str(label[1]) for each in code.statements for label in each.targets)
    readers: dict[Label, list[Statement]] = {}
    for each in code.statements:
        for label in each.uses:
            readers.setdefault(label, []).append(each)
    values: dict[Label, Tree] = {}
    for each in code.statements:
        if id(each) not in differing or each.kind != "set" or len(each.targets) != 1 or len(each.tree.parts) != 1:
            continue
        label, value = each.targets[0], each.tree.parts[0]
        using = readers.get(label, [])
        alone = all(id(reader) in differing for reader in using)
        straight = assigned[str(label[1])] == 1 or all(reader.opened == each.opened for reader in using)
        if using and alone and straight:
            values[label] = value
    return _with_values(code, values) if values else None


def _with_values(code: Code, values: dict[Label, Tree]) -> Code | None:
    """The code with values in place of variables, without the statements that assign these."""
    statements: list[Statement] = []
    numbers: dict[int, int] = {}
    for at, each in enumerate(code.statements):
        if len(each.targets) == 1 and each.targets[0] in values and each.kind == "set":
            continue
        tree = each.tree
        for label in each.uses:
            value = values.get(label)
            if value is not None:
                tree = tree.replacing(label, _resolved(value, values, 0))
        if tree.size > _GREATEST:
            return None
        numbers[at] = len(statements)
        statements.append(each.moved(tree, tuple(numbers[head] for head in each.opened)))
    return Code(statements)


def _resolved(value: Tree, values: dict[Label, Tree], depth: int) -> Tree:
    """A value with the values of its variables."""
    if depth >= _ROUNDS:
        return value
    for inner in {tree.label for tree in value.walk() if tree.label[0] == LOCAL}:
        known = values.get(inner)
        if known is not None:
            value = value.replacing(inner, _resolved(known, values, depth + 1))
    return value


def _replaced(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The statements without an equal one: together where one replaces the other, else alone."""
    ours: list[Statement] = []
    theirs: list[Statement] = []
    for a, b in [*pairs, (None, None)]:
        if a is not None and b is None:
            ours.append(a)
        elif b is not None and a is None:
            theirs.append(b)
        else:
            yield from _matched(ours, theirs)
            ours, theirs = [], []


def _matched(ours: Sequence[Statement], theirs: Sequence[Statement]) -> Iterator[Pair]:
    """The most similar statements of a gap between equal ones first."""
    scored = sorted(
        ((-_alike(a, b), abs(i - j), i, j) for i, a in enumerate(ours) for j, b in enumerate(theirs)),
    )
    left, right = set(range(len(ours))), set(range(len(theirs)))
    found: list[tuple[int, int]] = []
    for score, _, i, j in scored:
        if score < 0 and i in left and j in right:
            found.append((i, j))
            left.remove(i)
            right.remove(j)
    yield from ((ours[i], theirs[j]) for i, j in sorted(found))
    yield from ((ours[i], None) for i in sorted(left))
    yield from ((None, theirs[j]) for j in sorted(right))


def _alike(a: Statement, b: Statement) -> float:
    """How similar two statements are, from 0 (too little) to 1."""
    if a.kind != b.kind or a.kind == "end":
        return 0.0
    first, second = _nodes(a.tree), _nodes(b.tree)
    common = sum((first & second).values())
    score = common / max(1, first.total(), second.total())
    names = {str(label[1]) for label in a.targets} & {str(label[1]) for label in b.targets}
    if names or a.kind == "return":
        return score + 1.0
    return score if score >= (_LITTLE if a.is_border or a.kind == "parameter" else _ALIKE) else 0.0


def _nodes(tree: Tree) -> Counter[Hashable]:
    return Counter((part.label[0],) if part.is_name else part.label for part in tree.walk())
