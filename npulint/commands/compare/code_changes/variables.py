"""Which variables of two functions correspond: those that corresponding statements assign."""

from __future__ import annotations

from collections.abc import Container, Hashable

from npulint.commands.compare.code_changes.statements import Code, Statement
from npulint.commands.compare.code_changes.trees import LOCAL, OUTER, RANKS, Label, Tree


class Variables:
    """The variables of the migrated side for those of the reference. A variable that is assigned by a statement without
    counterpart has none: what uses it follows from that difference."""

    def __init__(self, left: Code, right: Code, renamed: Container[str] = ()) -> None:
        self._there: dict[Label, Label] = {}
        self._back: dict[Label, Label] = {}
        self._left, self._right = left, right
        self._names = _outer_names(left), _outer_names(right)

    def pair(self, left: Statement, right: Statement) -> None:
        """Note what two corresponding statements assign."""
        for label, other in zip(left.targets, right.targets, strict=False):
            self._there[label] = other
            self._back[other] = label

    def agree(self, left: Label, right: Label) -> bool:
        """Whether two variables may be the same."""
        if left[0] == OUTER or right[0] == OUTER:
            return self._agree_outside(left, right)
        there, back = self._there.get(left), self._back.get(right)
        if there is None and back is None:
            if self._is_assigned(left, self._left) or self._is_assigned(right, self._right):
                return True
            self._there[left], self._back[right] = right, left  # of the functions around, or not assigned before
            return True
        if there is None or back is None:  # assigned by a statement that only one side has, which is told itself
            return True
        return there == right

    @staticmethod
    def _is_assigned(label: Label, code: Code) -> bool:
        return label in code.assigned

    def _agree_outside(self, left: Label, right: Label) -> bool:
        if left[0] != right[0]:
            return False
        if left == right:
            return True
        renamed = left[1] not in self._names[1] and right[1] not in self._names[0]
        there = self._there.setdefault(left, right)
        return renamed and there == right and self._back.setdefault(right, left) == left

    def is_paired(self, tree: Tree) -> bool:
        """Whether the other side surely has something as well: a variable with a counterpart, a name of a library, or a
        rank."""
        if tree.kind in (RANKS, "lib"):
            return True
        return tree.is_name and (tree.label in self._there or tree.label in self._back)

    def counts(self, tree: Tree) -> bool:
        """Whether a variable has another value in each round of a loop that both sides have."""
        if tree.label[0] != LOCAL or not self.is_paired(tree):
            return False
        for code in (self._left, self._right):
            at = code.assigned.get(tree.label)
            if at is not None and code.statements[at].kind == "for":
                return True
        return False

    def same(self, left: Tree, right: Tree) -> bool:
        """Whether two trees are equal, with corresponding variables."""
        if left.is_name and right.is_name:
            return self.agree(left.label, right.label)
        if left.label != right.label or left.names != right.names or len(left.parts) != len(right.parts):
            return False
        return all(self.same(one, other) for one, other in zip(left.parts, right.parts, strict=True))

    def reference_key(self, tree: Tree) -> Hashable:
        """A key of a tree of the reference that the corresponding tree has as well."""
        return _key(tree, self._there)

    @staticmethod
    def migrated_key(tree: Tree) -> Hashable:
        """The same for a tree of the migrated side."""
        return _key(tree, {})


def _key(tree: Tree, names: dict[Label, Label]) -> Hashable:
    if tree.is_name:
        label = names.get(tree.label, tree.label)
        return label[:2] if label[0] == LOCAL and tree.label not in names and names else label
    return tree.label, tree.names, tuple(_key(part, names) for part in tree.parts)


def _outer_names(code: Code) -> frozenset[Hashable]:
    trees = (tree for statement in code.statements for tree in statement.tree.walk())
    return frozenset(tree.label[1] for tree in trees if tree.label[0] == OUTER)
