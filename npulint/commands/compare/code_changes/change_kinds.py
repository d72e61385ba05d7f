"""What kind of a change it is that two statements differ, and how it is shown."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Container, Hashable, Iterator, Sequence
from itertools import zip_longest
from typing import Final

import msgspec

from npulint.commands.compare.code_changes.found_changes import Change
from npulint.commands.compare.code_changes.statements import Statement
from npulint.commands.compare.code_changes.trees import CALL, CONST, TEXT, Tree
from npulint.commands.training_config.steps.model import MODULE
from npulint.commands.training_config.steps.unresolved import SPLIT

_LONG: Final = 60  # characters of code that are shown


def chain(tree: Tree) -> Iterator[Tree]:
    """A call and the calls whose results its method, and theirs, are called on."""
    while tree.kind == CALL:
        yield tree
        if tree.names[1:2] != ("self",):
            return
        tree = tree.parts[1]


def own_callee(statement: Statement | None) -> Hashable:
    """The project function of which a statement is nothing but a call; None for another one."""
    tree = statement.tree if statement is not None and statement.kind == "do" else None
    return tree.parts[0].label if tree is not None and tree.label == (CALL,) and tree.parts[0].kind == "own" else None


def moves(change: Change, moved: Container[Hashable]) -> bool:
    """Whether a change is nothing but a call of a function whose call only moved."""
    alone = change.left is None or change.right is None
    return alone and own_callee(change.left or change.right) in moved


def merged(changes: Sequence[Change]) -> list[Change]:
    """The changes, with several of one statement as one of the whole statement."""
    groups: dict[tuple[int, int], list[Change]] = defaultdict(list)
    for change in changes:
        groups[id(change.left), id(change.right)].append(change)
    return [group[0] if len(group) == 1 else _of_statement(group) for group in groups.values()]


def _of_statement(changes: Sequence[Change]) -> Change:
    """Several changes of one statement as one."""
    first = changes[0]
    left = None if first.left is None else first.left.tree
    right = None if first.right is None else first.right.tree
    certain = any(change.certain for change in changes)
    return msgspec.structs.replace(first, left_tree=left, right_tree=right, certain=certain)


def texts(change: Change) -> tuple[str, str]:
    """The differing parts of both sides, with as much around both as fits in a line."""
    best: tuple[str, str] = ("", "")
    for pair in zip_longest(*(_texts_around(change, at) for at in (0, 1)), fillvalue=""):
        if any(len(text) > _LONG for text in pair) or (best != ("", "") and "" in pair and "" not in best):
            break
        best = pair[0], pair[1]
    if best == ("", ""):
        best = next(_texts_around(change, 0), ""), next(_texts_around(change, 1), "")
    first, second = (text if len(text) <= _LONG else text[: _LONG - 1] + "…" for text in best)
    return first, second


def _texts_around(change: Change, at: int) -> Iterator[str]:
    """The text of the differing part of a side, then of what is around it."""
    statement, tree = ((change.left, change.left_tree), (change.right, change.right_tree))[at]
    for around in reversed(statement.tree.path_to(tree)) if statement is not None and tree is not None else ():
        if isinstance(around.node, ast.expr):
            yield ast.unparse(around.node)


def is_unread(change: Change) -> bool:
    """Whether a change is a variable of a function that only one side has, and that is at most shown there."""
    if change.other[1] == MODULE or (change.left is not None and change.right is not None):
        return False
    statement, code = (change.left, change.codes[0]) if change.left is not None else (change.right, change.codes[1])
    if statement is None or statement.kind != "set" or len(statement.tree.parts) != 1 or not statement.targets:
        return False
    return not any(label in each.uses for each in code.statements for label in statement.targets)


def defines_option(change: Change) -> bool:
    """Whether a change is in the definition of an option, or a new one: what is done with its value is compared, which
    a launcher may give."""
    statements = [each for each in (change.left, change.right) if each is not None]
    return all(_makes_option(each.tree) for each in statements)


def _makes_option(tree: Tree) -> bool:
    texts = (str(part.label[2]) for part in tree.parts[1:] if part.label[:2] == (CONST, "str"))
    return tree.kind == CALL and any(text.startswith("--") for text in texts)


def names_constant(change: Change) -> bool:
    """Whether a change is a name that only one side gives to a constant: what is done with it is compared."""
    statement = change.left or change.right
    if (change.left is not None and change.right is not None) or statement is None or statement.kind != "set":
        return False
    is_new = bool(statement.targets) and all(int(str(label[2])) == 1 for label in statement.targets)
    return is_new and len(statement.tree.parts) == 1 and _is_literal(statement.tree.parts[0])


def _is_literal(tree: Tree) -> bool:
    return all(each.kind in (CONST, "display") for each in tree.walk())


def begins_count(change: Change) -> bool:
    """Whether a change is the number at which something begins to be counted."""
    statements = change.left, change.right
    for statement, code in zip(statements, change.codes, strict=True):
        if statement is None or statement.kind != "set" or len(statement.targets) != 1:
            return False
        if not statement.tree.parts[0].is_number or abs(float(str(statement.tree.parts[0].label[2]))) > 1:
            return False
        name = statement.targets[0][1]
        counts = any(
            isinstance(e.node, ast.AugAssign) and e.targets and e.targets[0][1] == name for e in code.statements
        )
        if not counts:
            return False
    return True


def is_path(tree: Tree) -> bool:
    """Whether a text names a place: it has the separators of paths or the dot of a suffix."""
    words = [str(word) for word in tree.label[1:]] if tree.kind == TEXT else [str(tree.label[-1])]
    return tree.label[:2] != (CONST, "number") and any("/" in word or "." in word for word in words)


def name_other_splits(change: Change) -> bool:
    """Whether two texts name different splits of a data set."""
    trees = change.left_tree, change.right_tree
    words = [
        {"".join(filter(str.isalpha, word)) for text in _texts_in(tree) for word in SPLIT.findall(text)}
        if tree is not None
        else set()
        for tree in trees
    ]
    return (
        bool(words[0])
        and bool(words[1])
        and words[0] != words[1]
        and all(tree is not None and tree.kind in (CONST, TEXT) for tree in trees)
    )


def _texts_in(tree: Tree) -> list[str]:
    """The constant texts of a text that is put together."""
    return [str(word) for word in tree.label[1:]]
