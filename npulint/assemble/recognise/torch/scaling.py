"""Loss scaling: how a backward call is scaled, apex's amp.initialize, GradScaler, and clipping beside them."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognise.torch.optimizer_classes import families
from npulint.assemble.recognise.torch.origin import INITIALIZE, is_model, makers, receiver
from npulint.facts.code import Bind, Call, Const, Import, Items, Op, Ref, Result, Value
from npulint.facts.model import Fact
from npulint.facts.values import Known, truth
from npulint.later import regex

SCALE_LOSS = "apex.amp.scale_loss()"
_SCALERS = frozenset(("torch.cuda.amp.GradScaler", "torch.amp.GradScaler", "torch.npu.amp.GradScaler"))
_SCALER_USES = frozenset(("scale", "step", "update", "unscale_", "load_state_dict"))
_SCALER = regex(r"GradScaler\(\)$|(?:^|[._?])(?:\w*grad_?)?(?:fp16_|amp_|loss_)?scaler$")
_ENGINE = regex(
    r"(?:accelerator|engine|fabric|strategy|ds_model|deepspeed|booster|manual)\w*(?:\(\)|\[\])*\.backward$|\.manual_backward$"
    r"|(?:^|\.)(?:deepspeed|accelerate|lightning\w*|colossalai)\.[\w.()\[\]]+\.backward$",
)
_CLIPS = frozenset(f"torch.nn.utils.{name}" for name in ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_"))
_EXTREME = 32768
_WRAPPERS = frozenset(
    (
        "torch.nn.DataParallel",
        "torch.nn.parallel.DistributedDataParallel",
        "apex.parallel.DistributedDataParallel",
    )
)


def wants(name: str) -> bool:
    """amp.initialize, scalers and their methods, clipping."""
    if name == INITIALIZE or name in _SCALERS or name in _CLIPS:
        return True
    head, _, last = name.rpartition(".")
    return last in _SCALER_USES and _SCALER.search(head) is not None


def of_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``apex_amp``, ``grad_scaler``, ``scaler_use`` and ``grad_clip`` facts."""
    if name == INITIALIZE:
        return [_initialize(context, module, index)]
    if name in _SCALERS:
        return [_scaler(context, module, index, name)]
    if name in _CLIPS:
        return [_clip(context, module, index, name)]
    return [_scaler_use(context, module, index, name)]


# -- backward ---------------------------------------------------------------------------------------


def scaled(context: Context, module: Module, index: int, name: str) -> str:
    """How the loss of a backward call is scaled: apex, bypassed (in apex's block, but not the scaled loss), scaler,
    engine (a library does it), unknown (the loss is handed in by somebody) or no."""
    call = module.code.calls[index]
    if name.endswith("scale().backward"):
        return "scaler"
    if _ENGINE.search(name) or any(not _is_gradient(v) for v in call.args):
        return "engine"
    block = _scale_block(context, module, call.block)
    if block >= 0:
        return _in_block(context, module, call, block)
    loss = receiver(call)
    if isinstance(loss, Ref) and _is_scaled_value(context, module, loss, call):
        return "scaler"
    return "unknown" if _scaled_otherwise(module, call) else "no"


def is_stepped(module: Module, index: int) -> bool:
    """Whether the function around a call also calls ``step`` of something: it trains, it does not just look at
    gradients."""
    function = module.function_of(module.code.calls[index].block)
    return any(module.written(other) == "step" for other in module.calls_in.get(function, ()))


def _is_gradient(value: Value) -> bool:
    """Whether a positional argument of backward is its gradient, not a loss for an engine."""
    if isinstance(value, Const | Result):
        return True
    return isinstance(value, Ref) and ("grad" in value.name or value.name.rpartition(".")[2] in ("one", "mone", "ones"))


def _scaled_otherwise(module: Module, call: Call) -> bool:
    """Whether another branch of a condition around the call hands the loss to something called a scaler."""
    branches = [module.blocks[b] for b in module.ancestors(call.block) if module.blocks[b].kind in ("if", "else")]
    if not branches:
        return False
    tests = {(record.parent, record.line) for record in branches}
    for index in module.calls_in.get(module.function_of(call.block), ()):
        other = module.code.calls[index]
        written = other.callee.name.lower() if isinstance(other.callee, Ref) else ""
        if "scale" in written and other.block != call.block:
            inner = (module.blocks[b] for b in module.ancestors(other.block))
            if any((record.parent, record.line) in tests for record in inner):
                return True
    return False


def _scale_block(context: Context, module: Module, block: int) -> int:
    """The ``with amp.scale_loss(...)`` block around a block, or -1."""
    for ancestor in module.ancestors(block):
        record = module.blocks[ancestor]
        if record.kind == "with" and _is_scale_loss(context, module, ancestor):
            return ancestor
        if record.kind in ("function", "lambda"):
            return -1
    return -1


def _is_scale_loss(context: Context, module: Module, block: int) -> bool:
    record = module.blocks[block]
    name = context.names.of_value(module, record.test, record.parent, record.line)
    return name == SCALE_LOSS or name.endswith("amp.scale_loss()")


def _in_block(context: Context, module: Module, call: Call, block: int) -> str:
    """apex, unless what is called is the very loss that amp.scale_loss was given."""
    test = module.blocks[block].test
    given = module.code.calls[test.call].args[:1] if isinstance(test, Result) else ()
    loss = receiver(call)
    names = [b.target for b in module.code.binds if b.value == test and not b.target.startswith("[")]
    if isinstance(loss, Ref) and loss in given and loss.name not in names:
        return "bypassed"
    return "apex"


def _is_scaled_value(context: Context, module: Module, loss: Ref, call: Call) -> bool:
    return context.names.of_value(module, loss, call.block, call.line).endswith(".scale()")


# -- apex -------------------------------------------------------------------------------------------


def _initialize(context: Context, module: Module, index: int) -> Fact:
    call = module.code.calls[index]
    model, optimizer = argument(call, "models", 0), argument(call, "optimizers", 1)
    return context.call_fact(
        "apex_amp",
        "initialize",
        module,
        index,
        level=lambda: _level(context, module, call),
        combine_grad=lambda: _flag(context, module, call, "combine_grad"),
        combine_ddp=lambda: _flag(context, module, call, "combine_ddp"),
        optimizer=lambda: _family(context, module, optimizer, call),
        wrapped=lambda: _wrapped(context, module, model, call),
        half=lambda: _halved_before(context, module, model, call),
        scale=lambda: _loss_scale(context, module, call),
    )


def _sure(context: Context, module: Module, value: Value, call: Call) -> Known:
    """What a value is; an attribute that was set only in some branch before may have come with another one."""
    known = context.known(module, value, call)
    root = value.name.partition(".")[0] if isinstance(value, Ref) and "." in value.name else ""
    if not root or not known.exact or module.owner_of_self(root, call.block) >= 0:
        return known
    binds = context.flow.bindings(module, value.name, call.block, call.line) if isinstance(value, Ref) else []
    around = set(module.ancestors(call.block))
    if binds and not any(home is not module or bind.block in around for home, bind in binds):
        return Known(known.values, False, known.symbol)
    return known


def _level(context: Context, module: Module, call: Call) -> str:
    value = argument(call, "opt_level", 3)
    if value is None:
        return "unknown" if any(k == "**" for k, _ in call.keywords) else "O1"
    single = _sure(context, module, value, call).single
    return single if isinstance(single, str) and single in ("O0", "O1", "O2", "O3") else "unknown"


def _flag(context: Context, module: Module, call: Call, name: str) -> str:
    value = argument(call, name, -1)
    if value is None:
        return "unknown" if any(k == "**" for k, _ in call.keywords) else "missing"
    known = truth(_sure(context, module, value, call))
    return "unknown" if known is None else "yes" if known else "no"


def _loss_scale(context: Context, module: Module, call: Call) -> str:
    """dynamic, off (1), static, extreme (not below what float16 holds), missing or unknown."""
    value = argument(call, "loss_scale", -1)
    if value is None:
        return "missing"
    single = _sure(context, module, value, call).single
    if single is None:
        return "unknown"
    if isinstance(single, str):
        if single == "dynamic":
            return "dynamic"
        try:
            single = float(single)
        except ValueError:
            return "unknown"
    if isinstance(single, bool):
        return "unknown"
    return "off" if single == 1 else "extreme" if single >= _EXTREME else "static"


def _family(context: Context, module: Module, value: Value | None, call: Call) -> str:
    if value is None:
        return "missing"
    return families(context, makers(context, module, value, call.block, call.line))


def _wrapped(context: Context, module: Module, model: Value | None, call: Call) -> str:
    """Whether the model was made parallel before: yes, sometimes (in one branch) or no."""
    if model is None:
        return "no"
    values = model.items if isinstance(model, Items) else (model,)
    answers: set[bool] = set()
    for value in values:
        sites = context.flow.sites(module, value, call.block, call.line)
        answers.update(context.names.of_call(home, at) in _WRAPPERS for home, at in sites)
    return "no" if True not in answers else "yes" if answers == {True} else "sometimes"


def _halved_before(context: Context, module: Module, model: Value | None, call: Call) -> str:
    """Whether the same function calls ``half`` on the model before, on the way to this call."""
    if not isinstance(model, Ref):
        return "no"
    around = module.ancestors(call.block)
    for index in module.calls_in.get(module.function_of(call.block), ()):
        other = module.code.calls[index]
        if other.line >= call.line or other.block not in around:
            continue
        if isinstance(other.callee, Ref) and other.callee.name == f"{model.name}.half":
            return "yes"
    return "no"


# -- scalers ----------------------------------------------------------------------------------------


def _scaler(context: Context, module: Module, index: int, name: str) -> Fact:
    call = module.code.calls[index]
    return context.call_fact(
        "grad_scaler",
        name,
        module,
        index,
        device=lambda: device(context, module, call, name),
        enabled=lambda: enabled(context, module, call),
        dynamic=lambda: _flag(context, module, call, "dynamic"),
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
    binds: list[Bind] = [b for b in module.code.binds if b.target == root]
    if any(context.names.of_bind(module, b).startswith(("torch.npu", "torch_npu", "apex")) for b in binds):
        return "yes"
    last = module.written(module.code.calls.index(call))
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


# -- clipping ---------------------------------------------------------------------------------------


def _clip(context: Context, module: Module, index: int, name: str) -> Fact:
    call = module.code.calls[index]
    return context.call_fact(
        "grad_clip",
        name,
        module,
        index,
        scaled=lambda: _clipped(context, module, call),
        params=lambda: _clipped_parameters(context, module, call),
    )


def _clipped(context: Context, module: Module, call: Call) -> str:
    """What the gradients are when they are clipped: inside (apex's block: still scaled), scaler (scaled by one and not
    unscaled), unscaled (explicitly) or no."""
    if _scale_block(context, module, call.block) >= 0:
        return "inside"
    function = module.function_of(call.block)
    around = set(module.ancestors(call.block))
    before = [i for i in module.calls_in.get(function, ()) if module.code.calls[i].line < call.line]
    names = {i: context.names.of_call(module, i) for i in before}
    if any(n.endswith(".unscale_") for n in names.values()):
        return "unscaled"
    for i, n in names.items():
        if n.endswith("scale().backward") and module.code.calls[i].block in around:
            return "scaler"
    return "no"


def _clipped_parameters(context: Context, module: Module, call: Call) -> str:
    """Whose gradients: master (apex's), model or unknown."""
    value = argument(call, "parameters", 0)
    name = context.names.of_value(module, value, call.block, call.line) if value is not None else "?"
    if name.endswith("master_params()"):
        return "master"
    if isinstance(value, Result):
        inner = module.code.calls[value.call]
        if module.written(value.call) == "parameters" and is_model(
            context, module, receiver(inner), inner.block, inner.line
        ):
            return "model"
    return "unknown"
