"""Expressions at their places: what stands there, what it is made of, and what it is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from npulint.facts.code import Const, Op, Ref, Scalar, SequenceDisplay, Table, Unknown, Value, nested
from npulint.model.code.module import Module
from npulint.model.values.blocks import BlockCursor
from npulint.model.values.context import Context

if TYPE_CHECKING:
    from typing_extensions import Self


class Expression(msgspec.Struct, frozen=True):
    """An expression at its place: `value` as read, in `scope`, at `line`. `npulint.model.values.cursors.Expr` adds
    where it leads: its values, the calls that made it, what is assigned to it."""

    value: Value
    scope: BlockCursor
    line: int

    @property
    def context(self) -> Context:
        """The project that it belongs to."""
        return self.scope.context

    @property
    def module(self) -> Module:
        """The module that it stands in."""
        return self.scope.module

    def sibling(self, value: Value) -> Self:
        """Another value at the same place."""
        return type(self)(value, self.scope, self.line)

    def elsewhere(self, module: Module, value: Value, block: int, line: int) -> Self:
        """A value at another place in the project."""
        return type(self)(value, self.scope.of(self.context, module, block), line)

    # -- what it is --------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Its canonical name (``torch.float16``, ``torch.optim.SGD()`` for what that call gives), or ``?…``."""
        return self.context.names.of_value(self.module, self.value, self.scope.block, self.line)

    @property
    def written(self) -> str:
        """The dotted name that stands there; empty for all other expressions."""
        return self.value.name if isinstance(self.value, Ref) else ""

    @property
    def dotted(self) -> str:
        """The dotted name that stands there; of an attribute of a computed object ``?`` with the attributes."""
        attribute = self.attribute
        return self.written if attribute is None else f"{attribute[0].dotted or '?'}.{attribute[1]}"

    @property
    def is_literal(self) -> bool:
        """Whether it is a literal number, text, True, False or None."""
        return isinstance(self.value, Const)

    @property
    def literal(self) -> Scalar:
        """The value of a literal; None for everything else, and for None."""
        return self.value.value if isinstance(self.value, Const) else None

    @property
    def is_unknown(self) -> bool:
        """Whether it is an expression that is not read: a slice, an ellipsis."""
        return isinstance(self.value, Unknown)

    @property
    def text(self) -> str:
        """The text of a literal text; empty for everything else."""
        return self.value.value if isinstance(self.value, Const) and isinstance(self.value.value, str) else ""

    @property
    def is_binary(self) -> bool:
        """Whether it is a literal of bytes."""
        return isinstance(self.value, Const) and self.value.binary

    # -- what it is made of ------------------------------------------------------------------------

    @property
    def is_display(self) -> bool:
        """Whether it is a list, tuple or set display."""
        return isinstance(self.value, SequenceDisplay)

    @property
    def items(self) -> list[Self]:
        """The elements of a list, tuple or set display; none for everything else."""
        return [self.sibling(item) for item in self.value.items] if isinstance(self.value, SequenceDisplay) else []

    @property
    def entries(self) -> list[tuple[Self | None, Self]]:
        """The keys and values of a dict display (the key of ``**other`` is None); none for everything else."""
        if not isinstance(self.value, Table):
            return []
        pairs = zip(self.value.keys, self.value.values, strict=True)
        return [(None if key is None else self.sibling(key), self.sibling(value)) for key, value in pairs]

    def element(self, index: Scalar) -> Self | None:
        """The element of a list, tuple or dict display with this index or key; None for everything else."""
        display = self.value
        if isinstance(display, SequenceDisplay):
            inside = isinstance(index, int) and -len(display.items) <= index < len(display.items)
            return self.sibling(display.items[index]) if inside and isinstance(index, int) else None
        pairs = zip(display.keys, display.values, strict=True) if isinstance(display, Table) else ()
        named = (value for key, value in pairs if isinstance(key, Const) and key.value == index)
        return next(map(self.sibling, named), None)

    @property
    def is_dict(self) -> bool:
        """Whether it is a dict display."""
        return isinstance(self.value, Table)

    @property
    def operator(self) -> str:
        """The operator of an operation: ``+``, ``and``, ``==``, ``not``, ``if``, ``[]`` …; empty for all others."""
        return self.value.op if isinstance(self.value, Op) else ""

    def operands(self, *operators: str) -> list[Self]:
        """The operands of an operation (of one of `operators`, if some are named); none for everything else."""
        value = self.value
        if not isinstance(value, Op) or (operators and value.op not in operators):
            return []
        return [self.sibling(operand) for operand in value.operands]

    @property
    def alternatives(self) -> list[Self]:
        """What ``a or b`` and ``a if test else b`` may be; none for everything else."""
        exprs = self.operands("or", "if")
        return exprs[1:] if self.operator == "if" else exprs

    @property
    def subscript(self) -> tuple[Self, Self] | None:
        """The object and the index of ``x[i]``; None for everything else."""
        exprs = self.operands("[]")
        return (exprs[0], exprs[1]) if exprs else None

    @property
    def attribute(self) -> tuple[Self, str] | None:
        """The object and the attribute of ``f().x``; None for everything else, also for dotted names."""
        exprs = self.operands(".")
        return (exprs[0], exprs[1].text) if exprs else None

    @property
    def parts(self) -> list[Self]:
        """What it is put together from: operands, elements, of a call its callee and positional arguments."""
        return [self.sibling(part) for part in self.module.parts(self.value)]

    @property
    def nested(self) -> Iterator[Self]:
        """It and every expression written in it: operands, elements, keys and values; not the arguments of calls."""
        return (self.sibling(value) for value in nested(self.value))

    @property
    def written_names(self) -> list[str]:
        """The dotted names that are written in it; not those in the arguments of calls."""
        return [part.written for part in self.nested if part.written]
