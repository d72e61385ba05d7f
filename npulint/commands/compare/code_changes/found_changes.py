"""Finds what was changed in the code of a function and its counterpart, however it is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from npulint.commands.compare.code_changes.alignment import Aligned, Pair, aligned
from npulint.commands.compare.code_changes.evaluation import Evaluation, are_worth_the_same
from npulint.commands.compare.code_changes.statements import Code, Statement
from npulint.commands.compare.code_changes.tree_differences import TreeComparer
from npulint.commands.compare.code_changes.trees import RANKS, Tree
from npulint.commands.training_config.steps.model import Home
from npulint.model.code.module import Module

_ENDING: Final = frozenset(("return", "break", "continue"))


class Change(msgspec.Struct, frozen=True, eq=False):
    """Two places that differ: the function, statement and part of it on each side; None where one side lacks it."""

    home: Home
    other: Home
    left: Statement | None
    right: Statement | None
    left_tree: Tree | None
    right_tree: Tree | None
    certain: bool
    codes: tuple[Code, Code]


class Compared(msgspec.Struct, frozen=True, eq=False):
    """What differs in two functions, the lines of each that do the same, and whether the functions do so as a whole."""

    changes: list[Change]
    same: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    whole: bool


class FunctionPair(msgspec.Struct, frozen=True, eq=False):
    """A function and its counterpart, with their modules and what evaluates their expressions."""

    home: Home
    other: Home
    codes: tuple[Code, Code]
    modules: tuple[Module, Module]
    evaluations: tuple[Evaluation, Evaluation]

    def compared(self) -> Compared:
        """What differs in them, and the lines of both that do the same."""
        found = aligned(*self.codes)
        comparer = self._comparer(found)
        changes: list[Change] = []
        same: list[tuple[Statement, Statement]] = []
        alike: set[int] = set()
        changed = _without_moved(found)
        both = [(a, b) for a, b in changed if a is not None and b is not None]
        for a, b in [*found.equal, *both]:
            inner = [] if found.variables.same(a.tree, b.tree) else list(self._of_both(found, comparer, a, b))
            changes += inner
            if a.tree.exact == b.tree.exact and a.source == b.source:
                alike |= {id(a), id(b)}  # what differs there is what it is given
            elif not inner:
                same.append((a, b))
        changes += self._of_one(found, changed)
        whole = not changes
        lines = [], []  # type: tuple[list[tuple[int, int]], list[tuple[int, int]]]
        for at, code in enumerate(self.codes):
            statements = code.statements if whole else [pair[at] for pair in same]
            lines[at].extend(each.lines for each in statements if each.kind != "end" and id(each) not in alike)
        return Compared(changes, lines, whole)

    def _comparer(self, found: Aligned) -> TreeComparer:
        first, second = self.evaluations
        module, other = self.modules

        def evaluated(left: Tree, right: Tree) -> bool | None:
            if first.is_unread(left, module) or second.is_unread(right, other):
                return True  # what replaces it is compared where it stands
            value = first.value(left, module)
            return are_worth_the_same(value, second.value(right, other)) if value.known else None

        def have_same_field(left: Tree, right: Tree, name: str) -> bool | None:
            mine, theirs = first.made(left, module), second.made(right, other)
            return None if mine is None or theirs is None else self._are_fields_same(mine, theirs, name)

        return TreeComparer(
            found.variables,
            evaluated,
            (
                lambda call, there, name: not second.knows(there, name, other) or first.is_default(call, name, module),
                lambda call, there, name: not first.knows(there, name, module) or second.is_default(call, name, other),
            ),
            have_same_field,
        )

    def _are_fields_same(self, owner: Home, other: Home, name: str) -> bool | None:
        """Whether the instances of two data classes have the same value in a field; None if that is not known."""
        value, theirs = self.evaluations[0].field(owner, name), self.evaluations[1].field(other, name)
        return None if value is None or theirs is None else are_worth_the_same(value, theirs)

    def _of_both(self, found: Aligned, comparer: TreeComparer, a: Statement, b: Statement) -> Iterator[Change]:
        codes = found.left, found.right
        is_field = a.kind == "set" and self.modules[0].blocks[self.home[1]].kind == "class" and a.targets
        if is_field and self._are_fields_same(self.home, self.other, str(a.targets[0][1])):
            return
        for each in comparer.differences(a.tree, b.tree):
            yield Change(self.home, self.other, a, b, each.left, each.right, each.certain, codes)

    def _of_one(self, found: Aligned, changed: Sequence[Pair]) -> Iterator[Change]:
        """The changes of statements that only one side has; of a block that only one side has, its head."""
        for at, code in enumerate((found.left, found.right)):
            alone = [pair[at] for pair in changed if pair[1 - at] is None]
            mine = {id(each) for each in alone}
            heads = [each for each in alone if each is not None and each.is_border and each.kind != "end"]
            inside = {
                id(each)
                for head in heads
                for each in code.statements
                if id(each) in mine and _number(code, head) in each.opened
            }
            for each in alone:
                if each is not None and each.kind != "end" and id(each) not in inside and not _is_empty(each):
                    certain = _changes_for_sure(each, code)
                    yield self._alone(each, at, certain, (found.left, found.right))

    def _alone(self, statement: Statement, at: int, certain: bool, codes: tuple[Code, Code]) -> Change:
        """The change that a statement is which only one side has."""
        tree = statement.tree
        if at == 0:
            return Change(self.home, self.other, statement, None, tree, None, certain, codes)
        return Change(self.home, self.other, None, statement, None, tree, certain, codes)


def _number(code: Code, statement: Statement) -> int:
    return next((at for at, each in enumerate(code.statements) if each is statement), -1)


def _changes_for_sure(statement: Statement, code: Code) -> bool:
    """Whether a statement that only one side has changes what the function does: it ends it, assigns a variable anew,
    or decides whether something like that is done."""
    if statement.kind in _ENDING:
        return True
    if statement.kind == "set":
        return len(statement.tree.parts) == 2 or any(int(str(label[2])) > 1 for label in statement.targets)
    if statement.is_border and statement.kind not in ("with", "try", "except"):
        head = _number(code, statement)
        inside = [each for each in code.statements if head in each.opened and not each.is_border]
        asks_rank = any(tree.kind == RANKS for tree in statement.tree.walk())
        return not asks_rank and any(each.kind == "do" or _changes_for_sure(each, code) for each in inside)
    return False


def _is_empty(statement: Statement) -> bool:
    """Whether a statement only gives the number of processes, or of this one, a name, or is a parameter without a
    default, whose uses tell what it does."""
    last = statement.tree.parts[-1].kind if statement.tree.parts else ""
    return (statement.kind == "set" and last == RANKS) or (statement.kind == "parameter" and last == "nothing")


def _without_moved(found: Aligned) -> list[Pair]:
    """The changed statements without those that only stand at another place where nothing depends on it."""
    gone = [a for a, b in found.changed if a is not None and b is None]
    new = [b for a, b in found.changed if b is not None and a is None]
    moved: set[int] = set()
    for a in gone:
        b = next((b for b in new if b.shape == a.shape and id(b) not in moved and a.kind != "end"), None)
        if b is not None and _is_free(a, b, found):
            moved |= {id(a), id(b)}
    return [pair for pair in found.changed if not any(id(each) in moved for each in pair if each is not None)]


def _is_free(a: Statement, b: Statement, found: Aligned) -> bool:
    """Whether a statement and its moved counterpart do the same: nothing that stands between the two places begins or
    ends a block, or has to do with their variables."""
    pairs = [(id(x), id(y)) for x, y in found.equal]
    ours = {id(each): at for at, each in enumerate(found.left.statements)}
    theirs = {id(each): at for at, each in enumerate(found.right.statements)}
    here, there = ours[id(a)], theirs[id(b)]
    names = {label[1] for label in (*a.uses, *a.targets)} | {label[1] for label in (*b.uses, *b.targets)}
    for x, y in pairs:
        if (ours[x] < here) == (theirs[y] < there):
            continue
        between = found.left.statements[ours[x]]
        other = found.right.statements[theirs[y]]
        common = {label[1] for each in (between, other) for label in (*each.uses, *each.targets)} & names
        if between.is_border or common or (a.kind == between.kind == "do"):
            return False
    return True
