"""Facts about ONNX models: what ATC's parser does with them."""

from __future__ import annotations

from npulint.facts.graph import Graph
from npulint.facts.model import Fact
from npulint.graphs.facts.target import Target
from npulint.model.values.context import Context


def facts(path: str, graph: Graph, context: Context, target: Target) -> list[Fact]:
    """All facts of one model, from all modules of this package."""
    from npulint.graphs.facts.onnx import about, inputs, limits, shapes, types
    from npulint.graphs.facts.onnx.operators import Operators
    from npulint.graphs.facts.onnx.view import OnnxView

    view = OnnxView(path, graph, context, target)
    operators = Operators(view)
    own = [about.fact(view, operators), *operators.facts(), *limits.facts(view)]
    return [*own, *inputs.facts(view), *shapes.facts(view), *types.facts(view)]
