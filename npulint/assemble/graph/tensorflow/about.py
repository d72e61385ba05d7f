"""What a graph of TensorFlow is as a whole, and where its nodes run."""

from __future__ import annotations

from typing import Any

from npulint.assemble.graph.target import Target
from npulint.assemble.graph.tensorflow import where
from npulint.assemble.graph.tensorflow.placement import Placement
from npulint.assemble.graph.tensorflow.view import TensorFlowGraphView
from npulint.facts.model import Fact


def facts(view: TensorFlowGraphView, target: Target) -> list[Fact]:
    """One fact ``graph``, at the first line of the file, and those about places."""
    placement = Placement(view, target)
    graph = view.graph
    attrs = {
        "framework": graph.framework,
        "form": graph.form,
        "version": graph.version,
        "trains": "yes" if view.trains else "no",
        "functions": len(view.functions),
        "size": sum(len(flow.nodes) for flow in view.flows),
    }
    placed = where.facts(placement)
    return [view.fact("graph", graph.form, [], **attrs, **_places(placement, target, placed)), *placed]


def _places(placement: Placement, target: Target, placed: list[Fact]) -> dict[str, Any]:
    """How many nodes of the step run where, and by which list (empty: the recorded one) that was judged."""
    counts = placement.counts
    cuts = [fact for fact in placed if fact.kind == "graph_cut"]
    return {
        "style": "function" if placement.functional else "session",
        "clusters": placement.pieces,
        "mixed_clusters": placement.mixed_pieces,
        "left_behind": placement.left_behind,
        "left_share": round(100 * placement.left_behind / placement.movable) if placement.movable else 0,
        "cuts": len(cuts),
        "cut_by": ", ".join(str(fact.get("origins")) for fact in cuts),
        "list": target.supported.source,
        "release": target.supported.release,
        **{f"{word}_nodes": count for word, count in counts.items()},
    }
