"""Gradient scalers of PyTorch: how they are made, and what is called on them."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.receiver_types import makers, receiver
from npulint.facts.code import Assignment, Call, Import, Op, Ref
from npulint.facts.model import Fact
from npulint.facts.values import truth
from npulint.lazy_regex import lazy_compile

_SCALERS = frozenset(("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.npu.amp.GradScaler"))
_SCALER_USES = frozenset(("scale", "step", "update", "unscale_", "load_state_dict"))
_SCALER = lazy_compile(r"GradScaler\(\)$|(?:^|[._?])(?:\w*grad_?)?(?:fp16_|amp_|loss_)?scaler$")


def matches(name: str) -> bool:
    """Scalers and their methods."""
    if name in _SCALERS:
        return True
    head, _, last = name.rpartition(".")
    return last in _SCALER_USES and _SCALER.search(head) is not None


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``grad_scaler`` and ``scaler_use`` facts."""
    if name in _SCALERS:
        return [_scaler(context, module, index, name)]
    return [_scaler_use(context, module, index, name)]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """All are calls."""
    return []


def given(context: Context, module: Module, call: Call, name: str) -> str:
    """What a flag of a call is: yes, no, missing or unknown."""
    value = argument(call, name, -1)
    if value is None:
        return "unknown" if any(k == "**" for k, _ in call.keywords) else "missing"
    known = truth(context.known(module, value, call))
    return "unknown" if known is None else "yes" if known else "no"


def _scaler(context: Context, module: Module, index: int, name: str) -> Fact:
    call = module.code.calls[index]
    return context.call_fact(
        "grad_scaler",
        name,
        module,
        index,
        device=lambda: device(context, module, call, name),
        enabled=lambda: enabled(context, module, call),
        dynamic=lambda: given(context, module, call, "dynamic"),
        positional=len(call.args) if not any(isinstance(a, Op) and a.op == "star" for a in call.args) else 0,
        first=lambda: _first(context, module, call),
        alternative=lambda: alternative(context, module, call),
    )


def device(context: Context, module: Module, call: Call, name: str) -> str:
    """The device type that a scaler or an autocast is for: cuda, npu, cpu, other or unknown."""
    if name.startswith("torch.npu."):
        return "npu"
    if name.startswith("torch.cuda."):
        return "cuda"
    value = argument(call, "device" if name.endswith("GradScaler") else "device_type", 0)
    if value is None:
        return "cuda" if name.endswith("GradScaler") else "unknown"
    single = context.known(module, value, call).single
    return single.partition(":")[0] if isinstance(single, str) else "unknown"


def enabled(context: Context, module: Module, call: Call) -> str:
    """Whether a scaler or an autocast is switched on: yes, no or unknown."""
    value = argument(call, "enabled", -1)
    known = truth(context.known(module, value, call)) if value is not None else True
    return "unknown" if known is None else "yes" if known else "no"


def _first(context: Context, module: Module, call: Call) -> str:
    """What kind of value the first positional argument is: text, other or none."""
    if not call.args:
        return "none"
    return "text" if isinstance(context.known(module, call.args[0], call).single, str) else "other"


def alternative(context: Context, module: Module, call: Call) -> str:
    """Whether the same name, or the same call in another branch, means the NPU's."""
    root = call.callee.name.partition(".")[0] if isinstance(call.callee, Ref) else ""
    imports: list[Import] = [i for i in module.code.imports if i.alias == root]
    if any(i.module.startswith(("torch_npu", "torch.npu")) for i in imports):
        return "yes"
    binds: list[Assignment] = [b for b in module.code.assignments if b.target == root]
    if any(context.names.of_bind(module, b).startswith(("torch.npu", "torch_npu", "apex")) for b in binds):
        return "yes"
    last = module.callee_name(module.code.calls.index(call))
    other = [context.names.of_call(module, i) for i in module.calls_of(last)]
    return "yes" if any(name.startswith("torch.npu.amp.") for name in other) else "no"


def _scaler_use(context: Context, module: Module, index: int, name: str) -> Fact:
    call = module.code.calls[index]
    return context.call_fact(
        "scaler_use",
        name.rpartition(".")[2],
        module,
        index,
        on=lambda: _made_by(context, module, call, name),
        closure="yes" if any(k == "closure" for k, _ in call.keywords) else "no",
    )


def _made_by(context: Context, module: Module, call: Call, name: str) -> str:
    """The canonical constructor of a scaler, or unknown."""
    if name.rpartition(".")[0].removesuffix("()") in _SCALERS:
        return name.rpartition(".")[0].removesuffix("()")
    value = receiver(call)
    sites = [] if value is None else makers(context, module, value, call.block, call.line)
    names = {context.names.of_call(home, at) for home, at in sites} & _SCALERS
    return names.pop() if len(names) == 1 else "unknown"
