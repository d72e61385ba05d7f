"""Operators and groups of operators that are needlessly slow on the NPU."""

from __future__ import annotations

from npulint.facts.attributes import Flag
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.sizes import elements, shape_of, taken, written
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView

_SLOW = {
    "patches": ("ExtractImagePatches", "ExtractVolumePatches"),
    "resize": ("ResizeBilinear", "ResizeBilinearGrad", "ResizeBicubic", "ResizeBicubicGrad"),
    "crop": ("CropAndResize", "CropAndResizeGradImage", "CropAndResizeGradBoxes"),
}
SLOW = {op: group for group, ops in _SLOW.items() for op in ops}
"""From operator type to its group in facts ``graph_slow_op``."""

_THROUGH = frozenset("Identity Cast Add AddV2 Sub Mul Floor RealDiv".split())
_STEPS = 6  # maximum number of operators between a random number and the product with its mask
_USERS = 32  # maximum consumers of a random number; a mask has a single product
_FACTORS = 4
_LISTED = 3


@fact_kind("graph_slow_op")
class SlowOperator(GraphFact, eq=False, dict=True, kw_only=True):
    """A step runs operators that are slow on the NPU; the name is their group: crop, patches or resize."""

    forward: int
    """How many are in the forward pass."""
    backward: int
    """How many are in the backward pass."""
    shapes: str
    """The shapes of some results, for a sentence."""
    mode: str
    """The options of a resize: align_corners, half_pixel_centers."""


@fact_kind("graph_dropout")
class NativeDropout(GraphFact, eq=False, dict=True, kw_only=True):
    """Random numbers become the mask of a dropout; the name is native."""

    noise_shape: Flag
    """Whether the mask has its own noise shape."""


def facts(view: TensorFlowGraphView, target: Target) -> list[Fact]:
    """Facts ``graph_slow_op`` and ``graph_dropout``."""
    slow: dict[str, list[tuple[DataFlow, int, Node]]] = {}
    masks: dict[Flag, list[Node]] = {}
    for flow, place, node in view.stepped_of(SLOW):
        slow.setdefault(SLOW[node.op], []).append((flow, place, node))
    for flow, place, node in view.stepped_of(("RandomUniform",)):
        shaped = _mask(flow, place)
        if shaped:
            masks.setdefault(shaped, []).append(node)
    slow_operators = [_slow(view, group, nodes) for group, nodes in sorted(slow.items())]
    dropouts = [NativeDropout(view.node_set(masks[mask]), "native", noise_shape=mask) for mask in sorted(masks)]
    return [*slow_operators, *dropouts]


def _slow(view: TensorFlowGraphView, group: str, placed_nodes: list[tuple[DataFlow, int, Node]]) -> SlowOperator:
    nodes = [node for _, _, node in placed_nodes]
    backward = sum("Grad" in node.op for node in nodes)
    shapes = [
        f"`{node.name}` {written(shape)}" for flow, place, node in placed_nodes if (shape := shape_of(flow, place))
    ]
    modes = {word for node in nodes for word in ("align_corners", "half_pixel_centers") if node.attrs.get(word) is True}
    return SlowOperator(
        view.node_set(nodes),
        group,
        forward=len(nodes) - backward,
        backward=backward,
        shapes="; ".join(shapes[:_LISTED]),
        mode=", ".join(sorted(modes)),
    )


def _mask(flow: DataFlow, place: int) -> Flag | None:
    """Whether random numbers become a dropout mask: compared with a rate (GreaterEqual) or rounded down (Floor), then
    multiplied with values. None if not; otherwise whether the mask has a noise shape: ``yes``, ``no`` or
    ``unknown``."""
    if _single(flow, place):
        return None
    queue, seen = [(place, False)], {place}
    for _ in range(4 * _STEPS):
        if not queue:
            break
        at, compared = queue.pop(0)
        for consumer in flow.consumers[at][:_USERS]:
            op = flow.nodes[consumer].op
            if compared and op in ("Mul", "SelectV2", "Select"):
                return _noise(flow, place, consumer, at)
            if consumer not in seen and (op in _THROUGH or op == "GreaterEqual"):
                seen.add(consumer)
                queue.append((consumer, compared or op in ("GreaterEqual", "Floor")))
    return None


def _single(flow: DataFlow, place: int) -> bool:
    """Whether a single random number is drawn, which decides for a whole batch."""
    size = taken(flow, place, 0)
    rank = None if size is None else shape_of(flow, size)
    return rank == [0] or elements(shape_of(flow, place)) == 1


def _noise(flow: DataFlow, random: int, product: int, mask: int) -> Flag:
    """Whether there are fewer random numbers than values."""
    drawn, made = elements(shape_of(flow, random)), elements(shape_of(flow, product))
    if drawn is not None and made is not None:
        return "no" if drawn == made else "yes"
    size = taken(flow, random, 0)
    if size is not None and flow.nodes[size].op == "Shape":  # the multiplied value: the same tensor, or another one
        of = taken(flow, size, 0)
        factors = range(min(len(flow.nodes[product].inputs), _FACTORS))
        kept = [factor for p in factors if (factor := taken(flow, product, p)) != mask]
        return "no" if of in kept or _same_values(flow, of, kept) else "unknown"
    return "unknown"


def _same_values(flow: DataFlow, of: int | None, kept: list[int | None]) -> bool:
    """Whether the multiplied value is computed from the tensor whose shape the mask has: dropout divides it first."""
    return any(factor is not None and of in flow.inputs[factor][:_FACTORS] for factor in kept)
