"""The fact about an ONNX model as a whole."""

from __future__ import annotations

from typing import Literal

from npulint.data.onnx import newest_release
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.graphs.facts.graph_fact import NodeSet, WholeGraph
from npulint.graphs.facts.onnx.operators import Operators
from npulint.graphs.facts.onnx.view import OnnxView

OpsetState = Literal["parsed", "newer", "older", "missing"]


@fact_kind("graph")
class OnnxGraph(WholeGraph, eq=False, dict=True, kw_only=True):
    """An ONNX model, at the first line of its file; the name is its form: onnx. Operators are counted by whether ATC
    has a parser for them."""

    opset: int
    """The opset of the standard operators; 0 if the model declares none."""
    opset_state: OpsetState
    """Whether ATC has parsers for this opset: parsed, newer or older than those that it has, or missing."""
    first_opset: int
    """The first opset that ATC parses."""
    newest_opset: int
    """The newest opset that ATC parses."""
    assumed: bool
    """Whether the release of CANN is assumed, because none is declared."""
    parsed: int
    """How many operators have a parser for the opset of the model."""
    unparsed: int
    """How many have none."""
    private: int
    """How many belong to a private domain or name, for which a plugin may have a parser."""


def fact(view: OnnxView, operators: Operators) -> OnnxGraph:
    """The fact ``graph``, with the operators counted for the CANN of the target."""
    first, newest = view.parsed
    return OnnxGraph(
        NodeSet(view.path, Span()),
        view.graph.form,
        framework="onnx",
        version=view.graph.version,
        trains=False,
        functions=sum(bool(body.name) for body in view.graph.bodies),
        size=len(operators.judged),
        release=view.target.cann or newest_release(),
        opset=view.opset,
        opset_state=_state(view.opset, first, newest),
        first_opset=first,
        newest_opset=newest,
        assumed=not view.target.cann,
        **operators.counts(),
    )


def _state(opset: int, first: int, newest: int) -> OpsetState:
    if not opset:
        return "missing"
    return "older" if opset < first else "newer" if opset > newest else "parsed"
