"""Lookup tables: where they are filled, and where they are asked."""

from __future__ import annotations

from npulint.assemble.graph.tensorflow.formatting import flag, style
from npulint.assemble.graph.tensorflow.placement import Placement
from npulint.facts.graph import Node
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_ASKS = lazy_compile(r"LookupTableFind(?:V2)?")
_FROM_VALUES = lazy_compile(r"InitializeTable(?:V2)?|LookupTableImport(?:V2)?")
_FROM_FILE = lazy_compile(r"InitializeTableFrom(?:TextFile|Dataset)(?:V2)?")


def tables(placement: Placement) -> list[Fact]:
    """Facts ``graph_table``, named after the operator that asks a table: ``lookup`` tells who asks (input, the
    functions of the pipeline; step), ``filled`` where tables are filled without mixed computing (device, host, both,
    unknown), ``split`` whether that is surely the other side."""
    view = placement.view
    ops = {node.op for _, _, node in view.all()}
    filled = _side(any(map(_FROM_VALUES.fullmatch, ops)), any(map(_FROM_FILE.fullmatch, ops)))
    asked: dict[tuple[str, str], list[Node]] = {}
    for flow, _, node in view.all():
        if flow.name in view.input_functions and _ASKS.fullmatch(node.op):
            asked.setdefault(("input", node.op), []).append(node)
    for body, n, node in placement.nodes():
        if _ASKS.fullmatch(node.op) and n not in body.sinking.why:
            asked.setdefault(("step", node.op), []).append(node)
    other = {"input": "device", "step": "host"}
    return [
        view.fact(
            "graph_table",
            op,
            nodes,
            lookup=who,
            filled=filled,
            split=flag(filled == other[who] and not placement.functional),
            style=style(placement),
        )
        for (who, op), nodes in sorted(asked.items())
    ]


def _side(by_values: bool, by_file: bool) -> str:
    if by_values and by_file:
        return "both"
    return "device" if by_values else "host" if by_file else "unknown"
