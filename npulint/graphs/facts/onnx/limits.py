"""Facts ``onnx_limit``: settings of operators that ATC's parsers refuse or ignore."""

from __future__ import annotations

from npulint.data.onnx import Effect, OnnxLimit, holds, limits
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.graphs.facts.graph_fact import GraphFact, Place
from npulint.graphs.facts.onnx.view import OnnxView, shape_of, split

_SIZES = (2, 3)  # inputs of Resize that say how many dimensions it changes
_PLANE = 4  # dimensions of an image


@fact_kind("onnx_limit")
class OnnxLimitFact(GraphFact, eq=False, dict=True, kw_only=True):
    """A setting of an operator that its parser in ATC does not support; the name is the operator."""

    setting: str
    """The attribute with its value (``antialias=1``), `Indices` for the second result of a pooling, or `rank` with the
    number of dimensions."""
    effect: Effect
    """Whether the conversion stops, or the setting is ignored: the converted model computes something else."""


def facts(view: OnnxView) -> list[OnnxLimitFact]:
    """One fact per setting and place."""
    groups: dict[tuple[str, str, Effect, Place], list[Node]] = {}
    for node in view.all():
        for setting, effect in _unsupported(view, node):
            groups.setdefault((node.op, setting, effect, view.place(node)), []).append(node)
    return [
        OnnxLimitFact(view.node_set(nodes, place), op, setting=setting, effect=effect)
        for (op, setting, effect, place), nodes in groups.items()
    ]


def _unsupported(view: OnnxView, node: Node) -> list[tuple[str, Effect]]:
    domain, name = split(node.op)
    if domain:
        return []
    arguments = node.attrs.get("arguments", {})
    unsupported: list[tuple[str, Effect]] = [
        (_shown(limit, arguments.get(limit.attribute)), limit.effect)
        for limit in limits(name, view.judged_opset)
        if holds(limit.when, arguments.get(limit.attribute), node.attrs.get("outputs", 1))
    ]
    if name == "Resize" and arguments.get("mode", "nearest") == "nearest":
        rank = _rank(view, node)
        unsupported += [(f"rank={rank}", "stops")] if rank and rank != _PLANE else []
    return unsupported


def _shown(limit: OnnxLimit, value: object) -> str:
    if value is None:
        return f"{limit.attribute}=default" if limit.when == "missing" else limit.attribute
    return f"{limit.attribute}={value}"


def _rank(view: OnnxView, node: Node) -> int:
    """The number of dimensions that a Resize scales, by its constant scales or sizes; 0 if unknown."""
    for place in _SIZES:
        constant = view.constants.get(node.inputs[place]) if place < len(node.inputs) else None
        shape = None if constant is None else shape_of(constant) or _stored(constant)
        if isinstance(shape, list) and len(shape) == 1 and isinstance(shape[0], int) and shape[0]:
            return shape[0]
    return 0


def _stored(constant: Node) -> object:
    """The shape of the tensor in a node ``Constant``."""
    value: object = constant.attrs.get("arguments", {}).get("value")
    return value.get("shape") if isinstance(value, dict) else None
