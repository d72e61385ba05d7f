"""Element types in a TensorFlow graph: half precision, and types without fast NPU arithmetic."""

from __future__ import annotations

import math
from typing import Literal

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow.flow import DataFlow, is_gradient
from npulint.graphs.facts.tensorflow.formatting import op_counts
from npulint.graphs.facts.tensorflow.sizes import constant, elements, input_shape, shape_of, taken, type_of
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView

_SUMS = frozenset("Sum Mean Prod Cumsum Cumprod L2Loss EuclideanNorm SegmentSum UnsortedSegmentSum".split())
_CROSS = frozenset("SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits".split())
_POWERS = frozenset("Exp Expm1 Pow Sinh Cosh".split())
_MOMENTS = frozenset(("SquaredDifference",))
_MATRIX = ("MatMul", "BatchMatMul", "Conv", "DepthwiseConv", "Einsum", "SparseTensorDenseMatMul")
_PASSIVE = frozenset(
    """Const Identity IdentityN Placeholder PlaceholderV2 PlaceholderWithDefault Cast StopGradient Shape ShapeN Size
    Rank Reshape Squeeze ExpandDims Pack Unpack ConcatV2 ConcatOffset StridedSlice Slice Gather GatherV2 GatherNd
    Variable VariableV2 VarHandleOp ReadVariableOp NoOp _Arg _Retval Switch Merge Enter Exit NextIteration
    IteratorGetNext Assign AssignVariableOp Fill ZerosLike OnesLike Range OneHot Where Tile Transpose""".split()
)
_GUARDED = frozenset("Sqrt Rsqrt Log Reciprocal Inv Pow".split())
_OF_ZERO = frozenset(("Sqrt", "Pow"))  # defined for zero
_QUOTIENTS = frozenset("RealDiv Div DivNoNan Xdivy FloorDiv".split())
_THROUGH = frozenset("Identity Cast Reshape ExpandDims Squeeze Abs Enter Switch".split())
_WRAPS = frozenset("Add AddV2 AddN Sub Sum Cumsum".split())
_WIDE = ("float64", "complex64", "complex128")
_FEW = 2048  # float16 has no odd integers above
_SCALES = 8.0  # the smallest factor of a loss scale
_STATUS = ("FloatStatus", "IsFinite", "CheckNumerics")
_Group = Literal["sum", "cross_entropy", "power", "moments", "zero_guard", "infinite"]
_Extent = Literal["few", "many", "unknown"]


@fact_kind("graph_half")
class HalfOperator(GraphFact, eq=False, dict=True, kw_only=True):
    """An operator computes in float16 what may overflow, lose small numbers or divide by zero there; the name is its
    type."""

    group: _Group
    """What it computes: a sum, a cross entropy, a power, squared differences, a sum with a constant that float16 rounds
    to zero, a product with one that it rounds to infinity."""
    extent: _Extent
    """For sums: whether many elements are summed."""
    elements: int | Literal["unknown"]
    """The maximum number of summed elements."""


@fact_kind("graph_half_training")
class HalfTraining(GraphFact, eq=False, dict=True, kw_only=True):
    """Products of matrices in float16 are trained; the name is float16."""

    scaled: bool
    """Whether anything in the graph looks like a loss scale."""


@fact_kind("graph_numbers")
class SlowNumbers(GraphFact, eq=False, dict=True, kw_only=True):
    """A step computes with an element type that the NPU has no fast arithmetic for; the name is the type: float64,
    complex64, complex128, int64, or uint8 where sums may not wrap around."""

    share: int
    """The share of this type among the computing operators of the step, in percent."""
    heavy: int
    """How many of these multiply matrices or convolve."""
    ops: str
    """Their types with their counts, for a sentence."""


def facts(view: TensorFlowGraphView, target: Target) -> list[Fact]:
    """Facts ``graph_half``, ``graph_numbers`` and ``graph_half_training``."""
    half: dict[tuple[_Group, str, _Extent], list[tuple[Node, int | None]]] = {}
    wide: dict[str, list[Node]] = {}
    computing = 0
    for flow, place, node in view.stepped():
        kind = type_of(node)
        if kind == "float16":
            for group, size in _half(flow, place, node):
                half.setdefault((group, node.op, _extent(size)), []).append((node, size))
        if node.op not in _PASSIVE:
            computing += 1
            if kind in _WIDE or kind == "int64" or (kind == "uint8" and node.op in _WRAPS):
                wide.setdefault(kind, []).append(node)
    half_operators = [_half_fact(view, *key, pairs) for key, pairs in sorted(half.items())]
    slow = [_type_fact(view, kind, nodes, computing) for kind, nodes in sorted(wide.items())]
    return [*half_operators, *slow, *_training(view)]


def _half(flow: DataFlow, place: int, node: Node) -> list[tuple[_Group, int | None]]:
    """The effect of float16 on a node: (group, number of summed elements)."""
    if node.op in _SUMS:
        added = _added(flow, place)
        return [] if added is None and _of_broadcast(flow, place) else [("sum", added)]
    if node.op in _CROSS:
        return [("cross_entropy", None)]
    if node.op in _POWERS:
        return [("power", None)]
    if node.op in _MOMENTS:
        return [("moments", None)]
    if node.op in ("Add", "AddV2", "Maximum") and _guards(flow, place, node.op):
        zeros = (operand for operand in _operands(flow, place) if constant(flow, operand) == 0)
        return [("zero_guard", None)] if any(_written(flow, zero) for zero in zeros) else []
    if node.op == "Mul" and any(_infinite(constant(flow, operand)) for operand in _operands(flow, place)):
        return [("infinite", None)]
    return []


def _of_broadcast(flow: DataFlow, place: int) -> bool:
    """Whether a sum is the gradient of a broadcast, which usually has few elements."""
    axes = taken(flow, place, 1)
    return axes is not None and flow.nodes[axes].op == "BroadcastGradientArgs"


def _guards(flow: DataFlow, place: int, by: str) -> bool:
    """Whether a sum is a divisor or the argument of a root or logarithm, or a maximum of two numbers becomes one that
    must not be zero."""
    guarded = _GUARDED - _OF_ZERO if by == "Maximum" else _GUARDED
    queue, seen = [place], {place}
    while queue:
        at = queue.pop()
        for user in flow.consumers[at]:
            op = flow.nodes[user].op
            if op in guarded or (op in _QUOTIENTS and taken(flow, user, 1) == at):
                return True
            if op in _THROUGH and user not in seen:
                seen.add(user)
                queue.append(user)
    return False


def _operands(flow: DataFlow, place: int) -> list[int]:
    return [producer for position in (0, 1) if (producer := taken(flow, place, position)) is not None]


def _written(flow: DataFlow, place: int) -> bool:
    """Whether a zero is itself a half precision constant, so that it may have been a small number."""
    return flow.nodes[place].op == "Const" and type_of(flow.nodes[place]) == "float16"


def _infinite(value: float | None) -> bool:
    return value is not None and math.isinf(value)


def _added(flow: DataFlow, place: int) -> int | None:
    """The number of elements that are summed into one element of the result."""
    input_elements, output_elements = elements(input_shape(flow, place, 0)), elements(shape_of(flow, place))
    if flow.nodes[place].op == "L2Loss":
        return input_elements
    return None if not input_elements or not output_elements else input_elements // output_elements


def _extent(size: int | None) -> _Extent:
    return "unknown" if size is None else "many" if size > _FEW else "few"


def _half_fact(
    view: TensorFlowGraphView, group: _Group, op: str, extent: _Extent, pairs: list[tuple[Node, int | None]]
) -> HalfOperator:
    largest = max((size for _, size in pairs if size is not None), default=None)
    nodes = view.node_set([node for node, _ in pairs])
    return HalfOperator(nodes, op, group=group, extent=extent, elements="unknown" if largest is None else largest)


def _type_fact(view: TensorFlowGraphView, kind: str, nodes: list[Node], computing: int) -> SlowNumbers:
    heavy = sum(node.op.startswith(_MATRIX) for node in nodes)
    share = round(100 * len(nodes) / computing)
    return SlowNumbers(view.node_set(nodes), kind, share=share, heavy=heavy, ops=op_counts(nodes))


def _training(view: TensorFlowGraphView) -> list[HalfTraining]:
    """One fact if matrix products in float16 are trained."""
    nodes = [n for _, _, n in view.stepped() if n.op.startswith(_MATRIX) and type_of(n) == "float16"]
    if not nodes or not any(flow.updates for flow in view.flows):
        return []
    return [HalfTraining(view.node_set(nodes), "float16", scaled=_scaled(view))]


def _scaled(view: TensorFlowGraphView) -> bool:
    """Whether the graph seems to use a loss scale: its variable, an overflow test, a large factor."""
    for flow, place, node in view.all():
        if any(word in node.op for word in _STATUS) or "loss_scal" in node.name.lower().replace(
            "lossscal", "loss_scal"
        ):
            return True
        if node.op == "Mul" and type_of(node) in ("float16", "float32") and not is_gradient(node):
            factors = [constant(flow, operand) for operand in _operands(flow, place)]
            if any(isinstance(factor, float) and _scales(factor) for factor in factors):
                return True
    return False


def _scales(factor: float) -> bool:
    """Whether a number is a power of two large enough for a loss scale."""
    return math.isfinite(factor) and factor >= _SCALES and math.frexp(factor)[0] == 0.5
