"""Facts ``graph_group``: nodes of a step with the same placement and operator family."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.tensorflow.carried import VARIANT
from npulint.graphs.facts.tensorflow.families import Family, family
from npulint.graphs.facts.tensorflow.formatting import Style, named, op_counts, percent, style
from npulint.graphs.facts.tensorflow.interfaces import interfaces
from npulint.graphs.facts.tensorflow.node_placement import EDGE
from npulint.graphs.facts.tensorflow.patterns import SLOW
from npulint.graphs.facts.tensorflow.placement import HOST, OLDER, GraphPlacement, PlacedBody
from npulint.graphs.facts.tensorflow.rules import CALLS, GRAY, INPUT, SCOPE, UNLISTED
from npulint.graphs.facts.tensorflow.shapes import OF_DATA

AICPU, TIED, STEP = "aicpu", "tied", "step"
_EVERYWHERE = ("print", "summary")  # families that are reported wherever they run
_APART = {HOST: (), AICPU: ("input", "print", "table"), OLDER: ("input", "print", "table", "text")}
_OF_FUNCTIONS = ("gpu", "file", "input")


@fact_kind("graph_group")
class NodeGroup(GraphFact, eq=False, dict=True, kw_only=True):
    """Nodes of a step that are in one place, one fact for each family; the name is the place: host, older (only newer
    operator packages have them), aicpu, tied (to a node on the host, by a variable or a resource), gray (only mixed
    computing leaves them on the host) or step (what prints or reports, wherever it runs)."""

    family: Family
    """The operator family: gpu has no CPU kernel either, block are recurrent cells in one operator, opencv are for a
    description that only OpenCV reads, custom are of no known library."""
    ops: str
    """Their types with their counts, for a sentence."""
    origins: str
    """The operators that cause their placement, for a sentence."""
    apis: str
    """The interfaces that build the causing operators, for a sentence."""
    types: int
    """How many operator types there are."""
    share: int
    """Their share of the nodes of the step, in percent."""
    follow: int
    """How many nodes stay on the host with them."""
    cuts: bool
    """Whether they split the graph of the step."""
    style: Style
    """What runs a step: a session (TensorFlow 1) or a function (TensorFlow 2)."""


class _Group(msgspec.Struct):
    nodes: list[Node]
    origins: list[str]
    cuts: bool = False
    follow: int = 0


def groups(placement: GraphPlacement) -> list[NodeGroup]:
    """Facts ``graph_group``: ``step`` (operators that print, wherever they run), ``host``, ``older``, ``aicpu`` (except
    operators with facts about shapes or slow operators), ``tied`` (to a node on the host, unless a ``graph_cut``
    explains it) and ``gray`` (on the host only in mixed computing)."""
    found: dict[tuple[str, Family], _Group] = {}
    cut_reasons = _cut_reasons(placement)
    known = cut_reasons.keys() | _binding(placement)
    for body, n, node in placement.nodes():
        for key in _keys(placement, body, n, node, cut_reasons):
            group = found.setdefault(key, _Group([], []))
            group.nodes.append(node)
            group.origins.append(body.sinking.origin.get(n, node.op))
            cuts = family(node.op) in known if body.flow.name in placement.whole_host else n in body.whole.cutting
            group.cuts = group.cuts or (cuts and n in body.sinking.why)
    mixed = _mixed(placement)
    if mixed.nodes:
        found["gray", "other"] = mixed
    whole = sum(len(body.step) for body in placement.bodies)
    return [_fact(placement, name, kind, group, whole) for (name, kind), group in sorted(found.items())]


def _fact(placement: GraphPlacement, name: str, kind: Family, group: _Group, whole: int) -> NodeGroup:
    return NodeGroup(
        placement.view.node_set(group.nodes),
        name,
        family=kind,
        ops=op_counts(group.nodes),
        origins=named(group.origins),
        apis=interfaces(group.origins),
        types=len({node.op for node in group.nodes}),
        share=percent(len(group.nodes) + group.follow, whole),
        follow=group.follow,
        cuts=group.cuts,
        style=style(placement),
    )


def _cut_reasons(placement: GraphPlacement) -> dict[str, set[str]]:
    """For each family that splits the graph, the reasons; such nodes are reported with the split."""
    reasons: dict[str, set[str]] = {}
    for kind, places in placement.cuts().items():
        reasons[kind] = {body.sinking.why[n] for body, n in places} & {UNLISTED, CALLS}
    return reasons


def _binding(placement: GraphPlacement) -> set[str]:
    """The families of the operators that other nodes are tied to."""
    bodies = [body.sinking for body in placement.bodies]
    return {family(body.origin[n]) for body in bodies for n, why in body.why.items() if why == EDGE}


def _explained_by_cut(body: PlacedBody, n: int, cut_reasons: dict[str, set[str]]) -> bool:
    """Whether a node is tied to the inside of a function, or by a list of tensors, so that a variable cannot replace
    the tie."""
    why = cut_reasons.get(family(body.sinking.origin[n]), set())
    return CALLS in why or (bool(why) and body.sinking.ties[n] == VARIANT)


def _keys(
    placement: GraphPlacement, body: PlacedBody, n: int, node: Node, cut_reasons: dict[str, set[str]]
) -> Iterator[tuple[str, Family]]:
    """The groups of a node: placement and family, where the two are distinguished."""
    why, kind = body.sinking.why.get(n, ""), family(node.op)
    if kind in _EVERYWHERE:
        yield STEP, kind
    if why == EDGE:
        if not _explained_by_cut(body, n, cut_reasons):
            yield TIED, "other"
    elif why and why not in (INPUT, CALLS, SCOPE):
        yield HOST, "other" if placement.functional and kind not in _OF_FUNCTIONS else kind
    elif not why:
        if placement.rules.unsure(node.op):
            yield OLDER, kind if kind in _APART[OLDER] else "other"
        elif body.on_ai_cpu(n) and node.op not in OF_DATA and node.op not in SLOW:
            yield AICPU, kind if kind in _APART[AICPU] else "other"


def _mixed(placement: GraphPlacement) -> _Group:
    """The nodes that only mixed computing leaves on the host; `follow` counts the nodes that stay with them: what they
    are tied to, and the loops around them."""
    own: list[Node] = []
    others: list[Node] = []
    origins: list[str] = []
    for body, n, node in placement.nodes():
        why = body.mixing.why.get(n, "")
        if why and why != INPUT and n not in body.sinking.why:
            (own if why == GRAY else others).append(node)
            origins.append(body.mixing.origin[n])
    cuts = bool(own or others) and placement.mixed_pieces > placement.pieces
    return _Group(own, origins, cuts, len(others)) if own else _Group(others, origins, cuts)
