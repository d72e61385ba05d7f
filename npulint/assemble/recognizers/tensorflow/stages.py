"""Chains of tf.data: the stages that a data set went through before another one."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Op, Ref, SequenceDisplay, Value

_STEPS = 16
_LISTINGS = frozenset(
    (
        "glob.glob",
        "glob.iglob",
        "os.listdir",
        "os.scandir",
        "tensorflow.gfile.ListDirectory",
        "tensorflow.gfile.Glob",
        "tensorflow.io.gfile.glob",
        "tensorflow.io.gfile.listdir",
    )
)
_HEAVY = (
    "tensorflow.image.",
    "tensorflow.audio.",
    "tensorflow.contrib.image.",
    "tensorflow.contrib.ffmpeg.",
    "tensorflow.signal.",
)
_HEAVY_NAMES = frozenset(
    f"tensorflow.{name}"
    for name in """parse_single_example parse_example parse_single_sequence_example parse_sequence_example decode_raw
    decode_csv io.parse_single_example io.parse_example io.parse_sequence_example io.decode_raw io.decode_csv read_file
    py_func numpy_function py_function""".split()
)
_DEPTH = 3


def earlier(context: Context, module: Module, index: int) -> Iterator[tuple[str, int]]:
    """The calls that the data set of stage number `index` went through, the latest first, with their canonical
    names; ends where the module does not show what came before."""
    call = module.code.calls[index]
    for _ in range(_STEPS):
        made = _receiver(context, module, call)
        if made is None:
            return
        call = module.code.calls[made]
        name = context.names.of_call(module, made)
        yield name, made
        if name.endswith(".apply") and call.args and isinstance(call.args[0], CallResult):
            yield context.names.of_call(module, call.args[0].call), call.args[0].call


def repeats(context: Context, module: Module, index: int) -> bool:
    """Whether a data set is repeated without end before a stage: then no batch is ever short."""
    for name, made in earlier(context, module, index):
        last = name.rpartition(".")[2]
        if last in ("repeat", "shuffle_and_repeat"):
            return argument(module.code.calls[made], "count", 0 if last == "repeat" else 1) is None
    return False


def shuffled(context: Context, module: Module, index: int) -> str:
    """What puts the elements of a data set into an order that other processes do not share, before a stage:
    ``list_files``, ``shuffle`` (both without a seed), ``listing`` (a folder's, unsorted) or ``no``."""
    for name, made in earlier(context, module, index):
        call = module.code.calls[made]
        last = name.rpartition(".")[2]
        if last == "shuffle" or last == "shuffle_and_repeat":
            if argument(call, "seed", 1 if last == "shuffle" else 2) is None:
                return "shuffle"
        elif last == "list_files":
            wanted = argument(call, "shuffle", 1)
            fixed = argument(call, "seed", 2) is not None
            free = wanted is None or context.known(module, wanted, call).single is True
            return "list_files" if free and not fixed else "no"
        elif last in ("from_tensor_slices", "TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"):
            value = call.args[0] if call.args else None
            return "listing" if value is not None and _listed(context, module, value, call) else "no"
    return "no"


def elements(context: Context, module: Module, index: int) -> str:
    """What a stage gets: ``names`` (or other values that are listed in the graph), ``records`` of files, ``decoded``
    images and the like, or ``unknown``."""
    mapped = False
    for name, made in earlier(context, module, index):
        last = name.rpartition(".")[2]
        if last == "map" and heavy(context, module, made) == "yes":
            return "decoded"
        mapped = mapped or last in ("map", "map_and_batch")
        if last in ("from_tensor_slices", "list_files", "range", "from_tensors"):
            return "unknown" if mapped else "names"
        if last == "from_generator":
            return "decoded"
        if last.endswith("RecordDataset") or last in ("flat_map", "interleave"):
            return "records"
    return "unknown"


def heavy(context: Context, module: Module, index: int) -> str:
    """Whether the function given to ``map`` decodes, parses or changes images: yes, no or unknown."""
    call = module.code.calls[index]
    value = argument(call, "map_func", 0)
    found = [] if value is None else context.flow.functions(module, value, call.block, call.line)
    if not found:
        return "unknown"
    return "yes" if any(_works(context, home, block, _DEPTH) for home, block in found) else "no"


def _works(context: Context, module: Module, block: int, depth: int) -> bool:
    inner = []
    for made in module.calls_in.get(block, ()):
        name = context.names.of_call(module, made)
        if name.startswith(_HEAVY) or name in _HEAVY_NAMES:
            return True
        target = context.names.function(name) if ":" in name else None
        if target is not None and target[0].blocks[target[1]].kind == "function":
            inner.append(target)
    return depth > 0 and any(_works(context, home, at, depth - 1) for home, at in inner)


def _receiver(context: Context, module: Module, call: Call) -> int | None:
    """The call of the same module that made the object whose method is called."""
    callee = call.callee
    if isinstance(callee, Op) and callee.op == ".":
        inner: Value | None = callee.operands[0]
    elif isinstance(callee, Ref):
        holder = callee.name.rpartition(".")[0]
        binds = context.flow.bindings(module, holder, call.block, call.line) if holder else []
        inner = binds[0][1].value if binds and binds[0][0] is module else None
    else:
        inner = None
    return inner.call if isinstance(inner, CallResult) else None


def _listed(context: Context, module: Module, value: Value, call: Call, depth: int = 6) -> bool:
    """Whether file names come from a folder in the order that the file system gives them."""
    if isinstance(value, SequenceDisplay):
        return any(_listed(context, module, v, call, depth) for v in value.items[:4])
    sites = context.flow.sites(module, value, call.block, call.line)
    for home, made in sites:
        name = context.names.of_call(home, made)
        if name in _LISTINGS:
            return not _sorts(home, home.code.calls[made].block)
        inner = home.code.calls[made]
        if name in ("list", "tensorflow.constant", "tensorflow.convert_to_tensor") and inner.args and depth:
            return _listed(context, home, inner.args[0], inner, depth - 1)
    return False


def _sorts(module: Module, block: int) -> bool:
    """Whether the function around a block sorts or shuffles anything."""
    function = module.function_of(block)
    return any(
        module.callee_name(at) in ("sort", "sorted", "natsorted", "shuffle") for at in module.calls_in.get(function, ())
    )
