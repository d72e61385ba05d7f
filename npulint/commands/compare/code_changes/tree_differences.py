"""Finds the smallest parts in which two trees differ, and whether they certainly mean something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

import msgspec

from npulint.commands.compare.code_changes.arithmetic import are_equal, is_formula
from npulint.commands.compare.code_changes.trees import ATTRIBUTE, CALL, CONST, OUTER, RANKS, TEXT, Tree
from npulint.commands.compare.code_changes.variables import Variables

_AROUND: Final = 3  # trees around one that the other side has alone
_WIDE: Final = 60  # elements of a display that are aligned


class TreeDifference(msgspec.Struct, frozen=True, eq=False):
    """Two parts that differ; None where one side lacks it. `certain`: they do not mean the same."""

    left: Tree | None
    right: Tree | None
    certain: bool


_METHODS: Final = frozenset(name for kind in (str, bytes, list, dict, set) for name in dir(kind))

Evaluated = Callable[[Tree, Tree], bool | None]
"""Whether two trees are worth the same where they stand; None if that is not known of both."""
HaveSameField = Callable[[Tree, Tree, str], bool | None]
"""Whether the instances that two calls make have the same value in a field; None if that is not known."""
IsDefault = Callable[[Tree, Tree, str], bool | None]
"""Whether an argument of a call is what the callee takes if it is not given, or one that the callee of the other call
does not know; None if that is not known."""


class TreeComparer:
    """Compares trees of two sides."""

    def __init__(
        self,
        variables: Variables,
        evaluated: Evaluated,
        is_default: tuple[IsDefault, IsDefault],
        have_same_field: HaveSameField,
    ) -> None:
        self._variables, self._evaluated, self._is_default = variables, evaluated, is_default
        self._have_same_field = have_same_field

    def differences(self, left: Tree, right: Tree) -> list[TreeDifference]:
        """The smallest differing parts; empty where both mean the same."""
        if self._variables.same(left, right) or (left.kind == right.kind == "lib" and _are_namesakes(left, right)):
            return []
        if self._is_called_later(left, right, False) or self._is_called_later(right, left, True):
            return []
        worth = self._evaluated(left, right)
        if worth is True:
            return []
        formula = self._as_formulas(left, right)
        if formula is True:
            return []
        found = self._narrowed(left, right)
        if (worth is False or formula is False) and not any(each.certain for each in found):
            return [TreeDifference(left, right, True)]
        return found

    def _is_called_later(self, function: Tree, value: Tree, is_migrated: bool) -> bool:
        """Whether a function without parameters stands for what it gives, or its name for its call: one of the two
        programs would not run otherwise."""
        called = function.parts[0] if function.label == ("lambda", 0) and len(function.parts) == 1 else None
        if called is not None:
            return self._variables.same(value, called) if is_migrated else self._variables.same(called, value)
        return function.kind == "own" and value.kind == CALL and [p.label[:2] for p in value.parts] == [function.label]

    def _narrowed(self, left: Tree, right: Tree) -> list[TreeDifference]:
        """The differing parts of two trees that differ."""
        if left.label == right.label and left.kind != CALL and left.names == right.names:
            if len(left.parts) == len(right.parts) and left.parts:
                return self._of_parts(left.parts, right.parts)
            if left.kind in ("display", "filter") and max(len(left.parts), len(right.parts)) <= _WIDE:
                return list(self._of_items(left.parts, right.parts))
        if left.kind == right.kind == CALL and left.label == right.label:
            return self._of_calls(left, right)
        if left.kind == right.kind == "dict":
            return list(self._of_arguments(left, right, None))
        return [TreeDifference(left, right, self._is_certain(left, right))]

    def _of_parts(self, first: Sequence[Tree], second: Sequence[Tree]) -> list[TreeDifference]:
        return [inner for one, other in zip(first, second, strict=True) for inner in self.differences(one, other)]

    def _of_items(self, first: Sequence[Tree], second: Sequence[Tree]) -> Iterator[TreeDifference]:
        """The differences of two displays: items that one side lacks, and those that differ."""
        matcher = SequenceMatcher(None, [tree.shape for tree in first], [tree.shape for tree in second], False)
        for _, i1, i2, j1, j2 in matcher.get_opcodes():
            both = min(i2 - i1, j2 - j1)
            yield from self._of_parts(first[i1 : i1 + both], second[j1 : j1 + both])
            yield from (TreeDifference(tree, None, True) for tree in first[i1 + both : i2])
            yield from (TreeDifference(None, tree, True) for tree in second[j1 + both : j2])

    def _of_calls(self, left: Tree, right: Tree) -> list[TreeDifference]:
        callee, other = left.parts[0], right.parts[0]
        found = [] if _are_namesakes(callee, other) else self.differences(callee, other)
        if not found and callee.label != other.label:
            return self._of_namesakes(left, right)
        if not found:
            return self._of_fields(left, right)
        arguments = list(self._of_arguments(left, right, None))
        if self._are_known(callee, other):
            return [TreeDifference(left, right, not arguments or self._have_same_object(left, right))]
        return [TreeDifference(left, right, self._is_certain(left, right))]

    def _of_namesakes(self, left: Tree, right: Tree) -> list[TreeDifference]:
        """The differences of two calls of which only one is known, so that their arguments have other names."""
        if len(left.parts) != len(right.parts) or left.names[1:2] != right.names[1:2]:
            return [TreeDifference(left, right, False)]
        have_object = left.names[1:2] == right.names[1:2] == ("self",)
        found = self.differences(left.parts[1], right.parts[1]) if have_object else []
        if found and left.parts[1].is_name and right.parts[1].is_name:  # another method of another object
            return [TreeDifference(left, right, any(each.certain for each in found))]
        first, second = (tree.parts[1 + have_object :] for tree in (left, right))
        keys = self._variables.reference_key, self._variables.migrated_key
        if Counter(map(keys[0], first)) != Counter(map(keys[1], second)):
            found = [*found, *self._of_parts(first, second)]
        return found

    def _of_fields(self, left: Tree, right: Tree) -> list[TreeDifference]:
        """The differences of the arguments of the same callee, without fields that get the same value by default."""
        names = [name for name in dict.fromkeys((*left.names, *right.names)) if name]
        equal = {name for name in names if self._have_same_field(left, right, name) is True}
        if equal:
            left, right = (_without(tree, equal) for tree in (left, right))
        return list(self._of_arguments(left, right, left))

    def _of_arguments(self, left: Tree, right: Tree, call: Tree | None) -> Iterator[TreeDifference]:
        """The differences of the arguments by name. What only one side gives may be the default of the callee."""
        first, second = (
            dict(zip(left.names, left.parts, strict=False)),
            dict(zip(right.names, right.parts, strict=False)),
        )
        gone = [name for name in first if name and name not in second]
        new = [name for name in second if name and name not in first]
        for name in first:
            if name and name in second:
                yield from self.differences(first[name], second[name])
        if len(gone) == len(new) and gone and any(name.isdigit() for name in (*gone, *new)):
            inner = self._of_parts([first[name] for name in gone], [second[name] for name in new])
            yield from (msgspec.structs.replace(each, certain=False) for each in inner)  # by position and by name
            return
        for name in gone:
            usual = self._is_default[0](left, right, name) if call is not None else False
            if usual is not True:
                yield TreeDifference(first[name], None, usual is False)
        for name in new:
            usual = self._is_default[1](right, left, name) if call is not None else False
            if usual is not True:
                yield TreeDifference(None, second[name], usual is False)

    def _as_formulas(self, left: Tree, right: Tree) -> bool | None:
        """Whether two formulas give the same number; None where neither calculates."""
        if not (is_formula(left) or is_formula(right)):
            return None
        keys = self._variables.reference_key, self._variables.migrated_key
        return are_equal(left, right, *keys, self._variables.is_paired)

    def _is_certain(self, left: Tree, right: Tree) -> bool:
        """Whether two trees that differ from their roots on surely mean something else: two constants, the same
        operation with another operator, or one that the other side has around it as well."""
        kinds = {left.kind, right.kind}
        if "nothing" in kinds or kinds == {CONST} or kinds <= {TEXT, CONST} or kinds == {RANKS, CONST}:
            return True
        if left.is_name and right.is_name:
            return left.label[0] == right.label[0] and not self._variables.agree(left.label, right.label)
        if CONST in kinds and any(self._variables.counts(part) for tree in (left, right) for part in tree.walk()):
            return True
        if self._are_same_within(left, right):
            return True
        return self._is_around(right, left, False) or self._is_around(left, right, True)

    def _are_same_within(self, left: Tree, right: Tree) -> bool:
        """Whether two trees do something else, which is known, with the same parts."""
        if left.kind != right.kind or left.kind not in ("op", "lib", ATTRIBUTE) or len(left.parts) != len(right.parts):
            return False
        return all(self._variables.same(a, b) for a, b in zip(left.parts, right.parts, strict=True))

    def _is_around(self, outer: Tree, inner: Tree, outer_is_left: bool) -> bool:
        """Whether a tree does something known with another one: an operator, a subscript, a function of a library."""
        waiting = [(outer, 0)]
        while waiting:
            tree, depth = waiting.pop()
            for part in tree.parts:
                pair = (part, inner) if outer_is_left else (inner, part)
                if self._variables.same(*pair):
                    return _does_something(outer)
                if depth < _AROUND:
                    waiting.append((part, depth + 1))
        return False

    def _have_same_object(self, left: Tree, right: Tree) -> bool:
        """Whether two calls do something with the same thing."""
        return len(left.parts) > 1 and len(right.parts) > 1 and self._variables.same(left.parts[1], right.parts[1])

    @staticmethod
    def _are_known(callee: Tree, other: Tree) -> bool:
        """Whether two callees are functions of libraries, of which it is known that they are not the same."""
        return all(
            each.kind in ("lib", OUTER) and (not name.startswith("?.") or name[2:] in _METHODS)
            for each in (callee, other)
            for name in (str(each.label[1]),)
        )


def _without(call: Tree, names: set[str]) -> Tree:
    """A call without some arguments."""
    kept = [at for at, name in enumerate(call.names) if name not in names]
    parts, left = tuple(call.parts[at] for at in kept), tuple(call.names[at] for at in kept)
    return Tree(call.label, parts, call.node, call.call, left)


def _are_namesakes(callee: Tree, other: Tree) -> bool:
    """Whether two functions of libraries have the same name in different modules."""
    if callee.kind != "lib" or other.kind != "lib":
        return False
    return str(callee.label[1]).rpartition(".")[2] == str(other.label[1]).rpartition(".")[2]


def _does_something(tree: Tree) -> bool:
    """Whether a tree changes what it is made of: it is an operator, or the call of a known function."""
    if tree.kind in ("op", "[]", "if"):
        return True
    return tree.kind == CALL and bool(tree.parts) and tree.parts[0].kind == "lib" and len(tree.label) == 1
