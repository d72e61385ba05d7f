"""Facts about lookup tables: where they are initialised and where they are looked up."""

from __future__ import annotations

from typing import Literal

from npulint.assemble.graph.graph_fact import GraphFact
from npulint.assemble.graph.tensorflow.formatting import Style, style
from npulint.assemble.graph.tensorflow.placement import GraphPlacement
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_LOOKUP = lazy_compile(r"LookupTableFind(?:V2)?")
_FROM_VALUES = lazy_compile(r"InitializeTable(?:V2)?|LookupTableImport(?:V2)?")
_FROM_FILE = lazy_compile(r"InitializeTableFrom(?:TextFile|Dataset)(?:V2)?")


_Filled = Literal["device", "host", "both", "unknown"]


@fact_kind("graph_table")
class TableLookup(GraphFact, eq=False, dict=True, kw_only=True):
    """A lookup in a table; the name is the lookup operator."""

    lookup: Literal["input", "step"]
    """Where the lookup is: in the functions of the input pipeline, or in the step."""
    filled: _Filled
    """Where the tables are initialised without mixed computing."""
    split: bool
    """Whether table and lookup are certainly on different sides."""
    style: Style
    """What runs a step: a session (TensorFlow 1) or a function (TensorFlow 2)."""


def tables(placement: GraphPlacement) -> list[TableLookup]:
    """One fact per lookup operator, separately for the input pipeline and the step."""
    view = placement.view
    ops = {node.op for _, _, node in view.all()}
    filled = _side(any(map(_FROM_VALUES.fullmatch, ops)), any(map(_FROM_FILE.fullmatch, ops)))
    lookups: dict[tuple[Literal["input", "step"], str], list[Node]] = {}
    for flow, _, node in view.all():
        if flow.name in view.input_functions and _LOOKUP.fullmatch(node.op):
            lookups.setdefault(("input", node.op), []).append(node)
    for body, n, node in placement.nodes():
        if _LOOKUP.fullmatch(node.op) and n not in body.sinking.why:
            lookups.setdefault(("step", node.op), []).append(node)
    other = {"input": "device", "step": "host"}
    return [
        TableLookup(
            view.node_set(nodes),
            op,
            lookup=who,
            filled=filled,
            split=filled == other[who] and not placement.functional,
            style=style(placement),
        )
        for (who, op), nodes in sorted(lookups.items())
    ]


def _side(by_values: bool, by_file: bool) -> _Filled:
    if by_values and by_file:
        return "both"
    return "device" if by_values else "host" if by_file else "unknown"
