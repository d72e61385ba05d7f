"""The V1 loops (Enter, Exit) around each node."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.graphs.facts.tensorflow.clusters import ordered
from npulint.graphs.facts.tensorflow.flow import DataFlow

ENTERS = ("Enter", "RefEnter")
"""The operators that begin a loop."""

_LEAVES = ("Exit", "RefExit")
_REPEATS = frozenset(("NextIteration", "RefNextIteration"))
_DEEPEST = 64  # nested loops


def frames_of(flow: DataFlow, step: frozenset[int]) -> dict[int, tuple[str, ...]]:
    """For each node of a step the names of the loops around it, innermost last."""
    before = forward_edges(flow, step)
    inside: dict[int, tuple[str, ...]] = {}
    for n in ordered(step, before):
        inner = max((_behind(flow, p, inside[p]) for p in before[n] if p in inside), key=len, default=())
        node = flow.nodes[n]
        if node.op in ENTERS and len(inner) < _DEEPEST:
            inner = (*inner, str(node.attrs.get("frame_name", "")))
        inside[n] = inner
    return inside


def _behind(flow: DataFlow, n: int, inside: tuple[str, ...]) -> tuple[str, ...]:
    return inside[:-1] if flow.nodes[n].op in _LEAVES else inside


def forward_edges(flow: DataFlow, step: frozenset[int]) -> dict[int, Sequence[int]]:
    """For each node of a step, which must contain all predecessors, the nodes that run before it in the same loop
    iteration."""
    nodes = flow.nodes
    if _REPEATS.isdisjoint(flow.of_op):
        return {n: (*flow.inputs[n], *flow.controls[n]) if flow.controls[n] else flow.inputs[n] for n in step}
    return {
        n: [p for p in (*flow.inputs[n], *flow.controls[n]) if p in step and nodes[p].op not in _REPEATS] for n in step
    }
