"""What graphs of PyTorch say."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.graph.target import Target
from npulint.facts.graph import Graph
from npulint.facts.model import Fact, Span


def facts(path: str, graph: Graph, context: Context, target: Target) -> list[Fact]:
    """All facts of one graph."""
    size = sum(len(body.nodes) for body in graph.bodies)
    attrs = {"framework": graph.framework, "form": graph.form, "version": graph.version, "trains": "no", "size": size}
    return [Fact("graph", graph.form, path, Span(), attrs)]
