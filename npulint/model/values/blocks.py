"""Cursors of blocks of code: kind, position and surrounding blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from npulint.facts.code import Block
from npulint.model.code.module import Module, is_main
from npulint.model.values.context import Context

if TYPE_CHECKING:
    from typing_extensions import Self

_CONDITIONS = ("if", "else", "except")
_FUNCTIONS = ("function", "lambda")


class BlockCursor:
    """One block of code: a module, function, class, branch, loop or ``with``. There is one object per block, so cursors
    are compared by identity. `npulint.model.values.cursors.Scope` adds the content of the block."""

    __slots__ = ("block", "context", "module", "surroundings")

    def __init__(self, context: Context, module: Module, block: int) -> None:
        self.context = context
        self.module = module
        self.block = block
        self.surroundings: Any = None  # set by `npulint.model.running.surroundings`

    @classmethod
    def of(cls, context: Context, module: Module, block: int) -> Self:
        """The only cursor of a block; block 0 is the module itself."""
        block_cursor: Self | None = module.scopes[block]
        if block_cursor is None:
            block_cursor = module.scopes[block] = cls(context, module, block)
        return block_cursor

    @property
    def record(self) -> Block:
        """The block as read: its kind, line, condition, parameters, decorators and bases."""
        return self.module.blocks[self.block]

    @property
    def kind(self) -> str:
        """The kind of block: module, function, lambda, class, if, else, loop, with, try, except, global or nonlocal."""
        return self.module.blocks[self.block].kind

    @property
    def last_name(self) -> str:
        """The name of a function or class without those around it; empty for other blocks."""
        return self.record.name.rpartition(".")[2]

    @property
    def is_method(self) -> bool:
        """Whether it is a function that is defined in a class."""
        return self.kind == "function" and self.module.blocks[self.record.parent].kind == "class"

    @property
    def path(self) -> str:
        """The path of its file."""
        return self.module.path

    @property
    def qualname(self) -> str:
        """The qualified name of the function or class around it (``Net.forward``); empty at module level."""
        return self.module.qualname(self.block)

    @property
    def name(self) -> str:
        """The canonical name of a function, class or module of the project (``net:Net.forward``)."""
        return f"{self.module.name}:{self.record.name or ('' if self.block == 0 else '<lambda>')}"

    def at(self, block: int) -> Self:
        """Another block of the same module."""
        block_cursor: Self | None = self.module.scopes[block]
        return type(self).of(self.context, self.module, block) if block_cursor is None else block_cursor

    # -- what is around it -------------------------------------------------------------------------

    @property
    def parent(self) -> Self | None:
        """The block around it; None for a module."""
        parent = self.record.parent
        return None if parent < 0 else self.at(parent)

    @property
    def function(self) -> Self | None:
        """The nearest function or lambda around it (itself, if it is one); None at module level."""
        block = self.module.function_of(self.block)
        return None if block < 0 else self.at(block)

    @property
    def routine(self) -> Self:
        """The nearest function or lambda around it, else the module."""
        return self.at(max(self.module.function_of(self.block), 0))

    @property
    def namespace(self) -> Self:
        """The module, function, class or lambda in which an assignment to a plain name in this block binds it."""
        return self.at(self.module.scope[self.block])

    @property
    def loop(self) -> Self | None:
        """The nearest loop around it within its function; None if there is none."""
        block = self.module.loop_of(self.block)
        return None if block < 0 else self.at(block)

    @property
    def owner(self) -> Self | None:
        """The nearest class around it (itself, if it is one); None outside classes."""
        block = self.module.class_of(self.block)
        return None if block < 0 else self.at(block)

    @property
    def ancestors(self) -> Iterator[Self]:
        """It and all blocks around it, innermost first."""
        return (self.at(block) for block in self.module.ancestors(self.block))

    def is_inside(self, other: BlockCursor) -> bool:
        """Whether it is `other` or a block inside it."""
        return other.module is self.module and other.block in self.module.ancestors(self.block)

    @property
    def loops(self) -> int:
        """How many loops surround it within its function."""
        count, block = 0, self.block
        while block > 0 and self.module.blocks[block].kind not in _FUNCTIONS:
            count += self.module.blocks[block].kind == "loop"
            block = self.module.blocks[block].parent
        return count

    @property
    def holds_loop(self) -> bool:
        """Whether it contains another loop."""
        blocks = (block for block, record in enumerate(self.module.blocks) if record.kind == "loop")
        return any(block != self.block and self.block in self.module.ancestors(block) for block in blocks)

    @property
    def has_main_test(self) -> bool:
        """Whether its condition is ``__name__ == "__main__"``, also of the ``else``."""
        return is_main(self.record.test)

    @property
    def is_started_only(self) -> bool:
        """Whether it runs only when its file is started: below ``if __name__ == "__main__"``."""
        return not self.module.main_guards.isdisjoint(self.module.ancestors(self.block))

    @property
    def is_conditional(self) -> bool:
        """Whether it runs only in some iterations of its loop: under a condition, in a branch."""
        loop, around = self.module.loop_of(self.block), self.module.ancestors(self.block)
        before = around[: around.index(loop)] if loop >= 0 else []
        return any(self.module.blocks[block].kind in _CONDITIONS for block in before)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of a function's parameters, in order, without ``*args`` and ``**kwargs``."""
        return self.record.params

    # -- what is in it -----------------------------------------------------------------------------

    @property
    def functions(self) -> list[Self]:
        """The functions and lambdas that are defined directly in a function, or at module level."""
        block = -1 if self.kind == "module" else self.block
        return [self.at(inner) for inner in self.module.functions_in.get(block, ())]

    def definition(self, name: str) -> Self | None:
        """The function or class `name` that is defined in a class, function or module."""
        block = self.module.definition(self.block, name)
        return None if block < 0 else self.at(block)

    @property
    def called_block(self) -> Self | None:
        """What a call of a function or class runs: of a class its own ``__init__``; None if it has none."""
        block = self.module.called_block(self.block)
        return None if block < 0 else self.at(block)

    def blocks_of(self, *kinds: str) -> list[Self]:
        """The blocks of some kinds (class, function, loop …) in its module, in text order."""
        by_kind = self.module.blocks_by_kind
        blocks = [block for kind in kinds if kind in by_kind for block in by_kind[kind]]
        return [self.at(block) for block in (sorted(blocks) if len(kinds) > 1 else blocks)]

    @property
    def call_names(self) -> list[str]:
        """The canonical names of all that its module calls, in text order."""
        return self.context.names.of_calls(self.module)
