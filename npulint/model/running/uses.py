"""The uses of names, call results and functions in a module."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import msgspec

from npulint.facts.code import (
    CallResult,
    Const,
    Function,
    Op,
    Ref,
    SequenceDisplay,
    Table,
    Value,
    nested,
    written_values,
)
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.model.values.walker import memoized

_APART = frozenset(  # attributes of a tensor that do not use its values
    """shape dtype name device op graph get_shape set_shape _set_shape ndims rank as_list merge_with
    is_compatible_with consumers""".split()
)


class Use(msgspec.Struct, frozen=True):
    """One place that reads a name, a result or a function: `read`, at its place. `element` is the element of a result
    that is read; None for the whole result."""

    read: Expr
    element: int | None


class Passed(Use, frozen=True):
    """It is an argument of a call. `slot` is the position or keyword, -1 for the object whose method is called."""

    call: CallSite
    slot: int | str

    @property
    def place(self) -> object:
        """The identity of the use."""
        return self.call, self.slot


class Assigned(Use, frozen=True):
    """It, or a value computed from it, is assigned."""

    assignment: AssignmentSite

    @property
    def place(self) -> object:
        """The identity of the use."""
        return self.assignment


class Returned(Use, frozen=True):
    """A function returns it. `slot` is the element of a returned tuple; ``all`` for a single value."""

    function: Scope | None
    slot: int | str
    index: int

    @property
    def place(self) -> object:
        """The identity of the use."""
        return self.read.scope.path, self.index, self.slot


AnyUse = Passed | Assigned | Returned


class Uses:
    """The uses in one module: of dotted names as written, and of call results and functions by number. `by_last` has
    the uses of attributes by their last segment."""

    def __init__(self, module: Scope) -> None:
        self.of_names: dict[str, list[AnyUse]] = defaultdict(list)
        self.of_results: dict[int, list[AnyUse]] = defaultdict(list)
        self.of_functions: dict[int, list[AnyUse]] = defaultdict(list)
        self.by_last: dict[str, list[AnyUse]] = defaultdict(list)
        for uses in (_by_calls(module), _by_assignments(module), _by_returns(module)):
            for use in uses:
                self._add(use)

    def _add(self, use: AnyUse) -> None:
        value = use.read.value
        if isinstance(value, CallResult):
            self.of_results[value.call].append(use)
        elif isinstance(value, Function):
            self.of_functions[value.block].append(use)
        elif isinstance(value, Ref):
            self.of_names[value.name].append(use)
            head, _, last = value.name.rpartition(".")
            if head:
                self.by_last[last].append(use)
            if head and head != "self":
                self.of_names[head].append(use)


def _by_calls(module: Scope) -> Iterator[Passed]:
    for call in module.all_calls:
        owner = _owner(call.record.callee)
        owned: list[tuple[int | str, Value]] = [] if owner is None else [(-1, owner)]
        for slot, value in (*owned, *enumerate(call.record.args), *call.record.keywords):
            for part, element in leaves(value):
                yield Passed(call.expr(part), element, call, slot)


def _by_assignments(module: Scope) -> Iterator[Assigned]:
    for assignment in module.assignments:
        value = assignment.value
        for part, element in leaves(value.value):
            yield Assigned(value.sibling(part), element, assignment)


def _by_returns(module: Scope) -> Iterator[Returned]:
    for index, record in enumerate(module.module.code.returns):
        scope = module.at(record.block)
        slots: Iterable[tuple[int | str, Value]] = (("all", record.value),)
        if isinstance(record.value, SequenceDisplay):
            slots = enumerate(record.value.items)
        for slot, value in slots:
            for part, element in leaves(value):
                yield Returned(scope.expr(part, record.line + 1), element, scope.function, slot, index)


def leaves(value: Value) -> Iterator[tuple[Value, int | None]]:
    """The names, results and functions that a value is computed from, with the element used of each."""
    queue = [value]
    while queue:
        part = queue.pop()
        if isinstance(part, Ref):
            if part.name.rpartition(".")[2] not in _APART:
                yield part, None
        elif isinstance(part, CallResult | Function):
            yield part, None
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


def _taken(part: Op) -> tuple[CallResult, int] | None:
    """The element of a result: ``f(x)[0]``, or ``first, second = f(x)``."""
    if part.op != "[]" or not isinstance(part.operands[0], CallResult) or not isinstance(part.operands[1], Const):
        return None
    element = part.operands[1].value
    return (part.operands[0], element) if isinstance(element, int) else None


def _operands(part: Op) -> tuple[Value, ...]:
    """The operands that a tensor is computed from, without conditions, shapes and names."""
    if part.op == "if":
        return part.operands[1:]
    if part.op == ".":
        attribute = part.operands[1]
        return () if isinstance(attribute, Const) and attribute.value in _APART else part.operands[:1]
    return part.operands


def _owner(callee: Value) -> Value | None:
    """The object whose method is called; None for functions, and for methods that return the shape of a tensor."""
    if isinstance(callee, Op) and callee.op == ".":
        return callee.operands[0] if _operands(callee) else None
    if isinstance(callee, Ref):
        head, _, last = callee.name.rpartition(".")
        return Ref(head) if head and last not in _APART else None
    return callee if isinstance(callee, CallResult) else None


def is_never_read(call: CallSite) -> bool:
    """Whether all that is done with the result of a call is to assign it to names that are never read: in its function,
    or at the top of a module that nothing imports."""
    names = {assignment.target for assignment in call.assignments}
    if not names or call.method is not None or any("." in name or "[" in name for name in names):
        return False
    routine = call.scope.routine
    if routine.kind != "function" and call.path in call.context.project.imported_paths:
        return False
    return names.isdisjoint(_read_names(routine))


@memoized(meanwhile=set)
def _read_names(routine: Scope) -> set[str]:
    """The first segments of the names that a function, or a module, reads, also in functions within it."""
    code = routine.module.code
    values = [(value, block) for value, block, _ in written_values(code)]
    values += [(expression.value, expression.block) for expression in code.torch_expressions]
    inside = [value for value, block in values if routine.at(block).is_inside(routine)]
    parts = (part for value in inside for part in nested(value))
    read = {part.name.partition(".")[0] for part in parts if isinstance(part, Ref)}
    return read | {use.name.partition(".")[0] for use in code.name_uses}
