"""Leftovers of debugging PyTorch programs, and flags of precision and determinism."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.code import Const
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.model.running.block_contents import calls_inside
from npulint.model.running.code_facts import AssignmentFact, CallFact
from npulint.model.running.conditions import words_around
from npulint.model.running.guards import tries_module
from npulint.model.running.surroundings import surroundings_of
from npulint.model.running.training import training_of
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules

Aid = Literal["anomaly", "gradcheck", "profiler", "dump", "stop", "hook", "tool"]
_AIDS: dict[str, Aid] = {
    "torch.autograd.set_detect_anomaly": "anomaly",
    "torch.autograd.detect_anomaly": "anomaly",
    "torch.autograd.anomaly_mode.set_detect_anomaly": "anomaly",
    "torch.autograd.anomaly_mode.detect_anomaly": "anomaly",
    "torch.autograd.gradcheck": "gradcheck",
    "torch.autograd.gradgradcheck": "gradcheck",
    "torch.autograd.profiler.profile": "profiler",
    "torch.autograd.profiler.emit_nvtx": "profiler",
    "torch.profiler.profile": "profiler",
    "torch_npu.profiler.profile": "profiler",
    "torch.npu.profile": "profiler",
    "torch.npu.profiler.profile": "profiler",
    "torch.npu.init_dump": "dump",
    "torch.npu.set_dump": "dump",
    "torch.npu.set_aoe": "dump",
    "torch.npu.stress_detect": "dump",
    "torch.npu.set_sync_debug_mode": "dump",
    "torch.npu.memory._record_memory_history": "dump",
    "pdb.set_trace": "stop",
    "ipdb.set_trace": "stop",
    "pudb.set_trace": "stop",
    "IPython.embed": "stop",
    "code.interact": "stop",
    "breakpoint": "stop",
    "?breakpoint": "stop",
}
_AUTOGRAD_PROFILER = "torch.autograd.profiler.profile"  # its first parameter enables it
_HOOKS = ("register_forward_hook", "register_full_backward_hook", "register_backward_hook", "register_forward_pre_hook")
_OPTIONS = ("torch.npu.set_option", "torch_npu.set_option")
_TOOL = lazy_compile(
    r"(?:msprobe|ptdbg_ascend|api_accuracy_checker)\.(?:.*[.)])?"
    r"(?:PrecisionDebugger|seed_all|module_dump|register_hook|set_dump_path|set_dump_switch|start)$"
)
_SWITCHES = {
    "deterministic": "torch.backends.cudnn.deterministic",
    "allow_hf32": "torch.npu.",
    "allow_internal_format": "torch.npu.config.allow_internal_format",
    "allow_tf32": "torch.backends.",
}
# Names of conditions, functions and files that are for debugging only.
_ASIDE = lazy_compile(
    r"prof(?!ile_?pic|essor|it)|debug|trace|dump|anomal|diagnos|verbose|benchmark|bench_|compar|hook|pdb|visuali|(?<![a-z])log",
    re.IGNORECASE,
)
_ASIDE_FILE = lazy_compile(r"prof(?!essor)|debug|trace|dump|compar|benchmark|gradcheck|visuali", re.IGNORECASE)
_COUNTER = lazy_compile(
    r"(?:^|[._])(?:i|j|it|itr|iters?|idx|index|n|cnt|count|counter|\w*_?(?:iter|step|batch|idx)s?\w*)$"
)
_READS = frozenset(("cpu", "numpy", "item", "tolist", "print", "save", "save_image", "imwrite", "info", "write"))


@fact_kind("debug_aid")
class DebugAid(CallFact):
    """A debugging function is called; the name is its canonical name."""

    @attribute
    def what(self) -> Aid:
        """Its function: detects anomalies, checks gradients, profiles, dumps, opens a debugger, hooks into a module, or
        is one of Ascend's tools."""
        return _AIDS.get(self.name) or ("hook" if self.name.endswith(_HOOKS) else "tool")

    @attribute
    def optional(self) -> bool:
        """Whether the code around it is for debugging only, by a condition or by the name of a function or file, or the
        call itself is a choice (``a if debug else b``)."""
        return _is_optional(self.call)

    @attribute
    def aside(self) -> Literal["handler", "self_test", "no"]:
        """Whether it stands where nothing trains: in a handler of exceptions, or below ``__main__`` where no
        training is started."""
        if any(around.kind == "except" for around in self.scope.ancestors):
            return "handler"
        return "self_test" if tries_module(self.scope) else "no"

    @attribute
    def limited(self) -> Literal["no", "steps", "schedule"]:
        """Whether a profiler has a schedule, or is under a condition that holds in a few steps only."""
        schedule = self.call.argument("schedule")
        if schedule is not None and schedule.value != Const(None):
            return "schedule"
        around = (block for place in _places(self.call) for block in place.ancestors if block.kind == "if")
        return "steps" if any(_holds_in_few_steps(block.test) for block in around) else "no"

    @attribute
    def covers(self) -> Literal["step", "training", "no"]:
        """Whether a profiler covers a training step, or as a ``with`` context a whole training loop."""
        return _covered(self.call) if self.what == "profiler" else "no"

    @attribute
    def reads(self) -> bool:
        """Whether the function of a hook prints, saves or fetches its arguments."""
        hook = self.call.argument("hook", 0) if self.what == "hook" else None
        return hook is not None and any(call.last in _READS for function in hook.functions for call in function.calls)


@fact_kind("device_option")
class DeviceOption(CallFact):
    """A device option is set by a dict argument; the name is the option."""

    _expression: Expr

    @attribute
    def value(self) -> PossibleValues:
        """What it is set to."""
        return self._expression.known


@fact_kind("device_option")
class AssignedDeviceOption(AssignmentFact):
    """A device option is added to the dict that is passed; the name is the option."""


@fact_kind("switch")
class Switch(AssignmentFact):
    """A flag of precision or determinism is set; the name is its canonical name."""


@recognizes(
    matching=lambda name: name in _AIDS or name.endswith(_HOOKS) or ("." in name and _TOOL.match(name) is not None)
)
def debug_aids(call: CallSite) -> list[DebugAid]:
    """Profilers, dumps, breakpoints and hooks."""
    return [DebugAid(call, call.name)]


@recognizes(*_OPTIONS)
def device_options(call: CallSite) -> Iterator[Fact]:
    """The options of ``set_option`` in a display, or in a dict that is filled before."""
    option = call.argument("option", 0)
    if option is None:
        return
    tables = [option]
    if option.written:
        tables = call.scope.at(call.module.scope[call.scope.block]).assigned(option.written)
        for assignment in call.scope.assignments:
            root, bracket, key = assignment.target.partition("[")
            if root == option.written and bracket and key.endswith("]"):
                yield AssignedDeviceOption(assignment, key[:-1])
    for table in tables:
        for entry, item in table.entries:
            if entry is not None and entry.text:
                yield DeviceOption(call, entry.text, call.expr(item.value))


@recognizes_in_modules
def switches(module: Scope) -> Iterator[Switch]:
    """Assignments to flags of precision and determinism."""
    for assignment in module.assignments_to(*_SWITCHES):
        name = assignment.name
        if name.startswith(_SWITCHES[assignment.target.rpartition(".")[2]]):
            yield Switch(assignment, name)


def _is_optional(call: CallSite) -> bool:
    if _ASIDE_FILE.search(call.path):
        return True
    for place in _places(call):
        names = [block.record.name.rpartition(".")[2] for block in place.ancestors]
        if any(map(_ASIDE.search, (*words_around(place), *names))):
            return True
    enabled = call.argument("enabled", 0 if call.name == _AUTOGRAD_PROFILER else -1)
    if enabled is not None and enabled.value != Const(True):
        return True
    chosen = [
        assignment.value
        for assignment in call.scope.assignments
        if assignment.line <= call.line <= assignment.record.end_line
    ]
    chosen += [block.test for block in call.scope.blocks_of("with") if block.record.line == call.line]
    return any(part.value == call.result.value for expr in chosen for part in expr.operands("if", "and", "or"))


def _places(call: CallSite) -> list[Scope]:
    """The blocks of a call, and of the calls of ``start`` on its result."""
    names = {assignment.target for assignment in call.scope.assignments if assignment.record.value == call.result.value}
    starts = call.scope.calls_named("start", "__enter__") if names else []
    return [call.scope, *(start.scope for start in starts if start.written.rpartition(".")[0] in names)]


def _covered(call: CallSite) -> Literal["step", "training", "no"]:
    if any(surroundings_of(place).step in ("yes", "gated") for place in _places(call)):
        return "step"
    opened = [block for block in call.scope.blocks_of("with") if block.test.value == call.result.value]
    if not opened:
        return "no"
    loops = training_of(call.context).loops
    inner = (called for block in opened for called in calls_inside(block))
    holders = {loop.function for loop in loops} - {None}
    within = any(loop.is_inside(block) for loop in loops for block in opened)
    return "training" if within or any(called.target in holders for called in inner) else "no"


@walker(depth=7, otherwise=bool)
def _holds_in_few_steps(test: Expr) -> bool:
    """Whether a condition compares a counter (``i % 100 == 0``, ``step < 20``)."""
    operands = test.operands()
    if len(operands) > 1 and test.operator in ("==", "<", "<=", "in", "%"):
        counter, bound = operands[:2]
        if counter.operator == "%":
            return True
        if counter.written and _COUNTER.search(counter.written):
            return not isinstance(bound.literal, str)
    return any(map(_holds_in_few_steps, operands))
