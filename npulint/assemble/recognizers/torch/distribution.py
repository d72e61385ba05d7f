"""Distribution of PyTorch: process groups, what replicates a model, collectives, processes."""

from __future__ import annotations

import re
from typing import Any

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.guards import is_main
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.data_loading import ancestry
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

_DDP = frozenset(
    (
        "torch.nn.parallel.DistributedDataParallel",
        "apex.parallel.DistributedDataParallel",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    )
)
_PARALLEL = frozenset(
    (
        "torch.nn.DataParallel",
        "torch.nn.parallel.data_parallel",
        "torch.nn.parallel.replicate",
        "torch.nn.parallel.parallel_apply",
        "torch.nn.parallel.scatter",
        "torch.nn.parallel.gather",
    )
)
_COLLECTIVE = lazy_compile(
    r"^torch\.distributed\.(?:all_reduce|all_gather(?:_into_tensor)?|reduce|reduce_scatter(?:_tensor)?|broadcast|gather"
    r"|scatter|all_to_all(?:_single)?|send|recv|isend|irecv|barrier)$"
)
_SYNC = frozenset(
    (
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        "torch.nn.SyncBatchNorm",
        "apex.parallel.convert_syncbn_model",
        "apex.parallel.SyncBatchNorm",
    )
)
_PROCESSES = lazy_compile(
    r"^(?:torch\.)?multiprocessing\.(?:spawn|Process|Pool|set_start_method|get_context)$|^os\.fork$"
)
_SAMPLER = lazy_compile(r"(?:^torch\.utils\.data\.distributed\.|[.:])Distributed\w*Sampler$")
_INIT = "torch.distributed.init_process_group"
_OTHER_INIT = frozenset(("deepspeed.init_distributed", "mmcv.runner.init_dist", "mmengine.dist.init_dist"))
_OWN = lazy_compile(r":(?:\w+\.)*[A-Z]\w*$")
_VIEWS = frozenset(("t", "transpose", "permute", "expand", "expand_as", "swapaxes", "movedim", "narrow"))
_SET_DEVICE = frozenset(("torch.npu.set_device", "torch.cuda.set_device"))
_COUNT = ("torch.cuda.device_count", "torch.npu.device_count")
_UNITS = {"days": 86400, "seconds": 1, "milliseconds": 0.001, "minutes": 60, "hours": 3600}
_ORDER = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours")
_LOCAL = "local_rank"
_OPTIMIZER = lazy_compile(r"(?:optim\w*|opt|scaler|amp)(?:\.\w+)*(?:\(\))?\.step$", re.IGNORECASE)


def matches(name: str) -> bool:
    """Members of torch.distributed and of what stands beside it."""
    return _what(name) != "" or bool(_OWN.search(name))


def _what(name: str) -> str:
    if name == _INIT or name in _OTHER_INIT:
        return "init"
    if name in _DDP:
        return "ddp"
    if name in _PARALLEL:
        return "parallel"
    if name in _SYNC:
        return "sync_bn"
    if _COLLECTIVE.match(name):
        return "collective"
    if _SAMPLER.search(name):
        return "sampler"
    if _PROCESSES.match(name):
        return "processes"
    if name.endswith((".set_epoch", ".no_sync")):
        return "epoch" if name.endswith("h") else "no_sync"
    if name.endswith(".step") and _OPTIMIZER.search(name):
        return "accumulation"
    return "rank" if name in ("torch.distributed.get_rank", "torch.distributed.get_world_size") else ""


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``distribution`` facts; own classes derived from a data parallel one count as that."""
    what = _what(name)
    if not what:
        name = next((base for base in ancestry(context, name) if base in _DDP or base in _PARALLEL), "")
        what = _what(name)
    attrs: dict[str, Any] = {"stack": "torch", "what": what}
    call = module.code.calls[index]
    if what == "accumulation" and not _accumulates(context, module, call):
        return []
    if what == "init":
        attrs["device_set"] = lambda: _device_set(context, module, call)
        attrs["at_import"] = "yes" if _at_import(module, call.block) else "no"
        attrs["timeout"] = lambda: _timeout(context, module, call)
    if what in ("init", "processes"):
        attrs["size_from"] = lambda: _size_from(context, module, call)
    if what == "collective":
        attrs["contiguous"] = lambda: "no" if _is_view(context, module, call) else "unknown"
    return [context.call_fact("distribution", name, module, index, **attrs)] if what else []


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """An option for the local rank, with whether the project also reads the variable that torchrun sets."""
    found = []
    for option in context.options.table.get(_LOCAL, ()):
        if option.module is module:
            call = option.call
            attrs = {
                "stack": "torch",
                "what": "local_rank",
                "from_environment": lambda: context.memoize("local rank", lambda: _reads_local_rank(context)),
            }
            span = Span(call.line, call.column, call.end_line, call.end_column)
            around = context.around(module, call.block)
            found.append(Fact("distribution", _LOCAL, module.path, span, attrs, None, around))
    return found


def _reads_local_rank(context: Context) -> str:
    """Whether any module reads LOCAL_RANK from its environment."""
    for module in context.project.modules.values():
        values = [bind.value for bind in module.code.assignments] + [r.value for r in module.code.returns]
        for call in module.code.calls:
            values += call.args
            values += [value for _, value in call.keywords]
        values += [block.test for block in module.blocks]
        if any(_names_variable(value, 0) for value in values):
            return "yes"
    return "no"


def _names_variable(value: Value, depth: int) -> bool:
    if isinstance(value, Const):
        return value.value == "LOCAL_RANK"
    if isinstance(value, Op | SequenceDisplay) and depth < 6:
        return any(_names_variable(v, depth + 1) for v in (value.operands if isinstance(value, Op) else value.items))
    return False


def _accumulates(context: Context, module: Module, call: Call) -> bool:
    """Whether an optimizer steps only in every n-th round of its training loop."""
    loop = context.training.train_loop(module, call.block)
    inner = module.ancestors(call.block)
    around = inner[: inner.index(loop)] if loop in inner else []
    for block in around:
        record = module.blocks[block]
        if record.kind == "if" and _every_few(context, module, record.test, record.parent, record.line):
            return True
    return False


def _every_few(context: Context, module: Module, test: Value, block: int, line: int) -> bool:
    """``(i + 1) % n == 0`` with an n that is not 1."""
    if not isinstance(test, Op):
        return False
    if test.op == "%" and len(test.operands) == 2:
        return context.flow.known(module, test.operands[1], block, line).single != 1
    return any(_every_few(context, module, operand, block, line) for operand in test.operands)


def _at_import(module: Module, block: int) -> bool:
    """Whether code runs when the module is imported, not only when it is started as a script."""
    if module.function_of(block) >= 0 or module.class_of(block) >= 0:
        return False
    return not any(is_main(module.blocks[b].test) for b in module.ancestors(block) if module.blocks[b].kind == "if")


def _device_set(context: Context, module: Module, call: Call) -> str:
    """When the process chooses its device: ``given`` to the call, ``before`` it, ``late`` (after it and after a
    collective), ``after`` it, or ``unknown``."""
    if any(key in ("device_id", "**") for key, _ in call.keywords):
        return "given"
    function = module.function_of(call.block)
    lines = _chooses(context, module, function)
    if any(line < call.line for line in lines) or _set_by_callers(context, module, function):
        return "before"
    following = [line for line in lines if line > call.line]
    if not following:
        return "unknown"
    first = min(following)
    between = [
        index
        for index in module.calls_in.get(function, ())
        if call.end_line < module.code.calls[index].line < first
        and _what(context.names.of_call(module, index)) in ("collective", "ddp")
    ]
    return "late" if between else "after"


def _chooses(context: Context, module: Module, function: int) -> list[int]:
    """The lines on which a function chooses the device, itself or by an own function."""
    calls = module.calls_in.get(function, ())
    return [module.code.calls[i].line for i in calls if _sets_device(context, context.names.of_call(module, i))]


def _sets_device(context: Context, name: str) -> bool:
    if name in _SET_DEVICE:
        return True
    target = context.names.function(name)
    if target is None or target[0].blocks[target[1]].kind == "class":
        return False
    home, block = target
    return any(context.names.of_call(home, index) in _SET_DEVICE for index in home.calls_in.get(block, ()))


def _set_by_callers(context: Context, module: Module, function: int) -> bool:
    """Whether what calls the function has chosen the device before."""
    for home, index in context.flow.callers(module, function) if function >= 0 else ():
        call = home.code.calls[index]
        outer = home.function_of(call.block)
        if any(line < call.line for line in _chooses(context, home, outer)):
            return True
    return False


def _timeout(context: Context, module: Module, call: Call) -> float | None:
    """The timeout in seconds, where it is written as a ``timedelta`` of numbers."""
    value = argument(call, "timeout", 2)
    if value is None:
        return None
    for home, index in context.flow.sites(module, value, call.block, call.line):
        made = home.code.calls[index]
        if context.names.of_call(home, index).rpartition(".")[2] == "timedelta":
            named = [*zip(_ORDER, made.args, strict=False), *made.keywords]
            numbers = [(_UNITS.get(unit, 0), context.known(home, v, made).single) for unit, v in named]
            if all(isinstance(n, int | float) for _, n in numbers):
                return sum(unit * float(str(n)) for unit, n in numbers)
    return None


def _size_from(context: Context, module: Module, call: Call) -> str:
    """The device count that certainly gives the number of processes; else an empty text."""
    value = argument(call, "world_size", 3) or argument(call, "nprocs", 2)
    if isinstance(value, CallResult):
        return _count(context, module, value)
    if not isinstance(value, Ref):
        return ""
    bound = context.flow.bindings(module, value.name, call.block, call.line)
    counts = {_count(context, home, bind.value) if isinstance(bind.value, CallResult) else "" for home, bind in bound}
    return counts.pop() if len(counts) == 1 else ""


def _count(context: Context, module: Module, value: CallResult) -> str:
    name = context.names.of_call(module, value.call)
    return name if name in _COUNT else ""


def _is_view(context: Context, module: Module, call: Call) -> bool:
    """Whether the tensor that a collective is given is a view that skips over memory."""
    value = argument(call, "tensor", 0) or argument(call, "input_tensor", 1)
    name = context.names.of_value(module, call.callee, call.block, call.line)
    if name.endswith(("all_gather", "all_gather_into_tensor")):
        value = argument(call, "tensor", 1) or argument(call, "input_tensor", 1)
    if isinstance(value, Ref) and "." not in value.name:
        bound = context.flow.bindings(module, value.name, call.block, call.line)
        if len(bound) != 1 or bound[0][0] is not module:
            return False
        value = bound[0][1].value
    return value is not None and _skips(module, value)


def _skips(module: Module, value: Value) -> bool:
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        method = call.callee.name.rpartition(".")[0] if isinstance(call.callee, Ref) else "?"
        return module.callee_name(value.call) in _VIEWS and method not in ("", "np", "numpy")
    if isinstance(value, Op) and value.op == "[]" and isinstance(value.operands[1], SequenceDisplay):
        keys = value.operands[1].items
        return len(keys) > 1 and not isinstance(keys[0], Const) and isinstance(keys[-1], Const)
    return isinstance(value, Op) and value.op == "." and value.operands[1] in (Const("T"), Const("mT"))
