"""Distribution in PyTorch: process groups, model replication, collectives, processes."""

from __future__ import annotations

import re
from typing import ClassVar, Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.programs.own_communication import own_communication
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.code_places import imports_package, options_named, written_values
from npulint.model.running.surroundings import on_one_rank
from npulint.model.running.training import train_loop
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.data_loading import ancestry
from npulint.recognizers.torch.scaling import every_few

What = Literal[
    "init",
    "ddp",
    "parallel",
    "sync_bn",
    "collective",
    "sampler",
    "processes",
    "epoch",
    "no_sync",
    "accumulation",
    "rank",
]
DeviceChosen = Literal["given", "before", "late", "after", "unknown"]
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
_OF_ALL = frozenset(("all_reduce", "all_gather", "all_gather_into_tensor", "reduce_scatter", "reduce_scatter_tensor"))
_SYNC = frozenset(
    (
        "torch.nn.SyncBatchNorm.convert_sync_batchnorm",
        "torch.nn.SyncBatchNorm",
        "apex.parallel.convert_syncbn_model",
        "apex.parallel.SyncBatchNorm",
    )
)
_PROCESSES = lazy_compile(  # that may be ranks; the workers of a pool take tasks
    r"^(?:torch\.)?multiprocessing\.(?:spawn|Process|set_start_method|get_context)$|^os\.fork$"
)
_SAMPLER = lazy_compile(r"(?:^torch\.utils\.data\.distributed\.|[.:])Distributed\w*Sampler$")
_STARTS = (
    "torch.distributed.init_process_group",
    "deepspeed.init_distributed",
    "mmcv.runner.init_dist",
    "mmengine.dist.init_dist",
)
_RANKS = ("torch.distributed.get_rank", "torch.distributed.get_world_size")
_OWN = lazy_compile(r":(?:\w+\.)*[A-Z]\w*$")
_VIEWS = frozenset(("t", "transpose", "permute", "expand", "expand_as", "swapaxes", "movedim", "narrow"))
_SET_DEVICE = frozenset(("torch.npu.set_device", "torch.cuda.set_device"))
_COUNT = ("torch.cuda.device_count", "torch.npu.device_count")
_UNITS = {"days": 86400, "seconds": 1, "milliseconds": 0.001, "minutes": 60, "hours": 3600}
_ORDER = ("days", "seconds", "microseconds", "milliseconds", "minutes", "hours")
_LOCAL = "local_rank"
_OPTIMIZER = lazy_compile(r"(?:optim\w*|opt|scaler|amp)(?:\.\w+)*(?:\(\))?\.step$", re.IGNORECASE)
_CALLS: dict[str, What] = {
    **dict.fromkeys(_STARTS, "init"),
    **dict.fromkeys(_DDP, "ddp"),
    **dict.fromkeys(_PARALLEL, "parallel"),
    **dict.fromkeys(_SYNC, "sync_bn"),
    **dict.fromkeys(_RANKS, "rank"),
}


@fact_kind("distribution")
class Distribution(CallFact):
    """A function or class for distributed training is called; the name is the callee, for project classes their
    base."""

    what: What
    """The kind of interface."""
    stack: Literal["torch"] = "torch"
    """The distribution stack."""

    @attribute
    def own_wrapper(self) -> str:
        """The module of the project that wraps torch.distributed for its code and has this function; empty if there is
        none, and in the wrapper."""
        wrapper = own_communication(self.call.context) if self.name.startswith("torch.distributed.") else None
        return (
            wrapper.name if wrapper is not None and wrapper.covers(self.call.path, self.name.rpartition(".")[2]) else ""
        )

    @attribute
    def counted(self) -> bool:
        """Whether a condition around it counts the devices: it runs where several are visible."""
        tests = [ancestor.test for ancestor in self.call.scope.ancestors if ancestor.kind == "if"]
        counts = (part.call for test in tests for part in (test, *test.nested))
        return any(call is not None and call.name in _COUNT for call in counts)

    @attribute
    def in_place(self) -> bool:
        """Whether the wrapped model takes the place of the bare one: ``net = Wrapper(net)``."""
        bound = self.call.assignments
        model = self.call.argument("module", 0)
        return len(bound) == 1 and model is not None and bound[0].target == model.written and not bound[0].is_call


@fact_kind("distribution")
class ProcessStart(Distribution):
    """Processes are started."""

    @attribute
    def size_from(self) -> str:
        """The expression for the device count that certainly sets the number of processes; otherwise empty."""
        return _device_count(self.call)


@fact_kind("distribution")
class ProcessGroupStart(ProcessStart):
    """A process group is initialised."""

    @attribute
    def device_set(self) -> DeviceChosen:
        """When the process sets its device: ``given`` as an argument, ``before`` the call, ``late`` (after it and after
        a collective), ``after`` it, or ``unknown``."""
        return _device_chosen(self.call)

    @attribute
    def at_import(self) -> bool:
        """Whether it runs when the module is imported, not only when it is started as a script."""
        scope = self.call.scope
        return scope.function is None and scope.owner is None and not scope.is_started_only

    @attribute
    def timeout(self) -> float | None:
        """The timeout in seconds, if it is a literal ``timedelta``."""
        return _seconds(self.call.argument("timeout", 2))


@fact_kind("distribution")
class Collective(Distribution):
    """A collective communicates a tensor."""

    @attribute
    def contiguous(self) -> Literal["no", "unknown"]:
        """Whether the tensor is contiguous in memory."""
        return "no" if _is_view(self.call) else "unknown"

    @attribute
    def one_rank(self) -> bool:
        """Whether a single rank calls it for all: under a condition on the rank, without a group, while the function
        calls no collective elsewhere."""
        return self.name.rpartition(".")[2] in _OF_ALL and _is_of_one_rank(self.call)


@fact_kind("distribution")
class LocalRankOption(PlaceFact):
    """A script has a command line option for its local rank."""

    is_call: ClassVar[bool] = True

    call: CallSite
    stack: Literal["torch"] = "torch"
    """What distributes the training."""
    what: Literal["local_rank"] = "local_rank"
    """Which part it is."""

    @property
    def args(self) -> CallSite:
        """The arguments of the call that defines it."""
        return self.call

    @attribute
    def from_environment(self) -> bool:
        """Whether the project also reads the variable that torchrun sets."""
        return _reads_local_rank(self.scope.context)

    @attribute
    def dashed(self) -> bool:
        """Whether it is also written with a dash, as torch.distributed.launch passes it since PyTorch 2.0."""
        return any(argument.text == "--local-rank" for argument in self.call.args)

    @attribute
    def passed(self) -> bool:
        """Whether something in the project passes it: a launcher, a script that starts others, or DeepSpeed."""
        context = self.scope.context
        return bool(context.options.launched(_LOCAL, self.scope.module)) or _passes_local_rank(context)


def _is_of_one_rank(call: CallSite) -> bool:
    """Whether a branch for one rank contains a collective of the default group, and its function has no other."""
    if call.argument("group", 2) is not None or not on_one_rank(call.scope):
        return False
    others = (other for other in call.scope.routine.calls if _COLLECTIVE.match(other.name) and other is not call)
    return all(on_one_rank(other.scope) for other in others)


def _what(name: str) -> What | None:
    if name in _CALLS:
        return _CALLS[name]
    if name.startswith("torch.distributed.") and _COLLECTIVE.match(name):
        return "collective"
    if name.endswith("Sampler") and _SAMPLER.search(name):
        return "sampler"
    if _PROCESSES.match(name):
        return "processes"
    if name.endswith((".set_epoch", ".no_sync")):
        return "epoch" if name.endswith("h") else "no_sync"
    return "accumulation" if name.endswith(".step") and _OPTIMIZER.search(name) else None


@recognizes(matching=lambda name: _what(name) is not None or (":" in name and _OWN.search(name) is not None))
def distributions(call: CallSite) -> list[Distribution]:
    """Members of torch.distributed and the like; project classes derived from a data parallel class count as that
    class."""
    name: str | None = call.name
    what = _what(call.name)
    if what is None:
        name = next((base for base in ancestry(call.context, call.name) if base in _DDP or base in _PARALLEL), None)
        what = _what(name) if name is not None else None
    if name is None or what is None or (what == "accumulation" and not _accumulates(call)):
        return []
    return [_CLASSES.get(what, Distribution)(call, name, what)]


_CLASSES: dict[str, type[Distribution]] = {
    "init": ProcessGroupStart,
    "processes": ProcessStart,
    "collective": Collective,
}


@recognizes_in_modules
def local_rank_options(module: Scope) -> list[LocalRankOption]:
    """Options for the local rank."""
    options = [
        option_place.record
        for option_place in options_named(module.context, _LOCAL)
        if option_place.scope.module is module.module
    ]
    defined = (
        [call for call in module.all_calls if any(call.record is option.call for option in options)] if options else []
    )
    return [LocalRankOption(call.scope, call.span, _LOCAL, call=call) for call in defined]


@once
def _passes_local_rank(context: Context) -> bool:
    """Whether a module of the project starts scripts with the option, or imports DeepSpeed, whose launcher does."""
    for module in module_scopes(context):
        if imports_package(module, "deepspeed"):
            return True
        given = (argument for call in module.all_calls if call.last != "add_argument" for argument in call.args)
        if any(
            part.text.startswith("--local_rank") for expr in given for part in (expr, *expr.items, *expr.operands())
        ):
            return True
    return False


@once
def _reads_local_rank(context: Context) -> bool:
    """Whether a module of the project reads LOCAL_RANK from its environment."""
    return any(_names_variable(value) for module in module_scopes(context) for value in written_values(module))


@walker(depth=7, otherwise=bool)
def _names_variable(value: Expr) -> bool:
    return value.literal == "LOCAL_RANK" or any(map(_names_variable, value.operands() or value.items))


def _accumulates(call: CallSite) -> bool:
    """Whether an optimizer steps only in every n-th iteration of its training loop."""
    loop = train_loop(call.scope)
    around = list(call.scope.ancestors) if loop is not None else []
    inner = around[: around.index(loop)] if loop in around else []
    return any(block.kind == "if" and every_few(block.test) for block in inner)


def _device_chosen(call: CallSite) -> DeviceChosen:
    if call.has_keyword("device_id") or call.has_keyword("**"):
        return "given"
    function = call.scope.routine
    lines = _choices(function)
    if any(line < call.line for line in lines) or _chosen_by_callers(function):
        return "before"
    following = [line for line in lines if line > call.line]
    if not following:
        return "unknown"
    between = (later for later in function.calls if call.record.end_line < later.line < min(following))
    return "late" if any(_what(later.name) in ("collective", "ddp") for later in between) else "after"


def _choices(function: Scope) -> list[int]:
    """The lines on which a function sets the device, directly or through a project function."""
    return [call.line for call in function.calls if _sets_device(call)]


def _sets_device(call: CallSite) -> bool:
    if call.name in _SET_DEVICE:
        return True
    target = call.target
    return target is not None and target.kind != "class" and any(called.name in _SET_DEVICE for called in target.calls)


def _chosen_by_callers(function: Scope) -> bool:
    """Whether the callers of a function set the device before."""
    callers = function.callers if function.kind != "module" else []
    return any(line < caller.line for caller in callers for line in _choices(caller.scope.routine))


def _seconds(timeout: Expr | None) -> float | None:
    for made in timeout.sites if timeout is not None else ():
        if made.name.rpartition(".")[2] == "timedelta":
            units = [*zip(_ORDER, made.args, strict=False), *made.keywords.items()]
            numbers = [(_UNITS.get(unit, 0), value.single) for unit, value in units]
            if all(isinstance(number, int | float) for _, number in numbers):
                return sum(unit * float(str(number)) for unit, number in numbers)
    return None


def _device_count(call: CallSite) -> str:
    size = call.argument("world_size", 3) or call.argument("nprocs", 2)
    if size is None:
        return ""
    made = [assignment.value.call for assignment in size.assignments] if size.written else [size.call]
    counts = {call.name if call is not None and call.name in _COUNT else "" for call in made}
    return counts.pop() if len(counts) == 1 else ""


def _is_view(call: CallSite) -> bool:
    """Whether the tensor argument of a collective is a non-contiguous view."""
    gathers = call.callee.name.endswith(("all_gather", "all_gather_into_tensor"))
    tensor = call.argument("tensor", 1 if gathers else 0) or call.argument("input_tensor", 1)
    if tensor is not None and tensor.written and "." not in tensor.written:
        assignments = tensor.assignments
        if len(assignments) != 1 or assignments[0].scope.module is not call.module:
            return False
        tensor = assignments[0].value
    return tensor is not None and _skips(tensor)


def _skips(value: Expr) -> bool:
    call = value.call
    if call is not None:
        return call.last in _VIEWS and (not call.written or call.written.rpartition(".")[0] not in ("", "np", "numpy"))
    if value.subscript is not None:
        keys = value.subscript[1].items
        return len(keys) > 1 and not keys[0].is_literal and keys[-1].is_literal
    return value.attribute is not None and value.attribute[1] in ("T", "mT")
