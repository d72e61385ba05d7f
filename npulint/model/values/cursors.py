"""Cursors: a block of code, a call and an expression, each at its place, that answer what is known of them there.

A recogniser is handed a `CallSite` (or the `Scope` of a module) and goes on from there: its arguments are `Expr`, which
know their values, their canonical names and the calls that made them. Nobody carries modules, blocks and lines by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import (
    UNKNOWN,
    Assignment,
    Call,
    CallResult,
    Const,
    Function,
    NameUse,
    Op,
    Ref,
    Scalar,
    Value,
    argument,
    receiver_of,
)
from npulint.facts.model import Span
from npulint.facts.values import PossibleValues
from npulint.model.code.bindings import may_be_passed, taker
from npulint.model.code.module import Module
from npulint.model.values import callers, flow, mappings, objects
from npulint.model.values.blocks import BlockCursor
from npulint.model.values.context import Context
from npulint.model.values.expressions import Expression
from npulint.model.values.walker import memoized

_PARTS = lazy_compile(r"\.(\w+)|\[([^\]]*)\]")


class Scope(BlockCursor):
    """One block of code with what stands in it: expressions, calls, assignments, and who calls it."""

    __slots__ = ()

    @property
    def test(self) -> Expr:
        """The condition of an ``if``, ``else`` or ``while``; of a ``for`` its iterable, of a ``with`` its context."""
        record = self.record
        return Expr(record.test, self.at(max(record.parent, 0)), record.line)

    # -- what is in it -----------------------------------------------------------------------------

    def used(self, record: NameUse) -> Expr:
        """A name that is used in its module, at its place."""
        return Expr(Ref(record.name), self.at(record.block), record.line)

    def expr(self, value: Value, line: int) -> Expr:
        """An expression that stands at `line` of it."""
        return Expr(value, self, line)

    def named(self, written: str, line: int) -> Expr:
        """The dotted name `written` at `line` of it."""
        return Expr(Ref(written), self, line)

    def call(self, index: int) -> CallSite:
        """Call number `index` of the module."""
        site: CallSite | None = self.module.call_sites[index]
        return call_at(self.context, self.module, index) if site is None else site

    @property
    def calls(self) -> list[CallSite]:
        """The calls in a function, or at module level, but for those in functions within it."""
        block = -1 if self.kind == "module" else self.block
        sites = self.module.call_sites
        return [sites[index] or self.call(index) for index in self.module.calls_in.get(block, ())]

    @property
    def all_calls(self) -> list[CallSite]:
        """All calls of its module, in text order."""
        sites = self.module.call_sites
        return sites[:] if None not in sites else [self.call(index) for index in range(len(sites))]

    def calls_named(self, *lasts: str) -> list[CallSite]:
        """The calls of its module whose callee, as written, ends with one of the segments `lasts`; in text order."""
        return [self.call(index) for index in self.module.calls_of(*lasts)]

    @property
    def assignments(self) -> list[AssignmentSite]:
        """All assignments of its module."""
        return [assignment_at(self.context, self.module, record) for record in self.module.code.assignments]

    def assignments_to(self, *lasts: str) -> list[AssignmentSite]:
        """The assignments of its module to dotted names and elements whose last segment is one of `lasts`."""
        assignments = [
            bind for name, binds in self.module.dotted.items() if name.rpartition(".")[2] in lasts for bind in binds
        ]
        return [assignment_at(self.context, self.module, bind) for bind in assignments]

    @property
    def local_assignments(self) -> list[AssignmentSite]:
        """The assignments in a function, or at module level, but for those in functions within it."""
        block = -1 if self.kind == "module" else self.block
        records = self.module.assignments_in.get(block, ())
        return [assignment_at(self.context, self.module, record) for record in records]

    @property
    def returns(self) -> list[Expr]:
        """What a function returns or yields."""
        records = self.module.returns.get(self.block, ())
        return [
            Expr(return_record.value, self.at(return_record.block), return_record.line + 1) for return_record in records
        ]

    def assigned(self, name: str) -> list[Expr]:
        """The values that assignments in this very scope (class body, function, module) give to a plain name."""
        return [self._value(bind) for bind in self.module.names.get(self.block, {}).get(name, ())]

    def _value(self, bind: Assignment) -> Expr:
        return Expr(bind.value, self.at(bind.block), bind.line)

    # -- a function and who calls it ---------------------------------------------------------------

    def default(self, parameter: str) -> Expr | None:
        """The default of a parameter; None without one."""
        record = self.record
        if parameter not in record.params:
            return None
        position = record.params.index(parameter) - (len(record.params) - len(record.defaults))
        around = self.at(max(record.parent, 0))
        return Expr(record.defaults[position], around, record.line) if position >= 0 else None

    @property
    def defaults(self) -> list[tuple[str, Expr]]:
        """The parameters that have defaults, with these."""
        record = self.record
        around = self.at(max(record.parent, 0))
        names = record.params[-len(record.defaults) :] if record.defaults else ()
        return [(name, Expr(value, around, record.line)) for name, value in zip(names, record.defaults, strict=True)]

    @property
    def callers(self) -> list[CallSite]:
        """The project's calls of a function (those of a class count for its ``__init__``)."""
        sites = callers.callers(self)
        return [call_at(self.context, home, index) for home, index in sites]

    def passed(self, parameter: str) -> list[tuple[CallSite, Expr | None]]:
        """For each of the project's calls of a function what it passes for a parameter; None where that is not given
        or comes by ``*args``."""
        arguments = []
        for (home, index), value in callers.passed(self, parameter):
            call = call_at(self.context, home, index)
            arguments.append((call, call.from_options(parameter) if value is None else call.expr(value)))
        return arguments

    @property
    def bases(self) -> list[Expr]:
        """The base classes of a class."""
        record = self.record
        around = self.at(max(record.parent, 0))
        return [Expr(base, around, record.line) for base in record.bases]

    @property
    def decorators(self) -> list[Expr]:
        """The decorators of a function or class."""
        record = self.record
        around = self.at(max(record.parent, 0))
        return [Expr(decorator, around, record.line) for decorator in record.decorators]


class CallSite(msgspec.Struct, frozen=True, eq=False):
    """One call of the code. `index` is its number in the module, `record` the call as read. There is one object for
    each call, so calls are compared by identity. Get one by `call_at`."""

    scope: Scope
    index: int
    record: Call

    @property
    def context(self) -> Context:
        """The project that it belongs to."""
        return self.scope.context

    @property
    def module(self) -> Module:
        """The module that it stands in."""
        return self.scope.module

    @property
    def path(self) -> str:
        """The path of its file."""
        return self.scope.module.path

    @property
    def line(self) -> int:
        """The line that it begins on."""
        return self.record.line

    @property
    def span(self) -> Span:
        """Where it stands in its file."""
        return Span.of(self.record)

    @property
    def name(self) -> str:
        """The canonical name of what it calls (``torch.optim.SGD``, ``net:Net.forward``, ``?name`` if unknown)."""
        canonical = self.scope.module.callees[self.index]
        return canonical if canonical is not None else self.scope.context.names.of_call(self.scope.module, self.index)

    @property
    def last(self) -> str:
        """The last segment of what it calls, as written (``step`` in ``self.opt.step()``)."""
        return self.scope.module.callee_name(self.index)

    @property
    def written(self) -> str:
        """The dotted name that it calls, as written; empty for a method of another call's result."""
        callee = self.record.callee
        return callee.name if isinstance(callee, Ref) else ""

    @property
    def result(self) -> Expr:
        """What it gives."""
        return Expr(CallResult(self.index), self.scope, self.record.line)

    @property
    def callee(self) -> Expr:
        """What is called."""
        return self.expr(self.record.callee)

    @property
    def receiver(self) -> Expr | None:
        """The object whose method it calls; None for a plain function."""
        value = receiver_of(self.record)
        return None if value is None else self.expr(value)

    def expr(self, value: Value) -> Expr:
        """A value that stands where the call stands."""
        return Expr(value, self.scope, self.record.line)

    # -- its arguments -----------------------------------------------------------------------------

    @property
    def args(self) -> list[Expr]:
        """The positional arguments."""
        return [self.expr(value) for value in self.record.args]

    @property
    def keywords(self) -> dict[str, Expr]:
        """The arguments by keyword; ``**options`` stands under ``**``."""
        return {key: self.expr(value) for key, value in self.record.keywords}

    @property
    def arguments(self) -> list[Expr]:
        """All arguments, the positional ones first."""
        return [*self.args, *(self.expr(value) for _, value in self.record.keywords)]

    def argument(self, name: str, position: int = -1) -> Expr | None:
        """What is passed for a parameter by keyword or position (-1: keyword only), also by the ``functools.partial``
        that is called; None when it is not given."""
        value = argument(self.record, name, position)
        if value is not None:
            return self.expr(value)
        passed = self.from_options(name)
        return self._from_partial(name) if passed is None and name else passed

    def _from_partial(self, name: str) -> Expr | None:
        """What the partial that is called passes by a keyword."""
        makers = _partials(self) if self.written and callers.has_partials(self.context) else ()
        return makers[0].argument(name) if len(makers) == 1 else None

    def from_options(self, name: str) -> Expr | None:
        """What ``**options`` passes by a keyword; None when it surely does not, or is unknown."""
        for options in self._options if name else ():
            exprs = [mapping.get(name) for mapping in mappings.mappings(options)]
            if len(exprs) == 1 and exprs[0] is not None:
                return exprs[0]
            if any(expr is not None for expr in exprs):
                return self.expr(Op("[]", (options.value, Const(name))))
        return None

    @property
    def _options(self) -> list[Expr]:
        """What is passed by ``**``."""
        return [self.expr(value) for key, value in self.record.keywords if key == "**"]

    def has_keyword(self, name: str) -> bool:
        """Whether an argument is given by this keyword."""
        return any(key == name for key, _ in self.record.keywords)

    def argument_value(self, name: str, position: int = -1) -> PossibleValues | None:
        """What a parameter may be given; None when it is not given."""
        value = self.argument(name, position)
        return None if value is None else value.known

    @property
    def starred(self) -> bool:
        """Whether ``*args`` or ``**kwargs`` may give more than is seen."""
        return self.has_unknown_options or any(isinstance(a, Op) and a.op == "star" for a in self.record.args)

    @property
    def has_unknown_options(self) -> bool:
        """Whether ``**options`` may give keywords that are not seen."""
        mappingses = [mappings.mappings(options) for options in self._options]
        return any(not mappingse or not all(mapping.complete for mapping in mappingse) for mappingse in mappingses)

    @property
    def spread(self) -> list[tuple[str, Expr]]:
        """The keywords, with their values, that ``**options`` is known to pass."""
        passed_mappings = [mapping for options in self._options for mapping in mappings.mappings(options)]
        pairs = [pair for mapping in passed_mappings for pair in mapping.last_entries]
        return [(key.text, value) for key, value in pairs if key.text]

    # -- where it leads ----------------------------------------------------------------------------

    @property
    def target(self) -> Scope | None:
        """The project's own function or class that it calls; None for all others."""
        return scope_named(self.context, self.name)

    @property
    def method(self) -> CallSite | None:
        """The call of a method on its result (``f().g()``: g of f); None without one."""
        method_call = self.module.methods.get(self.index)
        return None if method_call is None else self.scope.call(method_call[0])

    @property
    def assignments(self) -> list[AssignmentSite]:
        """The assignments of its module that keep its very result."""
        assignments = self.module.derive(_kept_results).get(self.index, ())
        return [assignment_at(self.context, self.module, assignment) for assignment in assignments]


@memoized(meanwhile=tuple)
def _partials(call: CallSite) -> tuple[CallSite, ...]:
    """The calls of ``functools.partial`` that may have made what a call calls."""
    return tuple([call_at(call.context, home, index) for home, index in objects.partials(call.callee)])


def _kept_results(module: Module) -> dict[int, list[Assignment]]:
    """The assignments that keep the very result of a call, by the call."""
    results: dict[int, list[Assignment]] = {}
    for assignment in module.code.assignments:
        if isinstance(assignment.value, CallResult):
            results.setdefault(assignment.value.call, []).append(assignment)
    return results


class Expr(Expression, frozen=True):
    """An expression at its place: `value` as read, in `scope`, at `line`."""

    scope: Scope

    # -- what it is --------------------------------------------------------------------------------

    @property
    def known(self) -> PossibleValues:
        """The scalars that it may have."""
        return flow.known(self)

    @property
    def single(self) -> Scalar:
        """Its value if there is exactly one, else None."""
        return self.known.single

    # -- what it is made of ------------------------------------------------------------------------

    @property
    def call(self) -> CallSite | None:
        """The call whose result it is; None for everything else."""
        return self.scope.call(self.value.call) if isinstance(self.value, CallResult) else None

    @property
    def function(self) -> Scope | None:
        """The function or class that is defined there, or the lambda; None for everything else."""
        return self.scope.at(self.value.block) if isinstance(self.value, Function) else None

    @property
    def mentioned(self) -> Iterator[Expr]:
        """It and every expression written in it, as `nested`; of calls also what is called and all their arguments."""
        queue = [self]
        while queue:
            for part in queue.pop().nested:
                yield part
                call = part.call
                queue += [] if call is None else [call.callee, *call.arguments]

    # -- where it comes from -----------------------------------------------------------------------

    @property
    def sites(self) -> list[CallSite]:
        """The calls that may have made the object; own functions are followed into their results, and parameters out
        to their callers. Empty when nothing is known."""
        sites = objects.sites(self)
        return [call_at(self.context, home, index) for home, index in sites]

    @property
    def displays(self) -> list[Expr]:
        """The list, tuple, set or dict displays that it may be."""
        return objects.displays(self)

    @property
    def functions(self) -> list[Scope]:
        """The project's own functions that it may be: a name, a lambda, a partial, a bound method."""
        definitions = objects.functions(self)
        return [scope_at(self.context, home, block) for home, block in definitions]

    @property
    def assignments(self) -> list[AssignmentSite]:
        """The assignments that may give a name its value here; none for everything else."""
        if not isinstance(self.value, Ref):
            return []
        bindings = self.context.bindings(self.module, self.value.name, self.scope.block, self.line)
        return [assignment_at(self.context, home, bind) for home, bind in bindings]

    @property
    def parameter_of(self) -> Scope | None:
        """The innermost function around it that has a parameter of its name; None for everything else."""
        function = taker(self.module, self.written, self.scope.block) if self.written else -1
        return None if function < 0 else self.scope.at(function)

    @property
    def passed_to(self) -> Scope | None:
        """The function around it whose callers may give it its value: it is a parameter's name, which no assignment on
        the way has certainly replaced; None for everything else."""
        function = self.parameter_of
        if function is None:
            return None
        bindings = self.context.bindings(self.module, self.written, self.scope.block, self.line)
        return function if may_be_passed(self.module, function.block, self.scope.block, bindings) else None

    @property
    def sources(self) -> list[Expr]:
        """One step back: what is assigned to a name here, and what the project's calls pass for a parameter; for what
        an own function gives, its returned values; for an element with a literal index, those of the displays that are
        known. Empty for everything else."""
        subscript = self.subscript
        if subscript is not None:
            shown = objects.elements(subscript[0], subscript[1].literal) if subscript[1].is_literal else iter(())
            return [expr for expr in shown if expr is not None]
        call = self.call
        if call is not None:
            target = call.target
            return [] if target is None or target.kind == "class" else target.returns
        exprs = [assignment.value for assignment in self.assignments]
        function = self.passed_to
        if function is not None:
            site = self.context.assumed.get((function.path, function.block))
            given = [(call, expr) for call, expr in function.passed(self.written) if expr is not None]
            exprs += [expr for call, expr in given if site is None or site == (call.path, call.index)]
        return exprs


class AssignmentSite(msgspec.Struct, frozen=True, eq=False):
    """One assignment. `record` is the assignment as read."""

    scope: Scope
    record: Assignment

    @property
    def target(self) -> str:
        """What is assigned to, as written (``self.x``, ``op.parameter_map[precision_mode].s``)."""
        return self.record.target

    @property
    def name(self) -> str:
        """The canonical name of what is assigned to (``torch.backends.cudnn.benchmark``)."""
        return self.scope.context.names.of_name(self.scope.module, self.target, self.scope.block, self.line)

    @property
    def value(self) -> Expr:
        """What is assigned."""
        return Expr(self.record.value, self.scope, self.record.line)

    @property
    def key(self) -> Expr:
        """The computed index of an element that is assigned to (``x[x > 1] = 0``)."""
        return self.computed_key if self.target.endswith("[*]") else self.computed_key.sibling(UNKNOWN)

    @property
    def is_call(self) -> bool:
        """Whether it is a ``setattr``."""
        return isinstance(self.record.key, Const) or self.target.endswith(".*")

    @property
    def computed_key(self) -> Expr:
        """The last computed index or attribute name of its target (``op.parameter_map[name].s = …``)."""
        return Expr(self.record.key, self.scope, self.record.line)

    @property
    def holder(self) -> Expr:
        """The object of which an element is assigned (``x[…] = 0``); for others what is assigned to."""
        return self.leading(self.target.partition("[")[0])

    def leading(self, written: str) -> Expr:
        """What a leading part of its target is, as it is written there: the object whose attribute is assigned. Where
        the part goes beyond the last call of the target, it is of what that very call gives."""
        called, (_, brackets, rest) = self.record.called, written.rpartition("()")
        if not brackets or called == UNKNOWN or "()" in self.target[len(written) :]:
            return Expr(Ref(written), self.scope, self.line)
        value: Value = called
        for attribute, key in _PARTS.findall(rest):
            operator = "." if attribute else "[]"
            value = Op(operator, (value, UNKNOWN if key == "*" else Const(attribute or key)))
        return Expr(value, self.scope, self.line)

    @property
    def line(self) -> int:
        """The line that it begins on."""
        return self.record.line

    @property
    def span(self) -> Span:
        """Where it stands in its file."""
        return Span.of(self.record)


def scope_at(context: Context, module: Module, block: int) -> Scope:
    """The one scope of a block; block 0 is the module itself."""
    return Scope.of(context, module, block)


def scope_named(context: Context, name: str) -> Scope | None:
    """The project's own function or class with this canonical name."""
    definition = context.names.function(name)
    return None if definition is None else scope_at(context, *definition)


def call_at(context: Context, module: Module, index: int) -> CallSite:
    """The one cursor of call number `index` of a module."""
    site: CallSite | None = module.call_sites[index]
    if site is None:
        record = module.code.calls[index]
        site = module.call_sites[index] = CallSite(Scope.of(context, module, record.block), index, record)
    return site


def expr_at(context: Context, module: Module, value: Value, block: int, line: int) -> Expr:
    """An expression of a module at its place."""
    return Expr(value, scope_at(context, module, block), line)


def assignment_at(context: Context, module: Module, record: Assignment) -> AssignmentSite:
    """An assignment of a module."""
    return AssignmentSite(scope_at(context, module, record.block), record)


def module_scopes(context: Context) -> list[Scope]:
    """The modules of a project."""
    return [scope_at(context, module, 0) for module in context.project.modules.values()]
