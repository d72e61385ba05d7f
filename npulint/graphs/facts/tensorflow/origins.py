"""The origin of values in a graph: constants, shapes, variables, feeds, or the data of a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from npulint.facts.graph import Node
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.sizes import Shape, constant, declared_shape, input_shape

CONSTANT, SHAPE, UNKNOWN, VARIABLE, FED, DATA = range(6)
"""From what is the same in every step to what certainly differs; a value is what the last of its inputs is. UNKNOWN:
arguments of functions, loops, shapes that the graph does not tell. FED: a single number; what else is fed is data."""

OriginWord = Literal["constant", "shape", "unknown", "variable", "fed", "data"]
WORDS: tuple[OriginWord, ...] = ("constant", "shape", "unknown", "variable", "fed", "data")

_STARTS = {
    **dict.fromkeys(("Const", "NoOp", "HostConst"), CONSTANT),
    **dict.fromkeys(("Variable", "VariableV2", "VarHandleOp", "TemporaryVariable", "AutoReloadVariable"), VARIABLE),
    **dict.fromkeys(("_Arg", "Merge", "RefMerge", "NextIteration", "RefNextIteration", "LoopCond"), UNKNOWN),
}
_FED = frozenset(("Placeholder", "PlaceholderV2", "PlaceholderWithDefault"))
_CALLS = frozenset(
    "PartitionedCall StatefulPartitionedCall While StatelessWhile If StatelessIf Case StatelessCase".split()
)
_SHAPES = frozenset(("Shape", "ShapeN", "Size", "Rank"))
_PICKS = frozenset(("StridedSlice", "Slice", "GatherV2", "Gather"))


def origins(flow: DataFlow, places: Iterable[int]) -> dict[int, int]:
    """The origin of the first outputs of these nodes and of everything that determines them. Takes time in proportion
    to the edges."""
    left = _needed(flow, places)
    origin_of = dict.fromkeys(left, UNKNOWN)  # values that only depend on loops stay unknown
    ready = [place for place, count in left.items() if not count]
    while ready:
        place = ready.pop()
        origin_of[place] = _origin(flow, place, origin_of)
        for consumer in flow.consumers[place]:
            if left.get(consumer) and not _begins(flow, consumer):
                left[consumer] -= 1
                if not left[consumer]:
                    ready.append(consumer)
    return origin_of


def _needed(flow: DataFlow, places: Iterable[int]) -> dict[int, int]:
    """The nodes to evaluate, with the number of inputs to evaluate before each."""
    left: dict[int, int] = {}
    queue = list(places)
    while queue:
        place = queue.pop()
        if place not in left:
            inputs = [] if _begins(flow, place) else flow.inputs[place]
            left[place] = len(inputs)
            queue += inputs
    return left


def _begins(flow: DataFlow, place: int) -> bool:
    """Whether a node's origin does not depend on its inputs."""
    op = flow.nodes[place].op
    if op in _STARTS or op in _FED or op in _SHAPES:
        return True
    return op in _PICKS and bool(flow.inputs[place]) and flow.nodes[flow.inputs[place][0]].op == "Shape"


def _origin(flow: DataFlow, place: int, origin_of: dict[int, int]) -> int:
    node, taken = flow.nodes[place], flow.inputs[place]
    origin = _STARTS.get(node.op)
    if origin is not None:
        return origin
    if node.op in _FED:
        return DATA if declared_shape(node) else FED
    if node.op in _SHAPES:
        return CONSTANT if node.op == "Rank" else _of_shape(input_shape(flow, place, 0))
    if _begins(flow, place):
        return _picked(flow, place, taken)
    values = [text for text in node.inputs if not text.startswith("^")]
    if not values:
        return DATA
    worst = max((origin_of[producer] for producer in taken), default=UNKNOWN)
    if len(taken) < len(values) or node.op in _CALLS:  # an input is outside of this body
        worst = max(worst, UNKNOWN)
    return DATA if _draws(node) else worst


def _picked(flow: DataFlow, place: int, taken: Sequence[int]) -> int:
    """A single dimension of a shape, which is constant where the graph knows the dimension."""
    shape = input_shape(flow, taken[0], 0)
    index = constant(flow, taken[1]) if len(taken) > 1 else None
    if shape is not None and isinstance(index, int) and -len(shape) <= index < len(shape):
        single = flow.nodes[place].op != "StridedSlice" or flow.nodes[place].attrs.get("shrink_axis_mask") == 1
        return CONSTANT if single and shape[index] >= 0 else _of_shape(shape)
    return _of_shape(shape)


def _of_shape(shape: Shape) -> int:
    if shape is None:
        return UNKNOWN
    return SHAPE if any(size < 0 for size in shape) else CONSTANT


def _draws(node: Node) -> bool:
    """Whether a node's result is data even if all inputs are constant."""
    return node.op.startswith(
        ("Random", "Iterator", "QueueDequeue", "TruncatedNormal", "Reader", "PyFunc", "Multinomial")
    )
