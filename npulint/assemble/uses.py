"""Uses: where in a module a name or the result of a call is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Function, Op, Ref, SequenceDisplay, Table, Value

_APART = frozenset(  # what is asked of a tensor without computing with it
    """shape dtype name device op graph get_shape set_shape _set_shape ndims rank as_list merge_with
    is_compatible_with consumers""".split()
)

Key = str | int | tuple[int]
"""A name as written, the index of a call, or the block of a function value (in a tuple)."""


class Use(msgspec.Struct, frozen=True):
    """One place that reads a value: a ``call`` (`index` among the calls), a ``bind`` or a ``return``. `slot` is the
    position or keyword of a call, -1 for the object whose method is called; of a returned tuple the element.
    `element` is the part of the value that is read; None for all of it."""

    kind: str
    index: int
    block: int
    line: int
    slot: int | str = 0
    element: int | None = None


class Uses:
    """The uses in one module. `by_last` has those of attributes by their last segment, with the names as written."""

    def __init__(self, module: Module) -> None:
        self.of: dict[Key, list[Use]] = defaultdict(list)
        self.by_last: dict[str, list[tuple[str, Use]]] = defaultdict(list)
        code = module.code
        for index, call in enumerate(code.calls):
            owner = _owner(call.callee)
            if owner is not None:
                self._add(owner, "call", index, call.block, call.line, -1)
            given: list[tuple[int | str, Value]] = [*enumerate(call.args), *call.keywords]
            for slot, value in given:
                self._add(value, "call", index, call.block, call.line, slot)
        for index, bind in enumerate(code.assignments):
            self._add(bind.value, "bind", index, bind.block, bind.line, 0)
        for index, returned in enumerate(code.returns):
            values = returned.value.items if isinstance(returned.value, SequenceDisplay) else (returned.value,)
            slots: list[int | str] = (
                list(range(len(values))) if isinstance(returned.value, SequenceDisplay) else ["all"]
            )
            for slot, value in zip(slots, values, strict=True):
                self._add(value, "return", index, returned.block, returned.line + 1, slot)

    def _add(self, value: Value, kind: str, index: int, block: int, line: int, slot: int | str) -> None:
        for key, element in leaves(value):
            use = Use(kind, index, block, line, slot, element)
            self.of[key].append(use)
            if isinstance(key, str) and "." in key:
                head, _, last = key.rpartition(".")
                self.by_last[last].append((key, use))
                if head != "self":
                    self.of[head].append(use)


def leaves(value: Value) -> Iterator[tuple[Key, int | None]]:
    """The names, results and functions that a value is computed from, with the element that is taken of each."""
    queue = [value]
    while queue:
        part = queue.pop()
        if isinstance(part, Ref):
            if part.name.rpartition(".")[2] not in _APART:
                yield part.name, None
        elif isinstance(part, CallResult):
            yield part.call, None
        elif isinstance(part, Function):
            yield (part.block,), None
        elif isinstance(part, SequenceDisplay):
            queue += part.items
        elif isinstance(part, Table):
            queue += part.values
        elif isinstance(part, Op):
            taken = _taken(part)
            if taken is not None:
                yield taken
            else:
                queue += _operands(part)


def _taken(part: Op) -> tuple[Key, int] | None:
    """``f(x)[0]``, also as ``first, second = f(x)``."""
    if part.op != "[]" or not isinstance(part.operands[0], CallResult) or not isinstance(part.operands[1], Const):
        return None
    element = part.operands[1].value
    return (part.operands[0].call, element) if isinstance(element, int) else None


def _operands(part: Op) -> tuple[Value, ...]:
    if part.op == "if":
        return part.operands[1:]
    if part.op == ".":
        attribute = part.operands[1]
        return () if isinstance(attribute, Const) and attribute.value in _APART else part.operands[:1]
    return part.operands


def _owner(callee: Value) -> Value | None:
    """What a method is called on; None for a function, and for what asks a tensor for its shape."""
    if isinstance(callee, Op) and callee.op == ".":
        return callee.operands[0] if _operands(callee) else None
    if isinstance(callee, Ref):
        head, _, last = callee.name.rpartition(".")
        return Ref(head) if head and last not in _APART else None
    return callee if isinstance(callee, CallResult) else None
