"""Facts about host-device synchronisation: values that the host reads, and shapes that depend on values."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.core.lazy_regex import lazy_compile
from npulint.data.aten import known as is_operator
from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.graphs.facts.graph_fact import GraphFact, Place
from npulint.graphs.facts.torch.view import TorchGraphView, base_of, node_set, overload_of

_READS = {"item": "item", "_local_scalar_dense": "item", "is_nonzero": "bool", "equal": "equal", "allclose": "equal"}
_SHAPES = {
    "nonzero": "nonzero",
    "nonzero_numpy": "nonzero",
    "argwhere": "nonzero",
    "masked_select": "masked_select",
    "_unique": "unique",
    "_unique2": "unique",
    "unique_dim": "unique",
    "unique_consecutive": "unique",
    "unique_dim_consecutive": "unique",
    "bincount": "bincount",
}
_COMPARISONS = frozenset(
    f"aten.{name}"
    for name in "eq ne lt le gt ge logical_and logical_or logical_not logical_xor isnan isinf isfinite isin".split()
)
_NUMBERS = frozenset(("aten.size", "aten.dim", "aten.numel", "aten.item", "aten.sym_size"))
_REPEATS = ("Tensor", "self_Tensor")
_COPIES = frozenset(("_to_copy", "to", "cpu", "_copy_from"))
_LISTED = 3
_UNBACKED = lazy_compile(r"\bu\d+\b")


@fact_kind("graph_sync")
class GraphSync(GraphFact, eq=False, dict=True):
    """The host waits for the device. It reads a value (the name is item, bool, equal or cpu), or a shape that depends
    on values (nonzero, masked_select, unique, repeat_interleave, bincount, index by a mask, one_hot, nms)."""

    op: str
    """The operator with its overload."""
    fallen: bool
    """Whether an operator at the same place runs on the CPU."""
    inside: str = ""
    """The lines of installed libraries that wait, if the step was recorded and the user's code does not itself."""
    causes: str = ""
    """What reads the value, if the step was recorded: item, bool, float, print, found_inf (of a gradient scaler) …"""

    @attribute
    def library(self) -> bool:
        """Whether a library waits, and not the user's code."""
        return bool(self.inside)

    @attribute
    def shape(self) -> bool:
        """Whether a shape depends on values."""
        return makes_shape(self.name)


def facts(view: TorchGraphView, fallen: frozenset[Place]) -> list[GraphSync]:
    """One fact ``graph_sync`` per kind of synchronisation, phase and place, and one more if libraries wait there too.
    `fallen` are the places of operators that run on the CPU: these synchronise as well, so they are marked, except in
    libraries, whose lines differ."""
    groups: dict[tuple[str, Place, str, bool], list[Node]] = {}
    for node, name in syncs(view):
        groups.setdefault((name, view.place(node), node.phase, bool(library_lines(node))), []).append(node)
    return [
        GraphSync(
            node_set(nodes, place), name, nodes[0].op, place in fallen and not called, inside(nodes), _causes(nodes)
        )
        for (name, place, _, called), nodes in groups.items()
    ]


def library_lines(node: Node) -> tuple[str, ...]:
    """The lines of libraries between the user's code and a recorded operator, innermost first."""
    return tuple(map(str, node.attrs.get("library", ())))


def inside(nodes: list[Node]) -> str:
    """The innermost lines of libraries that call these nodes, most frequent first, for a sentence."""
    return ", ".join(f"`{line}`" for line in _most((" ".join(library_lines(node)[:1]), node.count) for node in nodes))


def _causes(nodes: list[Node]) -> str:
    return ", ".join(_most((str(node.attrs.get("cause", "")), node.count) for node in nodes))


def _most(counted: Iterable[tuple[str, int]]) -> list[str]:
    """The most frequent texts."""
    counts: dict[str, int] = {}
    for text, number in counted:
        counts[text] = counts.get(text, 0) + number
    counts.pop("", None)
    return sorted(counts, key=lambda text: -counts[text])[:_LISTED]


def syncs(view: TorchGraphView) -> list[tuple[Node, str]]:
    """The nodes that make the host wait, with the reason: item, bool, equal, cpu; or a shape that depends on values:
    nonzero, masked_select, unique, repeat_interleave, bincount, index (by a mask), one_hot, nms."""
    away = view.live or any(node.attrs.get("device", "cpu") != "cpu" for node in view.inputs())
    waiting = []
    for body in view.graph.bodies:
        node_of = {node.name: node for node in body.nodes}
        for node in view.of(body):
            namespace, _, base = base_of(node.op).partition(".")
            if namespace == "aten":
                name = _READS.get(base) or _SHAPES.get(base) or _by_arguments(base, node, node_of, away)
            else:
                name = "nms" if (namespace, base) == ("torchvision", "nms") else ""
            if name:
                waiting.append((node, name))
    return waiting


def makes_shape(name: str) -> bool:
    """Whether the result of a node with this reason has a shape that depends on values."""
    return name not in ("item", "bool", "equal", "cpu")


def unbacked(shape: object) -> set[str]:
    """The symbols in a shape that depend on values."""
    sizes = shape if isinstance(shape, list) else []
    return {symbol for size in sizes if isinstance(size, str) for symbol in _UNBACKED.findall(size)}


def _by_arguments(base: str, node: Node, node_of: dict[str, Node], away: bool) -> str:
    arguments = node.attrs.get("arguments", {})
    if base == "repeat_interleave":
        by_tensor = overload_of(node.op) in _REPEATS or (not overload_of(node.op) and _by_tensor(node, node_of))
        return base if by_tensor and arguments.get("output_size") is None else ""
    if base == "one_hot":
        return base if arguments.get("num_classes", 0) == -1 else ""
    if base == "where":
        return "nonzero" if overload_of(node.op) == "default" and len(node.inputs) <= 1 else ""
    if base == "index":
        return base if arguments.get("indices") == "bool" or _masks(node, node_of) else ""
    if base in _COPIES and away:
        return "cpu" if base == "cpu" or str(arguments.get("device", "")).partition(":")[0] == "cpu" else ""
    return ""


def _by_tensor(node: Node, node_of: dict[str, Node]) -> bool:
    """Whether the second of two inputs is a tensor and not a number computed by a script."""
    second = node_of.get(node.inputs[1].partition(":")[0]) if len(node.inputs) > 1 else None
    return second is not None and is_operator(second.op) and base_of(second.op) not in _NUMBERS


def _masks(node: Node, node_of: dict[str, Node]) -> bool:
    """Whether an index is a mask, or the result has a size that depends on values."""
    names = [text.partition(":")[0] for text in node.inputs]
    before = {symbol for name in names if name in node_of for symbol in _counted(node_of[name])}
    indices = names[1:] if len(names) > 1 else names  # in scripts the indexed value may not be a node
    return any(_is_mask(node_of[name]) for name in indices if name in node_of) or bool(_counted(node) - before)


def _is_mask(node: Node) -> bool:
    """Whether a node returns booleans; if types are not recorded, according to its operator."""
    types = node.attrs.get("dtypes")
    return "bool" in types if types else base_of(node.op) in _COMPARISONS


def _counted(node: Node) -> set[str]:
    return {symbol for shape in node.attrs.get("shapes", ()) for symbol in unbacked(shape)}
