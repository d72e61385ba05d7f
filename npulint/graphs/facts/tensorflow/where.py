"""Facts about placement: by operator type, by group, by what splits the graph, and of lookups in tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.tensorflow.families import Family
from npulint.graphs.facts.tensorflow.formatting import Style, named, op_counts, percent, style
from npulint.graphs.facts.tensorflow.groups import groups
from npulint.graphs.facts.tensorflow.interfaces import interfaces
from npulint.graphs.facts.tensorflow.node_placement import EDGE
from npulint.graphs.facts.tensorflow.placement import DEVICE, HOST, OLDER, GraphPlacement, PlacedBody, PlaceWord

_LOOKUP = lazy_compile(r"LookupTableFind(?:V2)?")
_FROM_VALUES = lazy_compile(r"InitializeTable(?:V2)?|LookupTableImport(?:V2)?")
_FROM_FILE = lazy_compile(r"InitializeTableFrom(?:TextFile|Dataset)(?:V2)?")
_Filled = Literal["device", "host", "both", "unknown"]
_HEAVY = lazy_compile(r"\w*MatMul\w*|(?:Depthwise)?Conv\dD\w*|DepthwiseConv2dNative\w*|Einsum|\w*(?:LSTM|R[Nn][Nn])\w*")
_Why = Literal["unlisted", "scope", "calls", "loop", "ref", "resource", "variant"]


@fact_kind("graph_op")
class PlacedOperator(GraphFact, eq=False, dict=True, kw_only=True):
    """An operator type of TensorFlow, one fact for each place where its nodes run; the name is the type."""

    place: PlaceWord
    """Where the nodes run: on the device, on the host, or on the device only with a newer CANN (older)."""
    mixed: PlaceWord
    """The same in mixed computing."""
    on_path: bool
    """Whether a step needs the nodes."""


@fact_kind("graph_cut")
class GraphCut(GraphFact, eq=False, dict=True, kw_only=True):
    """Nodes on the host split the graph of a step, one fact for each family of operators; the name is the operator that
    keeps the first of them there."""

    _upstream: str
    why: _Why
    """Why they stay on the host: not in the operator list (unlisted), excluded by the script (scope), a called function
    or a surrounding loop contains such a node (calls, loop), or a tie to one: a reference variable, a resource, a
    variant."""
    family: Family
    """The operator family: see `graph_group`."""
    ops: str
    """The types of the nodes with their counts, for a sentence."""
    origins: str
    """The operators that cause it, for a sentence."""
    apis: str
    """The interfaces that build the causing operators, for a sentence."""
    to: str
    """The name of a device node after the first of them."""
    stays: int
    """How many nodes stay on the host with them although the device can run them."""
    share: int
    """Their share of the nodes that the device can run, in percent."""
    heavy: int
    """How many of them multiply matrices, convolve or are recurrent."""
    style: Style
    """What runs a step: a session (TensorFlow 1) or a function (TensorFlow 2)."""


def _from(fact: GraphCut) -> str:
    """The name of a device node before the first of them."""
    return fact._upstream


setattr(GraphCut, "from", attribute(_from, "from"))  # `from` is a keyword, so it cannot be a field name


def facts(placement: GraphPlacement) -> list[Fact]:
    """Facts ``graph_op``, ``graph_group``, ``graph_cut`` and ``graph_table`` of one graph."""
    return [*_operators(placement), *groups(placement), *_cuts(placement), *tables(placement)]


def _operators(placement: GraphPlacement) -> list[PlacedOperator]:
    """One fact per operator type and placement."""
    view = placement.view
    gathered: dict[tuple[str, PlaceWord, PlaceWord, bool], list[Node]] = {}
    step: dict[str, frozenset[int]] = {body.flow.name: body.step for body in placement.bodies}
    for body, n, node in placement.nodes():
        mixed: PlaceWord = HOST if n in body.mixing.why else DEVICE
        gathered.setdefault((node.op, placement.place(body, n), mixed, True), []).append(node)
    for flow, n, node in view.all():
        if n not in step.get(flow.name, ()):
            stays = placement.rules.why(flow, node)
            place: PlaceWord = HOST if stays else OLDER if placement.rules.unsure(node.op) else DEVICE
            gathered.setdefault((node.op, place, place, False), []).append(node)
    return [
        PlacedOperator(view.node_set(nodes), op, place=place, mixed=mixed, on_path=on_path)
        for (op, place, mixed, on_path), nodes in sorted(gathered.items())
    ]


def _cuts(placement: GraphPlacement) -> list[GraphCut]:
    """One fact per operator family that splits the graph of a step."""
    found = placement.cuts()
    facts = []
    for kind, places in sorted(found.items()):
        looped = placement.looped(places)
        stays = looped or placement.stays(kind)
        nodes = [body.flow.nodes[n] for body, n in places]
        body, first = places[0]
        facts.append(
            GraphCut(
                placement.view.node_set(nodes),
                body.sinking.origin[first],
                why="loop" if looped else _why(places),
                family=kind,
                ops=op_counts(nodes),
                origins=named(body.sinking.origin[n] for body, n in places),
                apis=interfaces(body.sinking.origin[n] for body, n in places),
                _upstream=_on_device(body, body.before[first]),
                to=_on_device(body, body.flow.consumers[first]),
                stays=len(stays),
                share=percent(len(stays), placement.movable),
                heavy=sum(_HEAVY.fullmatch(node.op) is not None for node in stays),
                style=style(placement),
            )
        )
    return facts


def _why(places: list[tuple[PlacedBody, int]]) -> _Why:
    """The reason why the first node stays on the host, preferably one that is not tied; else the kind of tie."""
    body, n = min(places, key=lambda one: (one[0].sinking.why[one[1]] == EDGE, one[1]))
    return cast("_Why", body.sinking.ties[n] if body.sinking.why[n] == EDGE else body.sinking.why[n])


def _on_device(body: PlacedBody, places: Sequence[int]) -> str:
    """The name of the first node that the device can run; empty if there is none."""
    return next((body.flow.nodes[n].name for n in places if n in body.sinking.device), "")


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
