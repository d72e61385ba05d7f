"""Branches and loops that are built from Switch, Merge and Enter (V1 control flow)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow import shapes
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView

_V1 = frozenset("Switch Merge Enter Exit NextIteration LoopCond".split())
_OPS = _V1 | {f"Ref{op}" for op in _V1}
_SURE = frozenset(("data", "padded_batch", "iterator", "placeholder"))
_INITIALISING = frozenset(("IsVariableInitialized", "VarIsInitializedOp"))
_LISTED = 4


@fact_kind("graph_control_flow")
class GraphControlFlow(GraphFact, eq=False, dict=True, kw_only=True):
    """A step runs branches or loops of Switch, Merge and Enter; the name is v1."""

    loops: int
    """How many loops there are."""
    branches: int
    """How many predicates control branches."""
    parts: str
    """The names of some loops and predicates."""
    dynamic: Literal["no", "batch", "inner"]
    """Which dimensions of the graph are dynamic: none (no), only the batch, or inner ones."""
    unknown_dims: str
    """What is dynamic."""
    refs: bool
    """Whether some act on reference variables."""


def facts(view: TensorFlowGraphView, target: Target) -> list[Fact]:
    """One fact ``graph_control_flow`` if a step runs any."""
    nodes: list[Node] = []
    frames: dict[str, None] = {}
    branches: dict[str, None] = {}
    for flow, path in zip(view.flows, view.on_path, strict=True):
        if path and not _OPS.isdisjoint(flow.of_op):
            run = flow.ancestors(path, controls=True)
            mine = sorted(place for op in _OPS for place in flow.of_op.get(op, ()) if place in run)
            nodes += [flow.nodes[place] for place in mine]
            frames |= dict.fromkeys(_frames(flow, mine))
            branches |= dict.fromkeys(_branches(flow, mine))
    if not frames and not branches:
        return []
    dynamic, open_ = _dynamic(shapes.facts(view, target))
    parts = [*(f"`{name}`" for name in frames), *(f"`{name}`" for name in branches)]
    return [
        GraphControlFlow(
            view.node_set(nodes),
            "v1",
            loops=len(frames),
            branches=len(branches),
            parts=", ".join(parts[:_LISTED]),
            dynamic=dynamic,
            unknown_dims=open_,
            refs=any(node.op.startswith("Ref") for node in nodes),
        )
    ]


def _frames(flow: DataFlow, places: list[int]) -> list[str]:
    names = [flow.nodes[place].attrs.get("frame_name") for place in places if flow.nodes[place].op.endswith("Enter")]
    return [name for name in names if isinstance(name, str)]


def _branches(flow: DataFlow, places: list[int]) -> list[str]:
    """The predicates of switches outside of loop conditions."""
    nodes = []
    for place in places:
        node = flow.nodes[place]
        if node.op in ("Switch", "RefSwitch"):
            predicate = flow.producer(node, 1)
            if predicate is not None and not predicate.op.endswith("LoopCond"):
                nodes.append(_before_identity(flow, predicate))
    return [predicate.name for predicate in nodes if predicate.op not in _INITIALISING]


def _before_identity(flow: DataFlow, node: Node) -> Node:
    """The predicate behind its copies: each cond makes its own copies, and layers share a predicate."""
    seen = 0
    while node.op in ("Identity", "Switch", "RefSwitch") and seen < len(_OPS):
        step = flow.producer(node, 0)
        if step is None:
            break
        node, seen = step, seen + 1
    return node


def _dynamic(
    shape_facts: Sequence[shapes.OpenShape | shapes.DynamicTopK],
) -> tuple[Literal["no", "batch", "inner"], str]:
    """How dynamic the shapes of the graph are (no, batch, inner), and which they are."""
    open_ = [fact for fact in shape_facts if isinstance(fact, shapes.OpenShape)]
    inner = [_open_part(fact) for fact in open_ if fact.name in _SURE and fact.dims == "inner"]
    top_k = [fact for fact in shape_facts if isinstance(fact, shapes.DynamicTopK) and fact.k in ("data", "fed")]
    inner += [f"{fact.name} `{fact.node}`" for fact in top_k]
    batch = [_open_part(fact) for fact in open_ if fact.dims == "batch" and fact.name != "placeholder"]
    return "inner" if inner else "batch" if batch else "no", "; ".join(dict.fromkeys(inner or batch))


def _open_part(fact: shapes.OpenShape) -> str:
    return fact.shape or f"{fact.ops or fact.name} `{fact.node}`"
