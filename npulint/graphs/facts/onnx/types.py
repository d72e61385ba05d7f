"""Facts ``onnx_type``: element types without fast NPU arithmetic, and where they enter a model."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Literal

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.graphs.facts.graph_fact import GraphFact, Place
from npulint.graphs.facts.onnx.view import OnnxView, dtype_of, shape_of

SlowTypeName = Literal["float64", "complex", "int64"]

_DOUBLE = 11  # the number of the type in Cast
_NAMES: dict[str, SlowTypeName] = {"float64": "float64", "complex64": "complex", "complex128": "complex"}
_ARITHMETIC = frozenset("Add Sub Mul Div Mod Pow MatMul Gemm ReduceSum ReduceMean ReduceProd CumSum Neg".split())
_LARGE = 1024  # elements; sizes and indices are smaller


@fact_kind("onnx_type")
class OnnxType(GraphFact, eq=False, dict=True, kw_only=True):
    """An element type without fast NPU arithmetic; the name is float64, complex or int64."""

    name: SlowTypeName
    made_by: str
    """The operator that introduces it, or the first input or weight."""


def facts(view: OnnxView) -> list[OnnxType]:
    """One fact per place that introduces float64 or complex, and one per model for int64 arithmetic on large
    tensors."""
    groups: dict[tuple[SlowTypeName, Place], list[Node]] = {}
    slow_names: set[str] = set()
    for node in (*_given(view), *view.all()):
        name = _type(node)
        if name is None or not _sized(node):
            continue
        fresh = not any(text.partition(":")[0] in slow_names for text in node.inputs)
        slow_names.add(node.name)
        if fresh and node.op != "Constant":
            place = (view.path, Span()) if node.op in ("placeholder", "initializer") else view.place(node)
            groups.setdefault((name, place), []).append(node)
    onnx_types = [
        OnnxType(view.node_set(nodes, place), name=name, made_by=_maker(nodes[0]))
        for (name, place), nodes in groups.items()
    ]
    integers = [node for node in view.all() if node.op in _ARITHMETIC and dtype_of(node) == "int64" and _large(node)]
    if integers:
        place = view.place(integers[0])
        onnx_types.append(OnnxType(view.node_set(integers, place), name="int64", made_by=integers[0].op))
    return onnx_types


def _given(view: OnnxView) -> Iterable[Node]:
    return (node for node in view.graph.bodies[0].nodes if node.op in ("placeholder", "initializer"))


def _type(node: Node) -> SlowTypeName | None:
    slow_type = _NAMES.get(dtype_of(node))
    return "float64" if slow_type is None and node.op == "Cast" and _to_double(node) else slow_type


def _to_double(node: Node) -> bool:
    to: object = node.attrs.get("arguments", {}).get("to")
    return to == _DOUBLE


def _sized(node: Node) -> bool:
    """Whether the node returns more than one number."""
    shape = shape_of(node)
    return shape is None or any(isinstance(size, str) or size > 1 for size in shape)


def _large(node: Node) -> bool:
    """Whether the result certainly has many elements; open dimensions count as one."""
    shape = shape_of(node)
    return shape is not None and prod(size for size in shape if isinstance(size, int) and size > 0) >= _LARGE


def _maker(node: Node) -> str:
    return node.name if node.op in ("placeholder", "initializer") else node.op
