"""Code that makes the host wait for the device, or repeats work, in every training step."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.facts.values import truth
from npulint.model.running.block_contents import assignments_inside, calls_inside
from npulint.model.running.code_facts import CallFact
from npulint.model.running.conditions import words_around
from npulint.model.running.surroundings import step_at
from npulint.model.values.context import once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.host_made import is_made_on_host, stored_from_host
from npulint.recognizers.torch.losses import gathers_loss, is_loss, shows_loss, takes_loss
from npulint.recognizers.torch.tensors import is_host_tensor, method_of, on_host, short_text

# Clock readings in the training step: do they measure part of an iteration, or whole iterations?


def starts_interval(clock: CallSite) -> bool:
    """Whether a reading starts an interval that ends in the same iteration (``t = time()``, later ``time() - t``). A
    difference to the previous iteration or to the start is correct on average, because the queue of launched operators
    is bounded."""
    loop, names = clock.scope.loop, [assignment.target for assignment in clock.assignments]
    if loop is None or not names:
        return False
    values = [assignment.value for assignment in assignments_inside(loop)]
    values += [value for call in calls_inside(loop) for value in call.arguments]
    lines = [value.line for value in values if any(_subtracts(part, names[0]) for part in value.nested)]
    return bool(lines) and min(lines) > clock.line


def _subtracts(value: Expr, name: str) -> bool:
    """Whether an expression subtracts a name."""
    operands = value.operands("-")
    return bool(operands) and operands[-1].written == name


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
_SCALAR = lazy_compile(
    r"loss|acc|err|norm|prec|top_?[15]|correct|total|kl|nll|ppl|count|num|n_\w+|score|coef|scale|ratio|len|metric",
    re.IGNORECASE,
)
_PARAMETERS = lazy_compile(r"(?:^|[._])(?:param(?:eter)?s?|named_parameters|grads|gradients)$", re.IGNORECASE)
_REDUCES = frozenset(("sum", "mean", "max", "min", "norm", "item", "argmax", "std", "prod", "median"))
_MODULE = lazy_compile(
    r"torch\.nn\.\w+\(\)$|^super\(\)$|(?:^|[._?:])(?:\w*model\w*|net|\w+_net|net\w?|module|backbone|ema)$|state_dict\(\)"
)
_WAITS = lazy_compile(r"stream|event", re.IGNORECASE)
# Functions that a training loop calls occasionally, whatever the condition; code under a debugging flag.
_OCCASIONAL = lazy_compile(r"(?:^|[._])(?:save|dump|plot|visuali[sz]e|draw|export|checkpoint)(?:_|$)", re.IGNORECASE)
_DEBUG = lazy_compile(r"debug", re.IGNORECASE)
_SAME_PLACE = frozenset("detach float double long int half clone contiguous squeeze unsqueeze view reshape".split())
_GRAPHS = frozenset(("dgl", "torch_geometric", "torch_sparse"))
_NEAR = 4  # maximum lines between a synchronisation and its clock
_DEVICE = lazy_compile(r"(?:^|[._])(?:device|dev|gpu|npu|local_rank|rank|loc|cuda)(?:_?id|_?name)?$", re.IGNORECASE)

_METHODS = _READS | _MOVES | _SHOWN | _GATHERS | {"synchronize", "isnan", "isinf", "isfinite"}


@fact_kind("host_sync")
class HostSync(CallFact):
    """A call makes the host wait for the device in every training step, or repeats work there; also the copy of a
    batch in another loop. The name is the cause: item, item_of_each (of every parameter), tolist, cpu, cpu_scalar,
    float, int, bool, print, log, clock, synchronize, stream_synchronize, empty_cache, gc_collect, isfinite_if,
    append_graph, host_tensor or blocking_copy."""

    @attribute
    def written(self) -> str:
        """The callee, shortened for the message."""
        return short_text(self.call.callee)

    @attribute
    def of_cuda(self) -> bool:
        """Whether it asks CUDA and not the device in use: ``torch.cuda.empty_cache()``."""
        return self.call.name.startswith("torch.cuda.")

    @attribute
    def timed(self) -> bool:
        """Whether a clock is read next to it, so that it synchronises for a measurement."""
        near = (call for call in self.scope.routine.calls if abs(call.line - self.call.line) <= _NEAR)
        return any(call.name in _CLOCKS for call in near)


def _may_wait(name: str) -> bool:
    """Whether calls of a name may read a tensor on the host, wait for the device, or copy to it."""
    if name in _CALLS or name in _NUMBERS or name == "print":
        return True
    head, _, last = name.rpartition(".")
    return last in _METHODS and bool(head) and not head.startswith(("numpy", "tensorflow", "os", "sys"))


@recognizes(matching=_may_wait)
def host_syncs(call: CallSite) -> list[HostSync]:
    """Calls in every training step, and batches copied in other loops."""
    scope, name = call.scope, call.name
    last = name.rpartition(".")[2]
    step = step_at(scope, call.line)
    if step != "yes" and (step != "no" or last not in _MOVES or scope.loop is None):
        return []
    if call.target is not None or _is_occasional(scope):
        return []
    cause = _CALLS.get(name) or _cause(call, name, last)
    if not cause or (step != "yes" and cause != "blocking_copy"):
        return []
    if cause == "clock" and not starts_interval(call):
        return []
    if cause == "synchronize" and _is_asked_for(scope):
        return []
    return [HostSync(call, cause)]


@recognizes_in_modules
def stored_host_tensors(module: Scope) -> list[HostSync]:
    """Tensors of the host whose elements every training step stores into a tensor of the device."""
    made = stored_from_host(module)
    return [HostSync(call, "host_tensor") for call in made if step_at(call.scope, call.line) == "yes"]


def _is_asked_for(scope: Scope) -> bool:
    """Whether somebody asks to wait for the device, by an option or by calling a function of that name."""
    return any("sync" in word for word in (*words_around(scope), scope.qualname.rpartition(".")[2]))


def _is_occasional(scope: Scope) -> bool:
    """Whether code only writes a checkpoint or an image, or runs only for debugging."""
    if _OCCASIONAL.search(scope.qualname.rpartition(".")[2]):
        return True
    return any(_DEBUG.search(word) for word in words_around(scope))


def _cause(call: CallSite, name: str, last: str) -> str:
    """The reason why a call makes the host wait; empty if it does not."""
    if last in _READS:
        return _read(call, name, last)
    if last in _MOVES:
        return _moved(call, last)
    if last == "synchronize":
        return "stream_synchronize" if _WAITS.search(name.rpartition(".")[0]) else ""
    if last in _FINITE:
        return "isfinite_if" if call.index in _tested(call.scope) and takes_loss(call) else ""
    if last == "append":
        return "append_graph" if takes_loss(call) and gathers_loss(call) else ""
    if name in _NUMBERS:
        return name if call.record.args and is_loss(call.args[0]) else ""
    if last in _SHOWN and shows_loss(call):
        return "print" if name == "print" else "log"
    return ""


# -- values that are read ----------------------------------------------------------------------------


def _read(call: CallSite, name: str, last: str) -> str:
    """item, tolist, cpu; cpu_scalar for a single number."""
    receiver = call.receiver
    if receiver is None or not method_of(name) or call.record.args:
        return ""
    if _is_there_already(receiver) or _MODULE.search(receiver.name):
        return ""
    if _is_from_loader(receiver):  # already on the device
        return ""
    if last != "cpu":
        return "item_of_each" if last == "item" and _goes_over_parameters(call.scope) else last
    if _is_dropped(call) or _only_converts(call) or _uses_host_library(call.scope):
        return ""
    return "cpu_scalar" if _is_small(receiver) or is_loss(receiver) else last


def _is_there_already(value: Expr) -> bool:
    """Whether a value is on the host anyway."""
    return on_host(value) or is_made_on_host(value) or is_host_tensor(value)


def _goes_over_parameters(scope: Scope) -> bool:
    """Whether the innermost loop around a block goes over the parameters of a model."""
    loop = scope.loop
    if loop is None or loop.routine is not scope.routine:
        return False
    return any(_PARAMETERS.search(part.written) for part in loop.test.mentioned)


def _only_converts(call: CallSite) -> bool:
    """Whether a function only converts its argument to numpy: its callers decide when."""
    function = call.scope.function
    if function is None or len(function.parameters) != 1:
        return False
    if any(local_assignment.scope is function for local_assignment in function.local_assignments):
        return False
    returned = [value.line - 1 for value in function.returns if value.scope is function]
    return call.line in returned and all(other.line == call.line for other in function.calls)


def _uses_host_library(scope: Scope) -> bool:
    """Whether the module computes with a library without NPU operators, which another check reports."""
    return any(record.module.partition(".")[0] in _GRAPHS for record in scope.module.code.imports)


def _is_dropped(call: CallSite) -> bool:
    """Whether the result of a call is unused: then it moves a module, since tensors are copied."""
    code, block, line = call.module.code, call.scope.block, call.line
    if any(
        assignment.block == block and assignment.line <= line <= assignment.end_line for assignment in code.assignments
    ):
        return False
    if any(return_record.block == block and return_record.line <= line for return_record in code.returns):
        return False
    if any(child.parent == block and child.line == line for child in code.blocks):
        return False
    start = (line, call.record.column)
    around = (
        record for record in code.calls if (record.line, record.column) <= start <= (record.end_line, record.end_column)
    )
    return all(record is call.record for record in around)


@walker(depth=6, otherwise=bool)
def _is_small(value: Expr) -> bool:
    """Whether an expression looks like a scalar: a loss, an accuracy, a sum."""
    if value.written:
        return _SCALAR.search(value.written) is not None
    call = value.call
    if call is None:
        return any(_is_small(part) for part in value.operands()[:1])
    if call.last in _REDUCES or _SCALAR.search(call.last):
        return True
    return call.receiver is not None and _is_small(call.receiver)


@once_per_file
def _tested(module: Scope) -> frozenset[int]:
    """The calls that are part of a branch condition."""
    return frozenset(index for block in module.blocks_of("if") for index in _calls_in(block.test))


def _calls_in(test: Expr) -> list[int]:
    """The calls in an expression, including those in their arguments and receivers."""
    indices = []
    for part in test.nested:
        call = part.call
        if call is not None:
            inner = (*call.args, call.receiver)
            indices += [call.index, *(index for value in inner if value is not None for index in _calls_in(value))]
    return indices


# -- values that are moved ---------------------------------------------------------------------------


def _moved(call: CallSite, last: str) -> str:
    """``x.to("cpu")``, a blocking copy of a batch, or a tensor created on the host first."""
    receiver = call.receiver
    target = call.argument("device", 0) if last == "to" else None
    if receiver is None or (last == "to" and target is None):
        return ""
    if target is not None and _is_cpu(target):
        if _is_there_already(receiver) or _is_dropped(call) or _is_asynchronous(call, last):
            return ""
        return "cpu_scalar" if _is_small(receiver) else "cpu"
    if target is not None and not _is_device(target):
        return ""
    if is_made_on_host(receiver):
        return "host_tensor"
    return "blocking_copy" if not _is_asynchronous(call, last) and _is_from_loader(receiver) else ""


def _is_asynchronous(call: CallSite, last: str) -> bool:
    """Whether a copy may already be asynchronous."""
    if call.has_keyword("**"):
        return True
    value = call.argument("non_blocking", -1 if last == "to" else 1) or call.argument("async")
    return value is not None and truth(value.known) is not False


def _is_cpu(target: Expr) -> bool:
    """Whether the first argument of ``to`` is the host."""
    if target.single == "cpu":
        return True
    made = target.call
    return (
        made is not None and made.name == "torch.device" and any(argument.single == "cpu" for argument in made.args[:1])
    )


def _is_device(target: Expr) -> bool:
    """Whether the first argument of ``to`` looks like a device, not like a type or another tensor."""
    if any(isinstance(value, str) and value.partition(":")[0] in ("npu", "cuda") for value in target.known.values):
        return True
    if target.is_literal:
        return isinstance(target.literal, int) and not isinstance(target.literal, bool)
    return target.name == "torch.device()" or bool(_DEVICE.search(target.written))


@walker(depth=11, otherwise=bool)
def _is_from_loader(value: Expr) -> bool:
    """Whether a value is (part of) what a loop in this function iterates over."""
    operator, call = value.operator, value.call
    if operator == "iter":
        table = _table_of(value.operands()[0])
        return table is None or _is_from_loader(table)
    if operator in ("[]", "."):
        return _is_from_loader(value.operands()[0])
    if call is not None:
        source = call.receiver if call.last in _SAME_PLACE else None
        return call.name == "next" if source is None else _is_from_loader(source)
    if not value.written:
        return False
    for around in value.scope.ancestors:  # a comprehension over the batch
        if around.kind == "loop" and value.written in around.parameters:
            outside = around.test.scope
            return any(_is_from_loader(outside.expr(Ref(name), value.line)) for name in _iterated(around.test))
    head = value.sibling(Ref(value.written.partition(".")[0]))
    return any(
        assignment.scope.module is value.module and _is_from_loader(assignment.value) for assignment in head.assignments
    )


def _table_of(value: Expr) -> Expr | None:
    """The mapping whose values a loop iterates over, as in ``for key, part in batch.items()``."""
    call = value.call
    return call.receiver if call is not None and call.last in ("items", "values", "keys") else None


def _iterated(test: Expr) -> set[str]:
    """The names whose values a loop may iterate over."""
    holder = test if test.call is None else test.call.receiver
    return set() if holder is None else {name.partition(".")[0] for name in holder.written_names}
