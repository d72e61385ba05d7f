"""Evaluates variables under one start of a program: which code runs, which assignment holds, what callers pass."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import Protocol

from npulint.commands.training_config.followed import Calls, Followed, Passing
from npulint.commands.training_config.provenance.launch_values import Start
from npulint.commands.training_config.provenance.passing import Passed
from npulint.commands.training_config.provenance.plain import UNKNOWN, Found, joined
from npulint.facts.code import Table, Value
from npulint.facts.model import Span
from npulint.model.code.reached import Reached
from npulint.model.code.reached import home as home_of
from npulint.model.launches.options import HOLDERS
from npulint.model.values.context import Context
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope

# Names and spans of expressions as written, for provenance.


def written(expr: Expr) -> str:
    """A name with its attributes and items; empty for an expression that has none."""
    subscript = expr.attribute or expr.subscript
    if subscript is None:
        return expr.written
    holder, key = subscript
    name = written(holder)
    if not name or (isinstance(key, Expr) and not key.is_literal):
        return ""
    return f"{name}.{key}" if isinstance(key, str) else f"{name}[{key.literal!r}]"


def spot(value: Expr, site: CallSite | None) -> Span:
    """The span of an argument of a call; that of the call if not recorded."""
    if site is None:
        return Span.at(value.line)
    arguments = (*site.record.args, *(inner for _, inner in site.record.keywords))
    return _recorded(value.value, arguments, site.record.argument_spans) or site.span


def entry_spot(display: Expr, value: Expr) -> Span | None:
    """The span of a value in a dict display; None if not recorded."""
    table = display.value
    return _recorded(value.value, table.values, table.places) if isinstance(table, Table) else None


def _recorded(value: Value, values: tuple[Value, ...], spans: tuple[tuple[int, int, int, int], ...]) -> Span | None:
    return next((Span(*span) for argument, span in zip(values, spans, strict=False) if argument is value), None)


_BOUNDARIES = frozenset(("function", "lambda", "class", "module"))
_CALLERS = 64  # calls of one function that are visited


class Evaluator(Protocol):
    """What the parts of the tracer query each other through (`npulint.commands.training_config.tracer`)."""

    context: Context
    start: Start
    passed: Passed

    def found(self, here: Followed) -> Found:
        """The possible values of an expression."""

    def member(self, here: Followed, key: str | int) -> Found | None:
        """The value of an attribute or item of an object."""


class Variables:
    """Evaluates assignments and parameters."""

    def __init__(self, tracer: Evaluator) -> None:
        self._tracer = tracer

    # -- which code runs

    def hold(self, scope: Scope, calls: Calls = (), seen_from: Scope | None = None) -> bool | None:
        """Whether the conditions around a block within its function hold; those that are also around `seen_from` are
        ignored. None when undetermined."""
        answer: bool | None = True
        for ancestor in scope.ancestors:
            if ancestor.kind in _BOUNDARIES or (seen_from is not None and seen_from.is_inside(ancestor)):
                break
            if ancestor.kind in ("if", "else"):
                held = self._tracer.found(Followed(ancestor.test, calls)).truth
                if held is not None and held != (ancestor.kind == "if"):
                    return False
                answer = answer if held is not None else None
            elif ancestor.kind in ("loop", "except"):
                answer = None
        return answer

    def _is_reached(self, scope: Scope) -> bool:
        """Whether the program may reach a block at all."""
        return self._reached is None or (scope.path, home_of(scope.module, scope.block)) in self._reached

    @cached_property
    def _reached(self) -> set[tuple[str, int]] | None:
        context, start = self._tracer.context, self._tracer.start
        if start.entry not in context.project.modules:
            return None
        reached = context.memoize(Reached, lambda: Reached(context.project))
        return reached.all_of(sorted(start.modules), start.entry)

    # -- assignments

    def assigned(self, binds: list[AssignmentSite], here: Followed) -> tuple[list[Found], bool]:
        """The possible values of a name from its assignments (nearest first), and whether one certainly runs."""
        groups: dict[Scope, list[AssignmentSite]] = defaultdict(list)
        for bind in binds:
            groups[bind.scope.routine].append(bind)
        alternatives = []
        for routine, group in groups.items():
            parts, sure = self._in_order(group, here)
            alternatives.append((parts, sure and (routine.block == 0 or here.expr.scope.is_inside(routine))))
        if len(alternatives) > 1:  # a None that is assigned first is a placeholder
            alternatives = [
                alternative
                for alternative in alternatives
                if not all(part.values == (None,) for part in alternative[0])
            ] or alternatives
        return [part for parts, _ in alternatives for part in parts], len(alternatives) == 1 and alternatives[0][1]

    def _in_order(self, group: list[AssignmentSite], here: Followed) -> tuple[list[Found], bool]:
        """The assignments in one function, nearest first, up to one that certainly runs."""
        scope = here.expr.scope
        same = group[0].scope.routine is scope.routine
        parts: list[Found] = []
        sure = False
        for bind in group:
            later = same and bind.line >= here.expr.line  # assigned in the previous iteration
            if sure and not later:
                continue
            runs = self.hold(bind.scope, here.calls, scope)
            if runs is not False:
                assigned = self._tracer.found(here.to(bind.value))
                parts.append(assigned.written(bind.scope.path, bind.span, bind.target))
                sure = sure or (runs is True and not later)
        return parts, sure

    def assigned_elsewhere(self, expr: Expr) -> bool:
        """Whether the program assigns an attribute of the name `expr` to another object than one that holds options."""
        others = self._attributes.get(expr.written.rpartition(".")[2], set())
        return bool(others - {(expr.module.path, expr.written)})

    @cached_property
    def _attributes(self) -> dict[str, set[tuple[str, str]]]:
        attributes: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for path in self._tracer.start.modules:
            module = self._tracer.context.project.modules[path]
            for target, binds in module.dotted.items():
                head, _, last = target.rpartition(".")
                if head and not HOLDERS.search(head) and "[" not in last:
                    root = head.partition(".")[0]
                    if any(module.owner_of_self(root, b.block) < 0 for b in binds):
                        attributes[last].add((path, target))
        return attributes

    # -- parameters

    def parameter(self, function: Scope, here: Followed) -> Found:
        """The possible values of a parameter: the arguments of the program's calls, else its default."""
        name = here.expr.written
        if name not in function.parameters:
            return UNKNOWN  # *args and **kwargs
        parts = [self._argument(name, passing, calls, here) for passing, calls in self.callers(function, here)]
        if parts:
            return joined(parts) if len(parts) <= _CALLERS else joined(parts[:_CALLERS]).doubted()
        return self._default(name, function, here).doubted()

    def callers(self, function: Scope, here: Followed) -> list[tuple[Passing, Calls]]:
        """The call through which a function was entered; else its calls that run in this start, or all calls if none
        runs, because the actual start is then unknown."""
        followed = here.caller(function)
        if followed is not None:
            return [followed]
        passings = [
            passing
            for passing in self._tracer.passed.of(function)[: _CALLERS + 1]
            if self._is_reached(passing.site.scope)
        ]
        running = [passing for passing in passings if self.hold(passing.site.scope) is not False]
        return [(passing, ()) for passing in running or passings]

    def _argument(self, name: str, passing: Passing, calls: Calls, here: Followed) -> Found:
        value = passing.argument(name)
        if value is None:
            return self._left_out(name, passing, calls, here)
        argument = self._tracer.found(Followed(value, calls))
        return argument.written(passing.site.path, spot(value, passing.site), name)

    def _left_out(self, name: str, passing: Passing, calls: Calls, here: Followed) -> Found:
        """The value of a parameter that a call does not name: an entry of ``**settings`` if there is one, else the
        default."""
        spread = [passing.site.expr(value) for key, value in passing.keywords if key == "**"]
        for value in spread:
            member = self._tracer.member(Followed(value, calls), name)
            if member is not None:
                return member
        default = self._default(name, passing.function, here)
        return default.doubted() if spread or passing.is_open(name) else default

    def _default(self, name: str, function: Scope, here: Followed) -> Found:
        default = function.default(name)
        if default is None:
            return UNKNOWN
        possible = self._tracer.found(here.to(default)).written(function.path, Span.at(default.line), name)
        return possible.doubted() if any(map(_configures, function.decorators)) else possible


def _configures(decorator: Expr) -> bool:
    """Whether a decorator makes parameters configurable by a bindings file (gin)."""
    callee = decorator.call.callee if decorator.call is not None else decorator
    return callee.written.rpartition(".")[2] == "configurable"


def comes_later(bind: AssignmentSite, expr: Expr) -> bool:
    """Whether an assignment follows an expression in the same function, outside of loops."""
    return bind.scope.routine is expr.scope.routine and bind.line >= expr.line and expr.scope.loop is None
