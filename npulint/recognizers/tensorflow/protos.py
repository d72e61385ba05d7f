"""ConfigProto objects: their custom optimizers, and the helpers that they pass through."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.facts.values import NOTHING, PossibleValues
from npulint.model.programs.project_options import NO_OPTIONS, ProjectOptions
from npulint.model.running.code_facts import AssignmentFact, CallFact
from npulint.model.running.conditions import known_in, situations
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes_in_modules

_ADD = "graph_options.rewrite_options.custom_optimizers.add"
_HELPERS = frozenset(
    ("npu_config_proto", "npu_run_config_init", "set_keras_session_npu_config", "init_resource", "session_dump_config")
)
_REWRITE = ("remapping", "memory_optimization")
_REWRITER = ("rewrite_options", "rewriter_config", "rewrite_config")
_OTHERS = frozenset(("GradFusionOptimizer", "OMPartitionSubgraphsPass"))

Spelling = Literal["right", "wrong", "missing", "other", "unknown"]
Switch = Literal["off", "on", "unset", "unknown"]


class Proto:
    """One ConfigProto: the calls that add custom optimizers, its rewrite options and helpers."""

    def __init__(self) -> None:
        self.optimizers: list[CallSite] = []
        self.rewrite: dict[str, PossibleValues] = {}
        self.helpers: set[str] = set()


class Protos:
    """All ConfigProto objects of a project by the calls that create them. `optimizers` maps each call that adds a
    custom optimizer to the calls that create the ConfigProto objects that it may be added to."""

    def __init__(self, context: Context) -> None:
        self.by_maker: dict[CallSite, Proto] = defaultdict(Proto)
        self.optimizers: dict[CallSite, list[CallSite]] = {}
        scopes = module_scopes(context)
        for module in scopes:
            for call in module.calls_named("add", "NPURunConfig", *_HELPERS):
                self._add_call(call)
        for module in scopes:
            self._add_rewrite_options(module)

    @property
    def has_unplaced(self) -> bool:
        """Whether an optimizer is added to an unknown ConfigProto."""
        return not all(self.optimizers.values())

    def _add_call(self, call: CallSite) -> None:
        name, last = call.name, call.name.rpartition(".")[2]
        if call.last == "add" and (call.written.endswith("custom_optimizers.add") or name.endswith(_ADD)):
            makers = self.optimizers[call] = [] if call.receiver is None else holders(call.receiver)
            for maker in makers:
                self.by_maker[maker].optimizers.append(call)
        elif last in _HELPERS or name.endswith("NPURunConfig"):
            passed = [*call.args, *(value for key, value in call.keywords.items() if "config" in key)]
            for maker in (maker for value in passed for maker in value.sites):
                self.by_maker[maker].helpers.add(last)

    def _add_rewrite_options(self, module: Scope) -> None:
        for assignment in _assignments_to(module, *_REWRITE, "*"):
            head, _, option = assignment.target.rpartition(".")
            holder = assignment.leading(head)
            if _is_rewriter(holder):
                for maker in holders(holder):
                    self.by_maker[maker].rewrite |= _rewritten(assignment, option)

    def entry_of(self, optimizer: Expr) -> str:
        """The place of the custom optimizer that an expression refers to; empty if unknown."""
        return next((place_of(call) for call in optimizer.sites if call in self.optimizers), "")


@once
def protos_of(context: Context) -> Protos:
    """The ConfigProto objects of a project."""
    return Protos(context)


def place_of(call: CallSite) -> str:
    """The identity of the object that a call creates: its place."""
    return f"{call.path}:{call.record.line}:{call.record.column}"


def _rewritten(assignment: AssignmentSite, option: str) -> dict[str, PossibleValues]:
    """The rewrite options that an assignment sets: of a name that is never known, it may be any."""
    if option != "*":
        return {option: assignment.value.known}
    keys = situations(assignment.computed_key)
    return {name: known_in(assignment.value, situation) for name, situation in keys} or dict.fromkeys(_REWRITE, NOTHING)


@walker(depth=6, otherwise=list)
def holders(value: Expr) -> list[CallSite]:
    """The calls that may have created the root object of ``config.graph_options…``, also through aliases."""
    if value.attribute is not None:
        return _innermost(value).sites
    root, _, rest = value.written.partition(".")
    own = value.module.owner_of_self(root, value.scope.block) >= 0
    base = value.sibling(Ref(f"{root}.{rest.partition('.')[0]}" if own else root))
    calls = list(base.sites)
    for expr in () if calls else base.sources[:4]:
        if expr.written:
            calls += holders(expr) if expr.written != base.written or expr.scope is not base.scope else []
        elif expr.attribute is not None:
            holder = _innermost(expr)
            calls += holder.sites if holder.call is not None else []
    return calls


@walker(depth=4, otherwise=bool)
def _is_rewriter(holder: Expr) -> bool:
    """Whether an expression is the rewrite options of a ConfigProto, also as the parameter of a helper."""
    if holder.written.endswith(_REWRITER) or holder.name.endswith(_REWRITER):
        return True
    return any(_is_rewriter(source) for source in holder.sources[:4] if source.written)


def _innermost(value: Expr) -> Expr:
    """The root object of ``f().x.y``."""
    while value.attribute is not None:
        value = value.attribute[0]
    return value


def _assignments_to(module: Scope, *lasts: str) -> Iterator[AssignmentSite]:
    """The assignments of a module to attributes with these names."""
    for target, records in module.module.dotted.items():
        if target.rpartition(".")[2] in lasts:
            yield from (assignment_at(module.context, module.module, record) for record in records)


@fact_kind("npu_optimizer")
class CustomOptimizer(CallFact):
    """A custom optimizer is added to the rewrite options of a session; the name is its own, empty if it has none, and
    ``?`` if unknown."""

    _options: ProjectOptions = NO_OPTIONS

    def complete(self, options: ProjectOptions) -> None:
        """Stores the options of the whole project, which are known only when all facts exist."""
        self._options = options

    @attribute
    def entry(self) -> str:
        """Its place, which identifies it in settings."""
        return place_of(self.call)

    @property
    def _protos(self) -> list[Proto]:
        protos = protos_of(self.call.context)
        return [protos.by_maker[maker] for maker in protos.optimizers[self.call]]

    @attribute
    def named(self) -> bool:
        """Whether it has a name."""
        return bool(self.name)

    @attribute
    def spelling(self) -> Spelling:
        """The spelling of its name: right, wrong (probably means the adapter's), missing, another backend's, or
        unknown."""
        return _spelling(self.name)

    @attribute
    def placed(self) -> bool:
        """Whether it is added to a known ConfigProto."""
        return bool(self._protos)

    @attribute
    def remapping(self) -> Switch:
        """The value of the remapping pass in the same rewrite options."""
        return _switch(self._protos, "remapping")

    @attribute
    def memory_optimization(self) -> Switch:
        """The value of the memory_optimization pass in the same rewrite options."""
        return _switch(self._protos, "memory_optimization")

    @attribute
    def helper(self) -> bool:
        """Whether a helper of the adapter, such as npu_config_proto, gets the ConfigProto as well."""
        return any(proto.helpers - {"NPURunConfig"} for proto in self._protos)

    @attribute
    def run_config(self) -> bool:
        """Whether an NPURunConfig takes the ConfigProto."""
        return any("NPURunConfig" in proto.helpers for proto in self._protos)

    @attribute
    def target(self) -> str:
        """The one name that it is assigned to, as written, or unknown."""
        made = self.call.result.value
        names = [assignment.target for assignment in self.call.scope.assignments if assignment.record.value == made]
        return names[0] if len(names) == 1 and "[" not in names[0] and "(" not in names[0] else "unknown"

    @attribute
    def rewriter(self) -> str:
        """The rewrite options that it is added to, as written, or unknown."""
        rewriter = self.call.written.removesuffix(".custom_optimizers.add")
        return rewriter if rewriter != self.call.written and "(" not in rewriter else "unknown"

    @attribute
    def options(self) -> str:
        """The options that are set on it, separated by spaces."""
        return self._options.names_on(self.entry)

    @attribute
    def host(self) -> bool:
        """Whether it certainly leaves the graph on the host."""
        return self._options.is_on_host(self.entry)


@fact_kind("custom_optimizer_name")
class CustomOptimizerName(AssignmentFact):
    """An assignment sets the name of a custom optimizer, which is the name of the fact."""

    @attribute
    def spelling(self) -> Spelling:
        """The spelling: right, wrong (probably means the adapter's), another backend's, or unknown."""
        return _spelling(_text(self.assignment.value))

    @attribute
    def target(self) -> str:
        """The optimizer, as written."""
        return self.assignment.target.removesuffix(".name")


@recognizes_in_modules
def custom_optimizers(module: Scope) -> Iterator[Fact]:
    """The custom optimizers that a module adds, and the assignments of their names."""
    optimizers = protos_of(module.context).optimizers
    for call in optimizers:
        if call.module is module.module:
            yield CustomOptimizer(call, _name(call))
    for call, assignment in _named(module).items() if optimizers else ():
        if call in optimizers:
            yield CustomOptimizerName(assignment, str(assignment.value.single))


def _name(call: CallSite) -> str:
    """The name of a custom optimizer; empty without one, ``?`` if unknown."""
    given = _names(call.context).get(call)
    if given is not None:
        return given
    value = call.argument("name")
    if value is not None:
        return _text(value)
    return "?" if _is_passed_on(call) else ""


def _is_passed_on(call: CallSite) -> bool:
    """Whether what a call gives is passed to something that is not the project's own, which may do anything with it."""
    result, names = call.result.value, {assignment.target for assignment in call.assignments}
    others = (other for other in call.scope.all_calls if other.target is None)
    return any(
        argument.value == result or argument.written in names for other in others for argument in other.arguments
    )


def _text(value: Expr) -> str:
    single = value.single
    return single if isinstance(single, str) else "?"


@once
def _names(context: Context) -> dict[CallSite, str]:
    """The names that the project assigns to custom optimizers, also in other modules and by ``setattr`` in loops."""
    names: dict[CallSite, str] = {}
    for module in module_scopes(context):
        names = {**{call: _text(assignment.value) for call, assignment in _named(module).items()}, **names}
    optimizers = protos_of(context).optimizers
    for module in module_scopes(context):
        for assignment in _assignments_to(module, "*"):
            for call in assignment.leading(assignment.target.removesuffix(".*")).sites:
                if call in optimizers and call not in names and (name := _filled(assignment)):
                    names[call] = name
    return names


def _filled(assignment: AssignmentSite) -> str:
    """The name that a ``setattr`` of computed attributes gives: empty for none, ``?`` where it may set any."""
    attributes = situations(assignment.computed_key)
    for written, situation in attributes:
        if written == "name":
            name = known_in(assignment.value, situation).single
            return name if isinstance(name, str) else "?"
    return "" if attributes else "?"


@once_per_file
def _named(module: Scope) -> dict[CallSite, AssignmentSite]:
    """The first assignment of a name to each object that a module creates or gets."""
    assignments: dict[CallSite, AssignmentSite] = {}
    for assignment in _assignments_to(module, "name"):
        for call in assignment.leading(assignment.target.removesuffix(".name")).sites:
            assignments.setdefault(call, assignment)
    return assignments


def _spelling(name: str) -> Spelling:
    if name in ("", "?"):
        return "unknown" if name else "missing"
    if name == "NpuOptimizer":
        return "right"
    return "wrong" if re.search(r"npu|optimi[sz]er$", name, re.IGNORECASE) and name not in _OTHERS else "other"


def _switch(protos: list[Proto], option: str) -> Switch:
    values = [proto.rewrite.get(option) for proto in protos]
    if not values:
        return "unknown"
    if all(value is None for value in values):
        return "unset"
    texts = {str(possible).rpartition(".")[2] for value in values if value is not None for possible in value.values}
    if texts and texts <= {"OFF", "2"}:
        return "off"
    return "on" if texts and "OFF" not in texts and "2" not in texts else "unknown"
