"""What is said about where nodes run: by operator type, by group, and by what cuts the graph."""

from __future__ import annotations

from npulint.assemble.graph.tensorflow.families import family
from npulint.assemble.graph.tensorflow.formatting import flag, named, percent, style, told
from npulint.assemble.graph.tensorflow.groups import groups
from npulint.assemble.graph.tensorflow.interfaces import interfaces
from npulint.assemble.graph.tensorflow.node_placement import EDGE
from npulint.assemble.graph.tensorflow.placement import DEVICE, HOST, OLDER, Body, Placement
from npulint.assemble.graph.tensorflow.rules import Rules
from npulint.assemble.graph.tensorflow.tables import tables
from npulint.data.supported import recorded
from npulint.facts.graph import Node
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_HEAVY = lazy_compile(r"\w*MatMul\w*|(?:Depthwise)?Conv\dD\w*|DepthwiseConv2dNative\w*|Einsum|\w*(?:LSTM|R[Nn][Nn])\w*")
_RARE = ("float64", "complex64", "complex128", "string")


def facts(placement: Placement) -> list[Fact]:
    """Facts ``graph_op``, ``graph_group``, ``graph_cut`` and ``graph_table`` of one graph."""
    return [*_operators(placement), *groups(placement), *_cuts(placement), *tables(placement)]


def _operators(placement: Placement) -> list[Fact]:
    """One fact for each operator type and place."""
    view = placement.view
    gathered: dict[tuple[str, str, str, str], list[Node]] = {}
    step: dict[str, frozenset[int]] = {body.flow.name: body.step for body in placement.bodies}
    for body, n, node in placement.nodes():
        mixed = HOST if n in body.mixing.why else DEVICE
        gathered.setdefault((node.op, placement.place(body, n), mixed, "yes"), []).append(node)
    for flow, n, node in view.all():
        if n not in step.get(flow.name, ()):
            place = HOST if placement.rules.why(flow, node) else OLDER if placement.rules.unsure(node.op) else DEVICE
            gathered.setdefault((node.op, place, place, "no"), []).append(node)
    cutting = {body.flow.nodes[n].op for group in placement.cuts().values() for body, n in group}
    return [
        view.fact(
            "graph_op",
            op,
            nodes,
            place=place,
            mixed=mixed,
            on_path=on_path,
            gray=flag(op in placement.rules.supported.gray),
            aicpu=flag(place != HOST and recorded(op).aicpu),
            evidence=_evidence(op, placement.rules),
            family=family(op),
            dtype=_dtype(nodes),
            cuts=flag(on_path == "yes" and place == HOST and op in cutting),
            style=style(placement),
        )
        for (op, place, mixed, on_path), nodes in sorted(gathered.items())
    ]


def _evidence(op: str, rules: Rules) -> str:
    """What the place rests on: the list, the adapter's own rule or operator, a newer package, or nothing at all."""
    known = recorded(op)
    if known.rule or known.adapter:
        return "rule" if known.rule else "adapter"
    if op in rules.supported.ops:
        return "list"
    return rules.newer(op) or ("none" if known.known or op in rules.functions else "custom")


def _cuts(placement: Placement) -> list[Fact]:
    """One fact for each family of operators that cuts the graph of a step."""
    found = placement.cuts()
    facts = []
    for kind, places in sorted(found.items()):
        looped = placement.looped(places)
        stays = looped or placement.stays(kind)
        nodes = [body.flow.nodes[n] for body, n in places]
        body, first = places[0]
        facts.append(
            placement.view.fact(
                "graph_cut",
                body.sinking.origin[first],
                nodes,
                why="loop" if looped else _why(places),
                family=kind,
                ops=told(nodes),
                origins=named(body.sinking.origin[n] for body, n in places),
                apis=interfaces(body.sinking.origin[n] for body, n in places),
                **_ends(body, first),
                stays=len(stays),
                share=percent(len(stays), placement.movable),
                heavy=sum(_HEAVY.fullmatch(node.op) is not None for node in stays),
                style=style(placement),
            )
        )
    return facts


def _why(places: list[tuple[Body, int]]) -> str:
    """``unlisted``, ``scope``, ``calls``, or the kind of edge that binds the nodes: that of the first not so bound."""
    body, n = min(places, key=lambda one: (one[0].sinking.why[one[1]] == EDGE, one[1]))
    return body.sinking.ties[n] if body.sinking.why[n] == EDGE else body.sinking.why[n]


def _ends(body: Body, n: int) -> dict[str, str]:
    """The names of nodes of the device before and behind one that is not."""
    device = body.sinking.device
    sides = {"from": body.before[n], "to": body.flow.consumers[n]}
    return {key: next((body.flow.nodes[p].name for p in places if p in device), "") for key, places in sides.items()}


def _dtype(nodes: list[Node]) -> str:
    """The element type of all nodes, if it is one that the NPU treats apart."""
    found = {node.attrs.get("T", node.attrs.get("dtype")) for node in nodes if isinstance(node.attrs.get("T", ""), str)}
    only = next(iter(found)) if len(found) == 1 else ""
    return only if isinstance(only, str) and only in _RARE else ""
