"""Calls of frameworks and libraries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.code import Import, NameUse, Ref
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues
from npulint.model.code.module import Module
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.import_failures import is_optional
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.registry import recognizes, recognizes_in_modules

# Imports, uses of names without a call, definitions and command line options.

FRAMEWORKS = (
    "tensorflow.",
    "npu_bridge.",
    "npu_device.",
    "torch.",
    "torch_npu.",
    "keras.",
    "horovod.",
    "precision_tool.",
    "apex.",
    "tfdbg_ascend",
)
"""The prefixes of canonical framework names."""


@fact_kind("import")
class ForeignImport(PlaceFact):
    """Something outside of the project is imported; the name is its dotted name, for copies of precision_tool in the
    project the one that it has there."""

    record: Import
    star: bool

    @attribute
    def written(self) -> str:
        """The dotted name as it is written."""
        return "." * self.record.level + _dotted(self.record)

    @attribute
    def guarded(self) -> bool:
        """Whether it is in a ``try`` statement that continues where it fails, or in an ``except`` clause."""
        return self.scope.block > 0 and is_optional(self.scope)

    @attribute
    def used(self) -> Flag:
        """Whether the file uses the imported name; unknown if the import binds none."""
        alias = self.record.alias
        return flag(None if not alias or alias == "*" else alias in _used_roots(self.scope))


@recognizes_in_modules
def imports(module: Scope) -> Iterator[Fact]:
    """The imports of a module from outside the project."""
    project = module.context.project
    for record in module.module.code.imports:
        if not project.imported(module.module, record):
            name = project.foreign_name(_dotted(record), module.module, record.level)
            if name:
                yield ForeignImport(module.at(record.block), Span.of(record), name, record, record.name == "*")


def _dotted(record: Import) -> str:
    """What a statement imports: a module or a member of one."""
    return record.module if record.name in ("", "*") else f"{record.module}.{record.name}".lstrip(".")


@once_per_file
def _used_roots(scope: Scope) -> set[str]:
    """The first segments of all names that a file uses."""
    code = scope.module.code
    called = [call.callee.name for call in code.calls if isinstance(call.callee, Ref)]
    return {name.partition(".")[0] for name in (*called, *(record.name for record in code.name_uses))}


@fact_kind("mention")
class NameMention(PlaceFact):
    """A name of a framework is used and not called; the name is its canonical name."""

    passed: bool
    _use: NameUse

    @attribute
    def compared(self) -> bool:
        """Whether something is only compared with it, or looked up among it and others."""
        return self._use.compared or (self._use.name, self.span.line) in _choices(self.scope.at(0))


@fact_kind("call")
class PassedName(PlaceFact):
    """A name of a framework is passed to a call, which may call it."""

    passed: bool = True


@once_per_file
def _choices(module: Scope) -> set[tuple[str, int]]:
    """The names, each with its possible lines, in displays in which something is looked up
    (``if x.dtype not in FLOATS``)."""
    tests = (block.test for block in module.blocks_of("if", "else", "while"))
    looked_up = {
        part.operands()[1].written for test in tests for part in test.nested if part.operator in ("in", "not in")
    }
    shown = [
        assignment
        for assignment in module.assignments
        if assignment.target in looked_up and assignment.value.is_display
    ]
    return {
        (item.written, line)
        for assignment in shown
        for item in assignment.value.items
        for line in range(assignment.line, assignment.line + len(assignment.value.items) + 2)
    }


@recognizes_in_modules
def name_uses(module: Scope) -> Iterator[Fact]:
    """The framework names that a module uses; passing one to a call counts as a call."""
    names = module.context.names
    named: list[tuple[str, NameUse]] = []
    for record in module.module.code.name_uses:
        name = names.of_name(module.module, record.name, record.block, record.line)
        if name.startswith(FRAMEWORKS) and "()" not in name:
            named.append((name, record))
    passed = _passed(module.module) if named else set()
    for name, record in named:
        span = Span.of(record)
        scope = module.at(record.block)
        yield NameMention(scope, span, name, record.name in passed, record)
        if record.name in passed:
            yield PassedName(scope, span, name)


def _passed(module: Module) -> set[str]:
    """The names passed to calls, which may call them."""
    partial = set(module.calls_of("partial"))
    calls = [call for index, call in enumerate(module.code.calls) if index not in partial]
    names = {value.name for call in calls for value in call.args if isinstance(value, Ref)}
    return names.union(value.name for call in calls for _, value in call.keywords if isinstance(value, Ref))


@fact_kind("define")
class Definition(PlaceFact):
    """A function or class is defined; the name is its last segment."""

    what: str
    """The kind of definition: function, class or lambda."""
    params: PossibleValues
    """The names of its parameters, joined by commas."""

    @attribute
    def bases(self) -> str:
        """The canonical names of the base classes of a class, joined by spaces; empty without one."""
        return " ".join(base.name for base in self.scope.bases) if self.what == "class" else ""


@recognizes_in_modules
def definitions(module: Scope) -> Iterator[Fact]:
    """The functions and classes of a module."""
    for block, record in enumerate(module.module.blocks):
        if record.name:
            params = PossibleValues((", ".join(record.params),), True)
            span = Span.at(record.line)
            yield Definition(module.at(block), span, record.name.rpartition(".")[2], record.kind, params)


@fact_kind("option")
class DefinedOption(PlaceFact):
    """An option of the command line is defined; the name is the option."""

    value: PossibleValues
    """Its default value."""


@recognizes_in_modules
def options(module: Scope) -> Iterator[Fact]:
    """The options that a module defines."""
    for name, defined in module.context.options.by_module.get(module.path, {}).items():
        for option in defined:
            call, scope = option.call, module.at(option.call.block)
            span = Span.of(call)
            yield DefinedOption(scope, span, name, scope.expr(option.value, call.line).known)


_APART = frozenset(("os.environ.setdefault", "os.putenv", "os.getenv", "os.environ.get"))
_UNASKED = (
    "numpy.",
    "os.path.",
    "math.",
    "time.",
    "re.",
    "logging.",
    "matplotlib.",
    "pandas.",
    "scipy.",
    "cv2.",
    "PIL.",
    "json.",
    "random.",
)


@fact_kind("call")
class LibraryCall(CallFact):
    """A function or method of a framework or library is called; the name is its canonical name."""

    @attribute
    def of(self) -> Literal["one_plus", "state", "other"] | None:
        """For ``tensorflow.log`` whether its argument is ``1 + x`` (one_plus); for ``torch.load`` whether a table of
        weights is loaded (state)."""
        if self.name == "tensorflow.log":
            return "one_plus" if _is_one_plus(self.call) else "other"
        if self.name == "torch.load":
            from npulint.recognizers.torch.checkpoints import content  # rarely needed

            return content(self.call)
        return None


@fact_kind("call")
class BoundCall(CallFact):
    """A function of a framework is bound by ``functools.partial``; the name is its canonical name."""

    passed: bool = True


def _is_asked(name: str) -> bool:
    """Whether a canonical name belongs to a known package, except members that no check can query."""
    return "." in name and not name.startswith(("?", *_UNASKED)) and ":" not in name and name not in _APART


@recognizes(matching=_is_asked)
def library_calls(call: CallSite) -> tuple[Fact, ...]:
    """A fact for each call of a known external function; for ``functools.partial`` also for the bound function."""
    if call.name == "functools.partial" and call.args:
        bound = call.args[0].name
        return (BoundCall(call, bound),) if bound.startswith(FRAMEWORKS) else ()
    return (LibraryCall(call, call.name),)


def _is_one_plus(call: CallSite) -> bool:
    """Whether the first argument is ``1 + x`` in either order."""
    value = call.argument("x", 0)
    return value is not None and any(part.single == 1 for part in value.operands("+"))
