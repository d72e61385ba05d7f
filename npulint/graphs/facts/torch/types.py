"""Facts about element types without fast NPU arithmetic, and where they enter a graph."""

from __future__ import annotations

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.graphs.facts.graph_fact import GraphFact, Place
from npulint.graphs.facts.torch.view import TorchGraphView, base_of, node_set

_TYPES = {
    "float64": "float64",
    "complex32": "complex",
    "complex64": "complex",
    "complex128": "complex",
    "int64": "int64",
}
_ARITHMETIC = frozenset(
    "add sub mul div rsub pow sum cumsum prod mm bmm matmul addmm floor_divide remainder fmod neg square".split()
)
_FLOATS = frozenset(("float16", "bfloat16", "float32", "float64"))


@fact_kind("graph_type")
class SlowType(GraphFact, eq=False, dict=True):
    """An element type without fast NPU arithmetic; the name is float64, complex or int64."""

    dtype: str
    """The type of the first node."""
    made_by: str
    """The operator that introduces it, or the input."""
    total: int
    """How many operators compute with it."""
    share: int
    """Their share of all operators, in percent."""


def facts(view: TorchGraphView) -> list[SlowType]:
    """One fact per place that introduces float64 or complex, and one per graph for int64 arithmetic."""
    slow_types: list[SlowType] = []
    nodes = [node for node in view.all() if _type(node)]
    for name in ("float64", "complex"):
        having = [node for node in nodes if _type(node) == name]
        if having:
            slow_types += _brought_in(view, name, having, _share(having, nodes))
    return [*slow_types, *_integers(view, nodes)]


def _brought_in(view: TorchGraphView, name: str, having: list[Node], share: int) -> list[SlowType]:
    """The nodes by place that return the type and have no input of it; graph inputs at the first line of the file."""
    typed_names = {node.name for node in having}
    inputs = [node for node in view.inputs() if _type(node) == name and _sized(node)]
    groups: dict[Place, list[Node]] = {(view.path, Span()): inputs} if inputs else {}
    typed_names |= {node.name for node in inputs}
    for node in having:
        if _sized(node) and not any(text.partition(":")[0] in typed_names for text in node.inputs):
            groups.setdefault(view.place(node), []).append(node)
    if view.live and groups:  # recordings do not contain the inputs of nodes
        groups = dict([next(iter(groups.items()))])
    total = sum(node.count for node in having)
    return [
        SlowType(node_set(nodes, place), name, _first(nodes[0]), _maker(nodes), total, share)
        for place, nodes in groups.items()
    ]


def _integers(view: TorchGraphView, nodes: list[Node]) -> list[SlowType]:
    """Arithmetic with int64 on whole tensors; on indices and sizes it is normal."""
    counted = [node for node in nodes if _computes(node)]
    having = [node for node in counted if _type(node) == "int64"]
    if not having:
        return []
    total, share = sum(node.count for node in having), _share(having, counted)
    return [SlowType(node_set(having, view.place(having[0])), "int64", "int64", _maker(having), total, share)]


def _computes(node: Node) -> bool:
    base = base_of(node.op).partition(".")[2].removesuffix("_")
    kind = _first(node)
    return base in _ARITHMETIC and _sized(node) and (kind == "int64" or kind in _FLOATS)


def _type(node: Node) -> str:
    """float64, complex, int64, ``other`` for another known type, or empty."""
    kind = _first(node)
    return _TYPES.get(kind, "other") if kind else ""


def _first(node: Node) -> str:
    return str(next(iter(node.attrs.get("dtypes", ())), ""))


def _sized(node: Node) -> bool:
    """Whether the node returns more than one number."""
    shape = next(iter(node.attrs.get("shapes", ())), None)
    return shape is None or bool(shape)


def _maker(nodes: list[Node]) -> str:
    """The operator, or of an only graph input its name in the model."""
    first = nodes[0]
    if first.op != "placeholder":
        return base_of(first.op)
    return "input" if len(nodes) > 1 else str(first.attrs.get("target", first.name))


def _share(part: list[Node], nodes: list[Node]) -> int:
    """The share of the nodes in percent."""
    return round(100 * sum(node.count for node in part) / max(sum(node.count for node in nodes), 1))
