"""Expressions as trees that are equal where they mean the same, whatever local names, spelling and device they use."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property

import msgspec

Label = tuple[Hashable, ...]
"""What a node is: its kind first."""

LOCAL, OUTER, CONST, CALL, ATTRIBUTE, TEXT, RANKS = "local", "outer", "const", "call", "attribute", "text", "ranks"
_BLANK: Label = ("name",)


class Tree(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A node with its parts. `node` is the syntax node that it was made of; `call` the number of the call in its module
    (-1: none), whose argument values are the parts named `names`."""

    label: Label
    parts: tuple[Tree, ...] = ()
    node: ast.AST | None = None
    call: int = -1
    names: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What it is."""
        return str(self.label[0])

    @property
    def is_name(self) -> bool:
        """Whether it is a variable."""
        return self.label[0] in (LOCAL, OUTER)

    @property
    def is_number(self) -> bool:
        """Whether it is a literal number."""
        return self.label[:2] == (CONST, "number")

    @cached_property
    def shape(self) -> Hashable:
        """A key that is equal for trees that differ in the names of variables only."""
        label = _BLANK if self.is_name else self.label
        return (label, self.names, tuple(part.shape for part in self.parts)) if self.parts else label

    @cached_property
    def exact(self) -> Hashable:
        """A key that is equal for trees with the same variables."""
        return (self.label, self.names, tuple(part.exact for part in self.parts)) if self.parts else self.label

    @cached_property
    def size(self) -> int:
        """The number of its nodes."""
        return 1 + sum(part.size for part in self.parts)

    def walk(self) -> Iterator[Tree]:
        """The tree and all trees in it, from the outside inwards."""
        waiting = [self]
        while waiting:
            tree = waiting.pop()
            yield tree
            waiting += reversed(tree.parts)

    def path_to(self, inner: Tree) -> list[Tree]:
        """The trees around another one, itself last; empty if it is not in this tree."""
        if inner is self:
            return [self]
        for part in self.parts:
            path = part.path_to(inner)
            if path:
                return [self, *path]
        return []

    def with_parts(self, parts: Sequence[Tree]) -> Tree:
        """The same node with other parts."""
        return Tree(self.label, tuple(parts), self.node, self.call, self.names)

    def replacing(self, variable: Label, value: Tree) -> Tree:
        """The tree with a value in place of a variable."""
        if self.label == variable:
            return value
        if not self.parts:
            return self
        parts = [part.replacing(variable, value) for part in self.parts]
        changed = any(new is not old for new, old in zip(parts, self.parts, strict=True))
        return self.with_parts(parts) if changed else self


def number(value: float, node: ast.AST | None = None) -> Tree:
    """A literal number."""
    return Tree((CONST, "number", float(value)), (), node)


def constant(value: object, node: ast.AST | None = None) -> Tree:
    """A literal; numbers of all types that are equal are the same."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return number(value, node)
        except OverflowError:
            pass
    return Tree((CONST, type(value).__name__, _portable(value) if isinstance(value, str) else repr(value)), (), node)


_DEVICES = (("cuda", "npu"), ("gpu:", "npu:"), ("GPU:", "NPU:"), ("nccl", "hccl"))


def _portable(text: str) -> str:
    """A text with the words of the NPU in place of those of other devices."""
    for word, instead in _DEVICES:
        text = text.replace(word, instead)
    return text


def same_device(name: str) -> str:
    """A dotted name without what only says on which device it works."""
    words = [{"cuda": "npu", "torch_npu": "torch"}.get(word, word) for word in name.split(".")]
    return ".".join(words).replace("torch.npu.amp.", "torch.amp.")
