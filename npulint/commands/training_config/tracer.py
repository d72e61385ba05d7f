"""Evaluates expressions under one start of a program, with the provenance of their values.

`npulint.model.values.flow` merges all starts of a script; here one start is followed, conditions are evaluated where
its options decide them, and every value keeps the places through which it came."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import msgspec

from npulint.commands.training_config.configs.lookup import Configs
from npulint.commands.training_config.execution import Execution, ProgramSources
from npulint.commands.training_config.followed import Followed, option_default
from npulint.commands.training_config.provenance.holders import Holders
from npulint.commands.training_config.provenance.launch_values import Start, defined
from npulint.commands.training_config.provenance.options import OptionValues
from npulint.commands.training_config.provenance.passing import Passed
from npulint.commands.training_config.provenance.plain import (
    CUT,
    UNKNOWN,
    Found,
    ValuePairs,
    canonical,
    computed,
    joined,
    literal,
    unknown,
    whole,
)
from npulint.commands.training_config.provenance.results import Results
from npulint.commands.training_config.provenance.variables import Variables, comes_later, written
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Ref, Scalar
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep, Traced
from npulint.model.launches.options import Option
from npulint.model.launches.project_launches import Launch
from npulint.model.values.context import Context
from npulint.model.values.cursors import AssignmentSite, Expr, Scope
from npulint.model.values.walker import walker

_T = TypeVar("_T")
_DEPTH = 24  # expressions within one another
_STEPS = 1500  # expressions visited per query
_CONSTANTS = ("tensorflow.", "torch.", "numpy.", "torch_npu.", "npu_bridge.", "npu_device.", "apex.", "keras.", "cv2.")
_ENUMERATED = lazy_compile(r"^(?:torchvision|PIL)\..*\b(?:InterpolationMode|Resampling|Image)\.[A-Z][A-Z_0-9]*$")
_NUMBERS = {f"{module}.{name}": getattr(math, name) for module in ("math", "numpy") for name in ("pi", "e", "inf")}


class Tracer:
    """Evaluates expressions under one start of the script at `entry` (default: the started script)."""

    def __init__(
        self,
        context: Context,
        launch: Launch | None = None,
        configs: Configs | None = None,
        entry: str = "",
        sources: ProgramSources | None = None,
    ) -> None:
        self.context = context
        self.start = Start(context, launch, entry)
        self.passed = Passed(context, self.start.modules)
        self.configs = configs.under(self.start.entry, launch) if configs is not None else None
        self._variables = Variables(self)
        self._options = OptionValues(self, self._variables)
        self._holders = Holders(self, self._variables)
        self._results = Results(self, self._variables)
        self._memo: dict[Followed, Found] = {}
        self._steps = 0
        self._execution = self._executed(sources) if sources is not None else None

    def _executed(self, sources: ProgramSources) -> Execution | None:
        project = self.context.project
        start = sources.start(self.start.entry, self.start.launch) if self.start.entry in project.modules else None
        modules = [project.modules[path] for path in sorted(self.start.modules)]
        return None if start is None else Execution(sources, start, modules)

    # -- queries

    def trace(self, expr: Expr, span: Span | None = None, name: str = "") -> Traced:
        """The value of an expression. `span` and `name` are those of a literal, where known."""
        possible = self._query(lambda: self.found(Followed(expr)), CUT)
        executed = self.executed(expr)
        if executed is not None and executed.values:
            possible = _as_executed(possible, executed)
        return possible.written(expr.module.path, span or Span.at(expr.line), name).traced()

    def executed(self, expr: Expr) -> Found | None:
        """The values that an expression has when the start is executed, none where they are not known; None where it is
        not executed, or not followed to its end."""
        executed = self._execution.found(expr) if self._execution is not None else None
        is_dict = executed is not None and any(isinstance(value, ValuePairs) for value in executed.values)
        return None if is_dict and expr.call is not None else executed  # whose arguments are compared

    def is_left_open(self, expr: Expr) -> bool:
        """Whether the start executes an expression whose value depends on something else than an option, which is
        compared by itself."""
        executed = self.executed(expr)
        if self._execution is None or executed is None or executed.values:
            return False
        return not self._execution.depends_on_option(expr)

    def field(self, bind: AssignmentSite) -> Traced | None:
        """The value that a field of a data class has in the instances that the start makes; None where that is not
        told."""
        possible = self._execution.field(bind) if self._execution is not None else None
        if possible is None or not possible.known:
            return None
        return possible.written(bind.scope.path, bind.span, bind.target).traced()

    def is_unread(self, expr: Expr) -> bool:
        """Whether the start keeps the value of a literal, but overwrites it before it is read."""
        return self._execution is not None and expr.is_literal and self._execution.is_unread(expr)

    def runs(self, scope: Scope) -> bool | None:
        """Whether the conditions around a block within its function hold in this start; None when undetermined."""
        return self._query(lambda: self._variables.hold(scope), None)

    def option(self, option: Option) -> Traced:
        """The value of an option in this start."""
        here = Followed(option_default(self.context, option))
        possible = self._query(lambda: self._options.of(option, here), CUT)
        return (possible if possible.provenance else possible.through(defined(option))).traced()

    def _query(self, work: Callable[[], _T], otherwise: _T) -> _T:
        self._steps = 0
        self._holders.forget()
        try:
            return work()
        except RecursionError:
            return otherwise

    # -- expressions

    def found(self, here: Followed) -> Found:
        """The possible plain values of an expression."""
        return literal(here.expr.literal) if here.expr.is_literal else _found(here, self)

    def evaluated(self, here: Followed) -> Found:
        """The possible plain values of an expression that is not being evaluated yet."""
        self._steps += 1
        if self._steps > _STEPS:
            return CUT
        expr = here.expr
        if expr.written:
            possible = self._name(here)
            return possible.through(_step(here)) if possible.provenance else possible
        if expr.call is not None:
            return self._results.of(expr.call, here)
        if expr.operator:
            return self._operation(here)
        if expr.is_display:
            return self._items(here)
        return self._table(here) if expr.is_dict else UNKNOWN

    def _items(self, here: Followed) -> Found:
        parts: list[Found] = []
        items: list[object] = []
        for item in here.expr.items:
            spread = item.operands("star")
            part = self.found(here.to(spread[0] if spread else item))
            parts.append(part)
            single = part.single
            items += single if spread and isinstance(single, tuple) else [single]
            if spread and not isinstance(single, tuple):
                return unknown(parts)
        return whole(parts, tuple(items)) if all(part.known for part in parts) else unknown(parts)

    def _table(self, here: Followed) -> Found:
        parts: list[Found] = []
        entries: list[tuple[Scalar, object]] = []
        for key, entry in here.expr.entries:
            name = self.found(here.to(key)) if key is not None else None
            part = self.found(here.to(entry))
            parts.append(part)
            single = part.single
            if not part.known or (name is not None and not name.known):
                return unknown(parts)
            if name is None:
                if not isinstance(single, ValuePairs):
                    return unknown(parts)
                entries += single
            elif isinstance(label := name.single, str | int | float | None):
                entries.append((label, single))
        return whole(parts, ValuePairs.of(entries))

    def _operation(self, here: Followed) -> Found:
        expr, operator, operands = here.expr, here.expr.operator, here.expr.operands()
        attribute = expr.attribute
        if operator == "[]":
            return self._element(here)
        if attribute is not None:
            return self.member(here.to(attribute[0]), attribute[1]) or UNKNOWN
        if operator == "if":
            answer = self.found(here.to(operands[0])).truth
            chosen = operands[1:] if answer is None else operands[1:2] if answer else operands[2:]
            return joined([self.found(here.to(operand)) for operand in chosen])
        if operator == "each":
            return self._results.each(here.to(operands[0]))
        is_none = operator in ("is", "is not") and operands[1].is_literal and operands[1].literal is None
        if is_none and self._is_made(here.to(operands[0])):
            return literal(operator == "is not")
        parts = [self.found(here.to(operand)) for operand in operands]
        if operator in ("or", "and"):
            return _first(parts, operator == "or")
        if operator == "neg":
            return computed("-", [literal(0), *parts])
        lists = [part.single for part in parts if isinstance(part.single, tuple)]
        if operator == "+" and len(parts) == len(lists) == 2:
            return whole(parts, lists[0] + lists[1])
        return computed(operator, parts)

    def _is_made(self, here: Followed) -> bool:
        """Whether a value is an object created by a framework class, hence not None."""
        possible = self.found(here)
        if possible.values or possible.cut:
            return False
        name, brackets, _ = here.expr.name.rpartition("()")
        return bool(brackets) and name.startswith(_CONSTANTS) and name.rpartition(".")[2][:1].isupper()

    def _element(self, here: Followed) -> Found:
        holder, key = here.expr.operands()
        index = self.found(here.to(key)).single
        if holder.name == "os.environ" and isinstance(index, str):
            return self.start.variable(index) or UNKNOWN
        if not isinstance(index, str | int):
            return UNKNOWN
        member = self.member(here.to(holder), index)
        if member is None:
            items = self.found(here.to(holder))
            single = items.single
            if isinstance(single, tuple) and not isinstance(single, ValuePairs) and isinstance(index, int):
                inside = -len(single) <= index < len(single)
                member = Found((single[index],), True, items.provenance) if inside else None
        return member.through(_step(here)) if member is not None and member.provenance else member or UNKNOWN

    # -- names

    def _name(self, here: Followed) -> Found:
        name = self._memo.get(here)
        if name is not None:
            return name
        possible = self._dotted(here) if "." in here.expr.written else self._plain(here)
        if not possible.cut:
            self._memo[here] = possible
        return possible

    def _plain(self, here: Followed) -> Found:
        expr, name = here.expr, here.expr.written
        if name == "__name__" and self.start.entry:
            return literal("__main__" if expr.module.path == self.start.entry else expr.module.name)
        for variable, value in here.bound:
            if variable == name:
                return literal(value)
        binds, function = expr.assignments, expr.parameter_of
        parts, sure = self._variables.assigned(binds, here)
        if function is not None and not sure and (not binds or expr.passed_to is not None):
            parts.append(self._variables.parameter(function, here))
        if parts:
            return joined(parts)
        return UNKNOWN if binds else self._configured(expr) or self._constant(expr)

    def _dotted(self, here: Followed) -> Found:
        expr = here.expr
        head, _, last = expr.written.rpartition(".")
        binds = expr.assignments
        own = expr.module.owner_of_self(head, expr.scope.block) >= 0
        option = None if own else self._options.named(head, last, here, binds)
        if option is not None:  # assignments further down have not run yet
            binds = [bind for bind in binds if not comes_later(bind, expr)]
        parts, sure = self._variables.assigned(binds, here)
        if parts and (sure or own):
            assigned = joined(parts)
            return assigned.doubted() if own and self._variables.assigned_elsewhere(expr) else assigned
        configured = self._configured(expr, surely=True)
        passed = self._options.passed(last, expr.module) if option is not None else []
        if configured is not None:
            return joined([*parts, configured, *passed])
        if option is not None:
            return joined([*parts, option])
        more = self.member(here.to(expr.scope.named(head, expr.line)), last) if not own else None
        if more is not None:
            return joined([*parts, more])
        if parts:
            return joined(parts).doubted()
        return self._configured(expr) or self._constant(expr)

    def _constant(self, expr: Expr) -> Found:
        meaning = expr.name
        if meaning in _NUMBERS:
            return literal(_NUMBERS[meaning])
        if _ENUMERATED.search(meaning):  # two libraries name the same members
            return literal(meaning.rpartition(".")[2].lower())
        return literal(meaning) if meaning.startswith(_CONSTANTS) and "()" not in meaning else UNKNOWN

    def _configured(self, expr: Expr, surely: bool = False) -> Found | None:
        """The value of a name in the configuration files that the program loads."""
        if self.configs is None:
            return None
        leaves = self.configs.decided(expr) if surely else self.configs.lookup(expr)
        parts = [Found((leave.value,), True, (ProvenanceStep(leave.path, leave.span, leave.name),)) for leave in leaves]
        return joined(parts) if parts else None

    def member(self, here: Followed, key: str | int) -> Found | None:
        """The value of an attribute or item of an object; None if nothing assigns it."""
        member = self._holders.member(here, key)
        expr = here.expr
        if member is None and isinstance(key, str):
            if expr.written:
                member = self._options.named(expr.written, key, here)
            name = written(expr)
            if member is None and name:
                member = self._configured(expr.sibling(Ref(f"{name}.{key}")))
        return member


@walker(_DEPTH, lambda: CUT)
def _found(here: Followed, tracer: Tracer) -> Found:
    """The possible plain values of an expression; cut off where it is nested too deeply or depends on itself."""
    return tracer.evaluated(here)


def _as_executed(possible: Found, executed: Found) -> Found:
    """The values that an expression has when it is executed, by the way that leads further back: executions know
    neither launchers nor configuration files, and lines only."""
    same = possible.exact and set(map(canonical, possible.values)) == set(map(canonical, executed.values))
    begins = [(way[0].path, way[0].span.line) for way in (possible.provenance, executed.provenance) if way]
    if len(begins) == 2 and begins[0] == begins[1]:
        return msgspec.structs.replace(executed, provenance=possible.provenance)
    is_outside = bool(possible.provenance) and not possible.provenance[0].path.endswith(".py")
    return possible if same and (is_outside or not executed.provenance) else executed


def _step(here: Followed) -> ProvenanceStep:
    return ProvenanceStep(here.expr.module.path, Span.at(here.expr.line), written(here.expr))


def _first(parts: list[Found], stop: bool) -> Found:
    """The first deciding operand of ``or`` (`stop`: true) or ``and``, else the last."""
    possible: list[Found] = []
    for part in parts[:-1]:
        answer = part.truth
        if answer is stop:
            return joined([*possible, part])
        if answer is None:
            possible.append(part.doubted())
    return joined([*possible, parts[-1]])
