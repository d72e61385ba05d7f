"""What makes the host wait for the device in every training step, or work that it repeats there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.cursors import call_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.losses import added_losses, gathers_loss, is_loss, shows_loss, takes_loss
from npulint.assemble.recognizers.torch.tensors import method_of, names_in, on_host, written
from npulint.assemble.recognizers.torch.timing import starts_interval
from npulint.facts.calls import receiver_of
from npulint.facts.code import Call, CallResult, Const, Op, Ref, Value
from npulint.facts.model import Fact
from npulint.facts.values import truth
from npulint.lazy_regex import lazy_compile

_CLOCKS = frozenset("time.time time.perf_counter time.monotonic time.process_time time.perf_counter_ns".split())
_CALLS = {
    "torch.cuda.synchronize": "synchronize",
    "torch.npu.synchronize": "synchronize",
    "torch.accelerator.synchronize": "synchronize",
    "torch.cuda.empty_cache": "empty_cache",
    "torch.npu.empty_cache": "empty_cache",
    "torch.accelerator.empty_cache": "empty_cache",
    "torch.accelerator.memory.empty_cache": "empty_cache",
    "gc.collect": "gc_collect",
} | dict.fromkeys(_CLOCKS, "clock")
_FINITE = frozenset(("isnan", "isinf", "isfinite"))
_NUMBERS = frozenset(("float", "int", "bool"))
_SHOWN = frozenset(
    """print info debug log warning add_scalar add_scalars set_postfix set_postfix_str set_description write log_metric
    log_metrics""".split()
)
_MOVES = frozenset(("cuda", "npu", "to"))
_READS = frozenset(("item", "tolist", "cpu"))
_GATHERS = frozenset(("append", "update"))
_FACTORIES = frozenset(
    """torch.zeros torch.ones torch.full torch.empty torch.tensor torch.arange torch.linspace torch.eye torch.rand
    torch.randn torch.randint torch.FloatTensor torch.LongTensor torch.Tensor torch.IntTensor""".split()
)
_SCALAR = lazy_compile(
    r"loss|acc|err|norm|prec|top_?[15]|correct|total|kl|nll|ppl|count|num|n_\w+|score|coef|scale|ratio|len|metric",
    re.IGNORECASE,
)
_REDUCES = frozenset(("sum", "mean", "max", "min", "norm", "item", "argmax", "std", "prod", "median"))
_MODULE = lazy_compile(
    r"torch\.nn\.\w+\(\)$|(?:^|[._?:])(?:\w*model\w*|net|\w+_net|net\w?|module|backbone|ema)$|state_dict\(\)"
)
_WAITS = lazy_compile(r"stream|event", re.IGNORECASE)
# Functions that a training loop calls now and then, whatever the condition; what stands below a debugging switch.
_ASIDE = lazy_compile(r"(?:^|[._])(?:save|dump|plot|visuali[sz]e|draw|export|checkpoint)(?:_|$)", re.IGNORECASE)
_DEBUG = lazy_compile(r"debug", re.IGNORECASE)
_SAME_PLACE = frozenset("detach float double long int half clone contiguous squeeze unsqueeze view reshape".split())
_GRAPHS = frozenset(("dgl", "torch_geometric", "torch_sparse"))
_NEAR = 4  # lines between a synchronisation and the clock that it is for
_DEPTH = 5

_METHODS = _READS | _MOVES | _SHOWN | _GATHERS | {"synchronize", "isnan", "isinf", "isfinite"}


def matches(name: str) -> bool:
    """What may read a tensor on the host, wait for the device, or copy to it."""
    if name in _CALLS or name in _NUMBERS or name == "print":
        return True
    head, _, last = name.rpartition(".")
    return last in _METHODS and bool(head) and not head.startswith(("numpy", "tensorflow", "os", "sys"))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``host_sync`` facts of calls that run in every training step, and of batches copied in other loops."""
    block, last = module.code.calls[index].block, name.rpartition(".")[2]
    step = context.around(module, block).get("step")
    if step != "yes" and (step != "no" or last not in _MOVES or module.loop_of(block) < 0):
        return []
    if context.names.function(name) is not None or _aside(context, module, block):
        return []
    cause = _CALLS.get(name) or _cause(context, module, index, name, last)
    if step != "yes" and cause != "blocking_copy":
        return []
    if not cause or (cause == "clock" and not starts_interval(call_at(context, module, index))):
        return []
    text = written(module, module.code.calls[index].callee)
    timed = partial(_timed, context, module, index)
    return [context.call_fact("host_sync", cause, module, index, written=text, timed=timed)]


def _aside(context: Context, module: Module, block: int) -> bool:
    """Whether code only writes a checkpoint or a picture, or runs when somebody debugs."""
    if _ASIDE.search(module.qualname(block).rpartition(".")[2]):
        return True
    return any(_DEBUG.search(word) for word in context.guards.words(module, block))


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """``total += loss`` keeps the graph of every step."""
    return added_losses(context, module)


def _cause(context: Context, module: Module, index: int, name: str, last: str) -> str:
    call = module.code.calls[index]
    if last in _READS:
        return _read(context, module, call, name, last)
    if last in _MOVES:
        return _moved(context, module, call, last)
    if last == "synchronize":
        return "synchronize" if _WAITS.search(name.rpartition(".")[0]) else ""
    if last in _FINITE:
        return "isfinite_if" if _in_test(context, module, index) and takes_loss(context, module, call) else ""
    if last == "append":
        return "append_graph" if takes_loss(context, module, call) and gathers_loss(context, module, call) else ""
    if name in _NUMBERS:
        return name if call.args and is_loss(context, module, call.args[0], call.block, call.line) else ""
    if last in _SHOWN and shows_loss(context, module, call):
        return "print" if name == "print" else "log"
    return ""


def _read(context: Context, module: Module, call: Call, name: str, last: str) -> str:
    """item, tolist, cpu; cpu_scalar for a single number."""
    receiver = receiver_of(call)
    if receiver is None or not method_of(name) or call.args:
        return ""
    if on_host(context, module, receiver, call.block, call.line):
        return ""
    if _is_module(context, module, receiver, call) or (last == "cpu" and _is_dropped(module, call)):
        return ""
    if _made_on_host(context, module, receiver):
        return ""
    if _from_loader(context, module, receiver, call.block, call.line):  # it is there already
        return ""
    if last == "cpu" and (_converts(module, call) or _feeds_host_library(module)):
        return ""
    if last == "cpu" and (_small(module, receiver) or is_loss(context, module, receiver, call.block, call.line)):
        return "cpu_scalar"
    return last


def _converts(module: Module, call: Call) -> bool:
    """Whether a function does nothing but hand its argument over to numpy: its callers decide when."""
    function = module.function_of(call.block)
    if function <= 0:
        return False
    record = module.blocks[function]
    lines = {module.code.calls[i].line for i in module.calls_in.get(function, ())}
    plain = (
        len(record.params) == 1
        and lines == {call.line}
        and not any(b.block == function for b in module.code.assignments)
    )
    return plain and any(r.block == function and r.line == call.line for r in module.code.returns)


def _feeds_host_library(module: Module) -> bool:
    """Whether the module computes with a library that has no operators for the NPU, which is reported itself."""
    return any(record.module.partition(".")[0] in _GRAPHS for record in module.code.imports)


def _is_module(context: Context, module: Module, receiver: Value, call: Call) -> bool:
    name = context.names.of_value(module, receiver, call.block, call.line)
    return _MODULE.search(name) is not None


def _is_dropped(module: Module, call: Call) -> bool:
    """Whether nobody takes a call's result: then it moves a module, for tensors are copied."""
    binds, returns = module.code.assignments, module.code.returns
    if any(bind.block == call.block and bind.line <= call.line <= bind.end_line for bind in binds):
        return False
    if any(record.block == call.block and record.line <= call.line for record in returns):
        return False
    if any(block.parent == call.block and block.line == call.line for block in module.blocks):
        return False
    place = (call.line, call.column)
    return not any(
        other is not call and (other.line, other.column) <= place and (other.end_line, other.end_column) >= place
        for other in module.code.calls
    )


def _small(module: Module, value: Value, depth: int = 0) -> bool:
    """Whether an expression reads like one number: a loss, an accuracy, a sum."""
    if isinstance(value, Ref):
        return _SCALAR.search(value.name) is not None
    if isinstance(value, CallResult):
        last = module.callee_name(value.call)
        if last in _REDUCES or _SCALAR.search(last):
            return True
        receiver = receiver_of(module.code.calls[value.call])
        return receiver is not None and depth < _DEPTH and _small(module, receiver, depth + 1)
    return isinstance(value, Op) and depth < _DEPTH and _small(module, value.operands[0], depth + 1)


def _moved(context: Context, module: Module, call: Call, last: str) -> str:
    """``x.to("cpu")``, a blocking copy of a batch, or a tensor that is made on the host first."""
    receiver = receiver_of(call)
    if receiver is None:
        return ""
    if last == "to":
        target = argument(call, "device", 0)
        if target is None:
            return ""
        known = context.known(module, target, call).single
        if known == "cpu" or _is_cpu(context, module, target, call):
            if on_host(context, module, receiver, call.block, call.line) or _is_dropped(module, call):
                return ""
            return "cpu_scalar" if _small(module, receiver) else "cpu"
        if not _is_device(context, module, target, call):
            return ""
    if _made_on_host(context, module, receiver):
        return "host_tensor"
    if _non_blocking(context, module, call, last):
        return ""
    return "blocking_copy" if _from_loader(context, module, receiver, call.block, call.line) else ""


def _made_on_host(context: Context, module: Module, value: Value) -> bool:
    """``torch.zeros(n)`` without a device."""
    if not isinstance(value, CallResult) or context.names.of_call(module, value.call) not in _FACTORIES:
        return False
    return not any(key in ("device", "**") for key, _ in module.code.calls[value.call].keywords)


def _non_blocking(context: Context, module: Module, call: Call, last: str) -> bool:
    """Whether a copy may be asynchronous already."""
    if any(key == "**" for key, _ in call.keywords):
        return True
    value = argument(call, "non_blocking", -1 if last == "to" else 1) or argument(call, "async", -1)
    return value is not None and truth(context.known(module, value, call)) is not False


def _is_cpu(context: Context, module: Module, target: Value, call: Call) -> bool:
    if not isinstance(target, CallResult) or context.names.of_call(module, target.call) != "torch.device":
        return False
    made = module.code.calls[target.call]
    return bool(made.args) and context.known(module, made.args[0], made).single == "cpu"


def _is_device(context: Context, module: Module, target: Value, call: Call) -> bool:
    """Whether the first argument of ``to`` reads like a device, not like a type or another tensor."""
    known = context.known(module, target, call).values
    if any(isinstance(v, str) and v.partition(":")[0] in ("npu", "cuda") for v in known):
        return True
    if isinstance(target, Const):
        return isinstance(target.value, int) and not isinstance(target.value, bool)
    if context.names.of_value(module, target, call.block, call.line) == "torch.device()":
        return True
    return isinstance(target, Ref) and _reads_like_device(target.name)


_DEVICE = lazy_compile(r"(?:^|[._])(?:device|dev|gpu|npu|local_rank|rank|loc|cuda)(?:_?id|_?name)?$", re.IGNORECASE)


def _reads_like_device(name: str) -> bool:
    """Whether a name is customary for a device."""
    return bool(_DEVICE.search(name))


def _from_loader(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a value is (a part of) what a loop in this function goes through."""
    if depth > 2 * _DEPTH:
        return False
    if isinstance(value, Op) and value.op in ("[]", ".", "iter"):
        part = _table_of(module, value.operands[0]) if value.op == "iter" else value.operands[0]
        return part is None or _from_loader(context, module, part, block, line, depth + 1)
    if isinstance(value, CallResult) and module.callee_name(value.call) in _SAME_PLACE:
        source = receiver_of(module.code.calls[value.call])
        return source is not None and _from_loader(context, module, source, block, line, depth + 1)
    if not isinstance(value, Ref):
        return False
    around = block
    while around > 0:  # a comprehension over the batch
        record = module.blocks[around]
        if value.name in record.params and record.kind == "loop":
            return any(
                _from_loader(context, module, Ref(name.partition(".")[0]), record.parent, line, depth + 1)
                for name in _sources(module, record.test)
            )
        around = record.parent
    binds = context.flow.bindings(module, value.name.partition(".")[0], block, line)
    return any(
        home is module and _from_loader(context, home, bind.value, bind.block, bind.line, depth + 1)
        for home, bind in binds
    )


def _table_of(module: Module, value: Value) -> Value | None:
    """The table whose parts a loop goes through, as in ``for key, part in batch.items()``."""
    if not isinstance(value, CallResult) or module.callee_name(value.call) not in ("items", "values", "keys"):
        return None
    return receiver_of(module.code.calls[value.call])


def _sources(module: Module, value: Value) -> Iterator[str]:
    if isinstance(value, CallResult):
        receiver = receiver_of(module.code.calls[value.call])
        yield from names_in(receiver) if receiver is not None else ()
    else:
        yield from names_in(value)


def _in_test(context: Context, module: Module, index: int) -> bool:
    """Whether a call is part of the condition of a branch."""
    return index in context.memoize(("tests", module.path), lambda: frozenset(_tested(module)))


def _tested(module: Module) -> Iterator[int]:
    queue = [block.test for block in module.blocks if block.kind == "if"]
    while queue:
        part = queue.pop()
        if isinstance(part, Op):
            queue += part.operands
        elif isinstance(part, CallResult):
            yield part.call
            receiver = receiver_of(module.code.calls[part.call])
            queue += [*module.code.calls[part.call].args, *((receiver,) if receiver is not None else ())]


def _timed(context: Context, module: Module, index: int) -> str:
    """Whether a clock is read beside a synchronisation, for which it then is."""
    call = module.code.calls[index]
    near = any(
        abs(module.code.calls[i].line - call.line) <= _NEAR
        for i in module.calls_in.get(module.function_of(call.block), ())
        if context.names.of_call(module, i) in _CLOCKS
    )
    return "yes" if near else "no"
