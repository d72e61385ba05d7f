"""Chains of tf.data: the stages before another stage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.facts.attributes import Flag, flag
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker

_STEPS = 16  # maximum stages of a chain
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
_HOLDING = frozenset(("list", "tensorflow.constant", "tensorflow.convert_to_tensor"))
_SORTING = frozenset(("sort", "sorted", "natsorted", "shuffle"))
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
_READERS = frozenset(("from_tensor_slices", "TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"))
_LISTED = frozenset(("from_tensor_slices", "list_files", "range", "from_tensors"))

ShardOrder = Literal["list_files", "shuffle", "listing", "no"]
Elements = Literal["names", "records", "decoded", "unknown"]


def stages_before(stage: CallSite) -> Iterator[tuple[str, CallSite]]:
    """The calls of the stages before a stage, nearest first, each with the last segment of its canonical name; ends
    where the module does not show the origin."""
    for _ in range(_STEPS):
        made = _maker_of_receiver(stage)
        if made is None:
            return
        stage = made
        name = stage.name
        yield name.rpartition(".")[2], stage
        applied = stage.args[0].call if name.endswith(".apply") and stage.record.args else None
        if applied is not None:
            yield applied.name.rpartition(".")[2], applied


def shuffled(shard: CallSite) -> ShardOrder:
    """What shuffles a dataset before a stage in an order that differs between processes: ``list_files``, ``shuffle``
    (both without a seed), ``listing`` (of a folder, unsorted) or ``no``."""
    for last, made in stages_before(shard):
        if last in ("shuffle", "shuffle_and_repeat"):
            if made.argument("seed", 1 if last == "shuffle" else 2) is None:
                return "shuffle"
        elif last == "list_files":
            shuffled = made.argument("shuffle", 1)
            fixed = made.argument("seed", 2) is not None
            free = shuffled is None or shuffled.single is True
            return "list_files" if free and not fixed else "no"
        elif last in _READERS:
            return "listing" if made.args and _is_unsorted_listing(made.args[0]) else "no"
    return "no"


def elements(shuffle: CallSite) -> Elements:
    """The elements that a stage gets: ``names`` (or other values listed in the graph), ``records`` of files,
    ``decoded`` images and the like, or ``unknown``."""
    mapped = False
    for last, made in stages_before(shuffle):
        if last == "map" and heavy(made) == "yes":
            return "decoded"
        mapped = mapped or last in ("map", "map_and_batch")
        if last in _LISTED:
            return "unknown" if mapped else "names"
        if last == "from_generator":
            return "decoded"
        if last.endswith("RecordDataset") or last in ("flat_map", "interleave"):
            return "records"
    return "unknown"


def heavy(stage: CallSite) -> Flag:
    """Whether the function passed to ``map`` decodes, parses or transforms images; unknown if the function is not
    found."""
    value = stage.argument("map_func", 0)
    scopes = [] if value is None else value.functions
    return flag(any(_is_heavy(function) for function in scopes) if scopes else None)


@walker(depth=4, otherwise=bool)
def _is_heavy(function: Scope) -> bool:
    """Whether a function, or one that it calls, decodes, parses or transforms images."""
    inner = []
    for call in function.calls:
        name = call.name
        if name.startswith(_HEAVY) or name in _HEAVY_NAMES:
            return True
        target = call.target if ":" in name else None
        if target is not None and target.kind == "function":
            inner.append(target)
    return any(_is_heavy(target) for target in inner)


def _maker_of_receiver(call: CallSite) -> CallSite | None:
    """The call in the same module that created the receiver of a method call."""
    receiver = call.receiver
    if receiver is None or not receiver.written:
        return None if receiver is None else receiver.call
    nearest = receiver.assignments[:1]
    return nearest[0].value.call if nearest and nearest[0].scope.module is call.module else None


@walker(depth=7, otherwise=bool)
def _is_unsorted_listing(names: Expr) -> bool:
    """Whether file names come from a folder in the order of the file system."""
    if names.is_display:
        return any(_is_unsorted_listing(item) for item in names.items[:4])
    for made in names.sites:
        name = made.name
        if name in _LISTINGS:
            return not any(call.last in _SORTING for call in made.scope.routine.calls)
        if name in _HOLDING and made.args:
            return _is_unsorted_listing(made.args[0])
    return False
