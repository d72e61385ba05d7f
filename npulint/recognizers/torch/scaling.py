"""Gradient scalers of PyTorch: their construction, and the calls of their methods."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.values import truth
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.receiver_types import makers

# Accumulation of gradients: what runs only every few batches, and what runs for each of them.

Part = Literal["every", "gated", "no"]


@walker(depth=6, otherwise=bool)
def every_few(test: Expr) -> bool:
    """Whether a condition holds every n-th time, for an n that is not 1: ``(i + 1) % n == 0``."""
    operands = test.operands()
    if test.operator == "%" and len(operands) == 2:
        return operands[1].single != 1
    if test.written:
        assigned = test.assignments
        return bool(assigned) and all(every_few(assignment.value) for assignment in assigned)
    return any(map(every_few, operands))


def gates(scope: Scope) -> list[Scope]:
    """The conditions around a block, within its function, that hold every n-th time."""
    scopes = []
    for ancestor in scope.ancestors:
        if ancestor.kind in ("function", "lambda"):
            break
        if ancestor.kind == "if" and every_few(ancestor.test):
            scopes.append(ancestor)
    return scopes


def part_of(call: CallSite) -> Part:
    """Whether a call of a scaler runs for every batch although its ``step`` runs every few batches, or as often as the
    step, or there is no accumulation."""
    scaler = _written(call)
    steps = [
        step for step in call.scope.routine.calls if step.last == "step" and step.args and _written(step) == scaler
    ]
    if not scaler or not steps or call.scope.loop is None:
        return "no"
    limits = [gate for step in steps for gate in gates(step.scope)[-1:]]
    if len(limits) < len(steps):
        return "no"
    if any(call.scope.is_inside(gate) for gate in limits):
        return "gated"
    around = call.scope.loop
    certain = not call.scope.is_conditional and all(gate.is_inside(around) for gate in limits)
    return "every" if certain else "no"


def _written(call: CallSite) -> str:
    return call.receiver.written if call.receiver is not None else ""


# Functions of libraries that open an autocast context, for CUDA unless they are given another device.
HELPERS = ("ultralytics.utils.torch_utils.autocast",)
_SCALERS = frozenset(("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.npu.amp.GradScaler"))
_SCALER_USES = frozenset(("scale", "step", "update", "unscale_", "load_state_dict"))
_SCALER = lazy_compile(r"GradScaler\(\)$|(?:^|[._?])(?:\w*grad_?)?(?:fp16_|amp_|loss_)?scaler$")
ArgumentFlag = Literal["yes", "no", "missing", "unknown"]


@recognizes(*_SCALERS)
@fact_kind("grad_scaler")
class GradientScaler(CallFact):
    """A gradient scaler is created; the name is its canonical constructor."""

    @attribute
    def device(self) -> str:
        """The device type that it is for: cuda, npu, cpu, another one or unknown."""
        return device(self.call)

    @attribute
    def enabled(self) -> Flag:
        """Whether it is enabled."""
        return enabled(self.call)

    @attribute
    def dynamic(self) -> ArgumentFlag:
        """Whether it scales dynamically, by its argument of that name (``torch.npu``)."""
        return argument_flag(self.call, "dynamic")

    @attribute
    def positional(self) -> int:
        """The number of positional arguments."""
        return 0 if any(value.operator == "star" for value in self.call.args) else len(self.call.args)

    @attribute
    def first(self) -> Literal["text", "other", "none"]:
        """The kind of the first positional argument."""
        if not self.call.args:
            return "none"
        return "text" if isinstance(self.call.args[0].single, str) else "other"

    @attribute
    def alternative(self) -> bool:
        """Whether the same name, or the same call in another branch, means the NPU's."""
        return alternative(self.call)


def _is_use(name: str) -> bool:
    head, _, last = name.rpartition(".")
    return last in _SCALER_USES and name not in _SCALERS and _SCALER.search(head) is not None


@recognizes(matching=_is_use)
@fact_kind("scaler_use")
class ScalerUse(CallFact):
    """A method of a gradient scaler is called; the name is the method."""

    def __post_init__(self) -> None:
        self.name = self.name.rpartition(".")[2]

    @attribute
    def on(self) -> str:
        """The canonical constructor of the scaler, or unknown."""
        made_by = self.call.name.rpartition(".")[0].removesuffix("()")
        if made_by in _SCALERS:
            return made_by
        receiver = self.call.receiver
        names = set() if receiver is None else {call.name for call in makers(receiver)} & _SCALERS
        return names.pop() if len(names) == 1 else "unknown"

    @attribute
    def closure(self) -> bool:
        """Whether a closure is passed."""
        return self.call.has_keyword("closure")

    @attribute
    def accumulation(self) -> Part:
        """Whether gradients are accumulated: ``every`` if it runs for every batch although the scaler steps every few
        batches, ``gated`` if it runs as often as the step."""
        return part_of(self.call)


def makes_scaler(call: CallSite) -> bool:
    """Whether a call creates a gradient scaler, or an object of a project class that creates its own."""
    if call.name in _SCALERS:
        return True
    maker = call.target.definition("__init__") if call.target is not None and call.target.kind == "class" else None
    return maker is not None and any(inner.name in _SCALERS for inner in maker.calls)


def argument_flag(call: CallSite, name: str) -> ArgumentFlag:
    """The value of a boolean keyword argument; ``missing`` if it is not passed."""
    value = call.argument(name)
    if value is None:
        return "unknown" if call.has_unknown_options else "missing"
    return flag(truth(value.known))


def device(call: CallSite) -> str:
    """The device type that a scaler or an autocast is for: cuda, npu, cpu, other or unknown."""
    name = call.name
    if name in HELPERS:
        chosen = call.argument("device", 1)
        return "cuda" if chosen is None else str(chosen.single or "unknown").partition(":")[0]
    if name.startswith("torch.npu."):
        return "npu"
    if name.startswith("torch.cuda."):
        return "cuda"
    is_scaler = name.endswith("GradScaler")
    value = call.argument("device" if is_scaler else "device_type", 0)
    if value is None:
        return "cuda" if is_scaler and not call.starred else "unknown"
    return value.single.partition(":")[0] if isinstance(value.single, str) else "unknown"


def enabled(call: CallSite) -> Flag:
    """Whether a scaler or an autocast is enabled."""
    value = call.argument("enabled", 0 if call.name in HELPERS else -1)
    return "yes" if value is None else flag(truth(value.known))


def alternative(call: CallSite) -> bool:
    """Whether the same name, or the same call in another branch, means the NPU's."""
    root = call.written.partition(".")[0]
    assigned = [assignment for assignment in call.scope.assignments if assignment.target == root]
    roots = {root, *(assignment.value.written.partition(".")[0] for assignment in assigned)} - {""}
    imports = [import_record for import_record in call.module.code.imports if import_record.alias in roots]
    if any(import_record.module.startswith(("torch_npu", "torch.npu")) for import_record in imports):
        return True
    if any(assignment.value.name.startswith(("torch.npu", "torch_npu", "apex")) for assignment in assigned):
        return True
    others = call.scope.calls_named(call.last)
    return any(other.name.startswith("torch.npu.amp.") for other in others) or _is_for_older_release(call, others)


def _is_for_older_release(call: CallSite, others: list[CallSite]) -> bool:
    """Whether a handler makes what the ``try`` of the same statement has failed to make for any device:
    ``except AttributeError: GradScaler = torch.cuda.amp.GradScaler`` after ``torch.amp.GradScaler(device)``."""
    if call.scope.kind != "except":
        return False
    tried = (other for other in others if other.scope.kind == "try" and other.scope.parent is call.scope.parent)
    return any(other.name.startswith("torch.amp.") and other.line < call.line for other in tried)
