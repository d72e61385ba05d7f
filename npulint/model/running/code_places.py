"""Cursors for places other than calls and assignments: imports, used names, PyTorch expressions, command line
options."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.data.names import canonical
from npulint.facts import code
from npulint.facts.code import Import, NameUse, Op, TorchExpression
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.launches.options import Option
from npulint.model.values.context import Context
from npulint.model.values.cursors import AssignmentSite, Expr, Scope, assignment_at, scope_at


class ImportPlace(msgspec.Struct, frozen=True, eq=False):
    """One name bound by an import. `record` is the import as read."""

    scope: Scope
    record: Import

    @property
    def span(self) -> Span:
        """The place of the import."""
        return Span.of(self.record)

    @property
    def name(self) -> str:
        """The canonical name of the imported object."""
        record = self.record
        return canonical(f"{record.module}.{record.name}") if record.name else record.module


class NamePlace(msgspec.Struct, frozen=True, eq=False):
    """One use of a name other than a call or an assignment. `name` is canonical, `record` is the use as read."""

    scope: Scope
    record: NameUse
    name: str

    @property
    def line(self) -> int:
        """The line that it stands on."""
        return self.record.line

    @property
    def span(self) -> Span:
        """The place of the name."""
        return Span.of(self.record)


class ExpressionPlace(msgspec.Struct, frozen=True, eq=False):
    """One recorded expression of PyTorch code. `record` is the expression as read."""

    scope: Scope
    record: TorchExpression

    @property
    def expression(self) -> Expr:
        """The expression itself."""
        return Expr(self.record.value, self.scope, self.record.line)

    @property
    def span(self) -> Span:
        """Where it stands in its file."""
        return Span.of(self.record)


class OptionPlace(msgspec.Struct, frozen=True, eq=False):
    """The definition of one command line option."""

    scope: Scope
    record: Option

    @property
    def default(self) -> Expr:
        """The value of the option when it is not passed."""
        return Expr(self.record.value, self.scope, self.record.call.line)

    @property
    def choices(self) -> list[Expr]:
        """The values among which it must be; none if it may have any."""
        values = (value for key, value in self.record.call.keywords if key == "choices")
        return [item for value in values for item in Expr(value, self.scope, self.record.call.line).items]

    @property
    def span(self) -> Span:
        """The place of the call that defines it."""
        return Span.of(self.record.call)


def options_named(context: Context, name: str) -> list[OptionPlace]:
    """The command line options of a project with this name."""
    options = context.options.table.get(name, ())
    return [OptionPlace(scope_at(context, option.module, option.call.block), option) for option in options]


def imports(module: Scope) -> list[ImportPlace]:
    """All names imported by a module, at any level."""
    return [ImportPlace(module.at(record.block), record) for record in module.module.code.imports]


def imports_package(module: Scope, *packages: str) -> bool:
    """Whether a module imports something from one of these top-level packages."""
    return any(record.module.partition(".")[0] in packages for record in module.module.code.imports)


def names_used(module: Scope, start: str) -> Iterator[NamePlace]:
    """The uses (other than calls) of names whose canonical name starts with `start`."""
    names, plain = module.context.names, module.module.plain
    for record in module.module.code.name_uses:
        name = plain.get(record.name) or names.of_name(module.module, record.name, record.block, record.line)
        if name.startswith(start):
            yield NamePlace(module.at(record.block), record, name)


def expressions(module: Scope, *kinds: str) -> Iterator[ExpressionPlace]:
    """The recorded expressions of these kinds in a module (see `TorchExpression`)."""
    for record in module.module.code.torch_expressions:
        if record.kind in kinds:
            yield ExpressionPlace(module.at(record.block), record)


def returned_values(module: Scope) -> list[Expr]:
    """What the functions of a module return or yield, each at the line where it stands."""
    return [
        module.at(return_record.block).expr(return_record.value, return_record.line)
        for return_record in module.module.code.returns
    ]


def item_assignments(name: Expr) -> list[tuple[str, AssignmentSite]]:
    """The assignments of elements of a name in its module (``name[key] = …``), each with its key, ``*`` for a computed
    one."""
    prefix = f"{name.written}["
    return [
        (target[len(prefix) : -1], assignment_at(name.context, name.module, record))
        for target, records in name.module.dotted.items()
        if name.written and target.startswith(prefix) and target.endswith("]")
        for record in records
    ]


def operations(module: Scope, *operators: str) -> Iterator[Expr]:
    """The operations by one of `operators` that are written anywhere in a module, also in other expressions."""
    written = module.module.derive(operations_by_operator)
    for operator in operators:
        for part, block, line in written.get(operator, ()):
            yield module.at(block).expr(part, line)


def operations_by_operator(module: Module) -> dict[str, list[tuple[Op, int, int]]]:
    """All operations that are written in a module (expression, block, line) by operator; use `Module.derive`."""
    operator: dict[str, list[tuple[Op, int, int]]] = {}
    for operation in code.written_operations(module.code):
        operator.setdefault(operation[0].op, []).append(operation)
    return operator


def written_values(module: Scope) -> Iterator[Expr]:
    """The values that a module assigns, returns, passes to calls and tests in conditions."""
    for assignment in module.assignments:
        yield assignment.value
    yield from returned_values(module)
    for call in module.all_calls:
        yield from call.arguments
    for block in range(len(module.module.blocks)):
        yield module.at(block).test
