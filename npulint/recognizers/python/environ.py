"""Environment variables that Python code reads and sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from npulint.data.environment import Variable
from npulint.facts.attributes import attribute
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues
from npulint.model.programs.environment import NO_SCRIPTS, Scripts
from npulint.model.programs.environment_variables import EnvironmentVariable
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.code_places import operations
from npulint.model.values.cursors import CallSite, Expr, Scope, assignment_at
from npulint.recognizers.registry import recognizes, recognizes_in_modules

_OF_NPU_DEVICE = frozenset(("NPU_DEBUG", "NPU_DUMP_GRAPH", "NPU_ENABLE_PERF", "NPU_LOOP_SIZE"))


@fact_kind("environment_read")
class EnvironmentReadByCall(CallFact):
    """A variable is read by ``os.getenv`` or ``os.environ.get``; the name is the variable."""


@fact_kind("environment_read")
class EnvironmentRead(PlaceFact):
    """A variable is read by ``os.environ[...]``, or tested with ``in os.environ``; the name is the variable."""


@recognizes("os.getenv", "os.environ.get")
def reads_by_call(call: CallSite) -> Iterable[Fact]:
    """The variables that are read by a function."""
    variable = call.args[0].single if call.args else None
    return [EnvironmentReadByCall(call, variable)] if isinstance(variable, str) else []


@recognizes_in_modules
def reads(module: Scope) -> Iterator[Fact]:
    """The variables that a module looks up in ``os.environ``."""
    if any(use.name.endswith("environ") for use in module.module.code.name_uses):
        for lookup in operations(module, "[]", "in", "not in"):
            holder, key, *_ = lookup.operands() if lookup.operator == "[]" else lookup.operands()[::-1]
            if key.text and holder.written and holder.name == "os.environ":
                yield EnvironmentRead(lookup.scope, Span.at(lookup.line), key.text)


@fact_kind("environment")
class PythonVariable(EnvironmentVariable, PlaceFact):
    """Python code sets a variable of the environment; the name is the variable."""

    _expr: Expr | None
    via: Literal["python"] = "python"
    _scripts: Scripts = NO_SCRIPTS

    def complete(self, scripts: Scripts) -> None:
        """Stores the variables of the whole project, which are known only when all facts exist."""
        self._scripts = scripts

    @attribute
    def value(self) -> PossibleValues:
        """What it is set to."""
        return PossibleValues() if self._expr is None else self._expr.known

    @property
    def is_conditional(self) -> bool:
        """See `EnvironmentVariable.is_conditional`."""
        return self.active != "yes"

    def is_in_time(self, variable: Variable) -> bool:
        """See `EnvironmentVariable.is_in_time`; a module has been executed before its functions are called."""
        if variable.read == "start":
            return False
        readers = ("npu_device",) if self.name in _OF_NPU_DEVICE else ("torch", "torch_npu")
        module = self.scope.module
        within = module.function_of(self.scope.block)
        for record in module.code.imports:
            if record.module.partition(".")[0] in readers:
                function = module.function_of(record.block)
                if function < 0 <= within or (function == within and record.line < self.span.line):
                    return False
        return True


@recognizes("os.environ.setdefault", "os.putenv")
def set_by_call(call: CallSite) -> Iterable[Fact]:
    """The variables that are set by a function."""
    variable = call.args[0].single if call.args else None
    value = call.args[1] if len(call.args) > 1 else None
    return [PythonVariable(call.scope, call.span, variable, value)] if isinstance(variable, str) else []


@recognizes_in_modules
def set_by_assignment(module: Scope) -> Iterator[Fact]:
    """The variables that ``os.environ[...] = ...`` sets."""
    for target, records in module.module.dotted.items():
        root, bracket, rest = target.partition("[")
        if bracket and rest.endswith("]") and root.endswith("environ"):
            for assignment in (assignment_at(module.context, module.module, record) for record in records):
                if assignment.value.sibling(Ref(root)).name == "os.environ":
                    yield PythonVariable(assignment.scope, assignment.span, rest[:-1], assignment.value)
