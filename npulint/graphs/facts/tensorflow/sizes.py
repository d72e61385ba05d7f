"""Shapes and element types in a TensorFlow graph, as far as the graph determines them."""

from __future__ import annotations

import math
from typing import Any, Final, Literal

from npulint.facts.graph import Node
from npulint.graphs.facts.tensorflow.flow import DataFlow, named_input

Shape = list[int] | None
"""The sizes of the dimensions, -1 if unknown; None if the rank is unknown."""

Dims = Literal["batch", "inner", "rank"]
BATCH: Final = "batch"
INNER: Final = "inner"
RANK: Final = "rank"

_KEPT = frozenset(
    """Identity Cast StopGradient PreventGradient Snapshot CheckNumerics Relu Relu6 LeakyRelu Elu Selu Sigmoid Tanh
    Softplus Neg Abs Exp Log Log1p Sqrt Rsqrt Square Softmax LogSoftmax ReadVariableOp PlaceholderWithDefault
    Enter RefEnter Exit NextIteration Switch RefSwitch RefIdentity EnsureShape ZerosLike OnesLike""".split()
)
_SHAPED = frozenset("Placeholder PlaceholderV2 Variable VariableV2 VarHandleOp EnsureShape _Arg".split())
_STEPS = 64  # maximum number of shape-preserving operators to skip
_TYPES = ("T", "dtype", "Tparams", "DstT", "SrcT")


def declared_shape(node: Node, name: str = "shape") -> Shape:
    """The shape in an attribute of a node; None without one."""
    return _sizes(node.attrs.get(name))


def declared_shapes(node: Node, name: str) -> list[Shape] | None:
    """The list of shapes in an attribute of a node; None without one."""
    value = node.attrs.get(name)
    return [_sizes(shape) for shape in value] if isinstance(value, list) else None


def recorded_shapes(node: Node) -> list[Shape] | None:
    """The output shapes that the exporter stored with the node (``_output_shapes``); None if it did not."""
    return declared_shapes(node, "_output_shapes")


def shape_of(flow: DataFlow, place: int, output: int = 0) -> Shape:
    """The shape of output number `output` of the node at `place`; None if unknown."""
    for _ in range(_STEPS):
        node = flow.nodes[place]
        shapes = recorded_shapes(node)
        if shapes is not None:
            return shapes[output] if output < len(shapes) else None
        if node.op in _SHAPED:
            return declared_shape(node)
        if node.op == "Const":
            value = node.attrs.get("value")
            return _sizes(value.get("shape")) if isinstance(value, dict) else None
        listed = declared_shapes(node, "output_shapes")
        if listed is not None:
            return listed[output] if output < len(listed) else None
        first = named_input(node, 0)
        if node.op not in _KEPT or not first or not flow.inputs[place]:
            return None
        place, output = flow.inputs[place][0], output_of(first)
    return None


def input_shape(flow: DataFlow, place: int, position: int) -> Shape:
    """The shape of the data input number `position` of a node; None if unknown."""
    producer = taken(flow, place, position)
    return None if producer is None else shape_of(flow, producer, output_of(named_input(flow.nodes[place], position)))


def taken(flow: DataFlow, place: int, position: int) -> int | None:
    """The position of the node that produces a data input; None for function arguments."""
    return flow.place_of_input(flow.nodes[place], position)


def output_of(text: str) -> int:
    """The output number in an input name: 1 for ``node:1`` and ``node:values:1``."""
    last = text.rpartition(":")[2] if ":" in text else ""
    return int(last) if last.isascii() and last.isdigit() and len(last) < 6 else 0


def constant(flow: DataFlow, place: int) -> int | float | bool | None:
    """The value of a constant with one element, also behind Identity, Cast and the like; None for anything else."""
    for _ in range(_STEPS):
        node = flow.nodes[place]
        if node.op == "Const":
            content = node.attrs.get("value")
            value = content.get("value") if isinstance(content, dict) else None
            return value if isinstance(value, (int, float)) else None
        if node.op not in ("Identity", "Cast", "StopGradient", "Enter") or not flow.inputs[place]:
            return None
        place = flow.inputs[place][0]
    return None


def unknown(shape: Shape) -> str:
    """Which dimensions of a shape are unknown: none (empty), only the first (batch), others too (inner), or the
    rank."""
    if shape is None:
        return RANK
    if all(size >= 0 for size in shape):
        return ""
    return BATCH if all(size >= 0 for size in shape[1:]) else INNER


def elements(shape: Shape) -> int | None:
    """The number of elements; None if a dimension is unknown."""
    return None if shape is None or any(size < 0 for size in shape) else math.prod(shape)


def type_of(node: Node) -> str:
    """The element type of a node's computation, without the suffix of references; empty if it has none."""
    for name in _TYPES:
        word = node.attrs.get(name)
        if isinstance(word, str):
            return word.removesuffix("_ref")
    return ""


def written(shape: Shape) -> str:
    """A shape in Python notation: ``[None, 224, 224, 3]``."""
    if shape is None:
        return "unknown"
    return "[" + ", ".join("None" if size < 0 else str(size) for size in shape) + "]"


def _sizes(value: Any) -> Shape:
    return value if isinstance(value, list) and all(isinstance(size, int) for size in value) else None
