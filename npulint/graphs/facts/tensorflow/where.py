"""Facts about placement: by operator type, by group, by what splits the graph, and of lookups in tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Literal, cast

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.host_ops import host_ops
from npulint.data.supported import recorded
from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.tensorflow.carried import VARIANT
from npulint.graphs.facts.tensorflow.formatting import Style, named, op_counts, percent, style
from npulint.graphs.facts.tensorflow.node_placement import EDGE
from npulint.graphs.facts.tensorflow.patterns import SLOW
from npulint.graphs.facts.tensorflow.placement import DEVICE, HOST, OLDER, GraphPlacement, PlacedBody, PlaceWord
from npulint.graphs.facts.tensorflow.rules import CALLS, GRAY, INPUT, SCOPE, UNLISTED, Family, family
from npulint.graphs.facts.tensorflow.shapes import OF_DATA

# The TensorFlow interfaces that build an operator.

_LISTED = 4
_GRADIENT = lazy_compile(r"Grad(?:V\d)?$")
_ARRAYS = ("TensorArray", "TensorList", "EmptyTensorList", "StackV2", "StackPush", "StackPop")
_KNOWN = {
    "PyFunc": "tf.py_func",
    "EagerPyFunc": "tf.py_function",
    "PyFuncStateless": "tf.numpy_function",
    "CudnnRNN": "tf.contrib.cudnn_rnn.CudnnLSTM",
    "CudnnRNNV2": "tf.contrib.cudnn_rnn.CudnnLSTM",
    "CudnnRNNV3": "tf.keras.layers.LSTM",
    "BlockLSTM": "tf.contrib.rnn.LSTMBlockFusedCell",
    "LSTMBlockCell": "tf.contrib.rnn.LSTMBlockCell",
    "GRUBlockCell": "tf.contrib.rnn.GRUBlockCellV2",
    "NcclAllReduce": "tf.contrib.nccl.all_sum",
    "CollectiveReduce": "tf.distribute.experimental.MultiWorkerMirroredStrategy",
    "Where": "tf.where",
    "SparseSegmentSum": "tf.nn.embedding_lookup_sparse",
    "SparseSegmentMean": "tf.nn.embedding_lookup_sparse",
    "SparseSegmentSqrtN": "tf.nn.embedding_lookup_sparse",
    "SparseFillEmptyRows": "tf.nn.safe_embedding_lookup_sparse",
    "Unique": "tf.unique",
}


def interfaces(ops: Iterable[str]) -> str:
    """The interfaces that build operators of these types, as a script may spell them."""
    spellings = dict.fromkeys(_interface(op) for op in ops)
    names = [f"`{name}`" for name in spellings if name]
    return ", ".join([*names[:_LISTED], *(["…"] if len(names) > _LISTED else [])])


def _interface(op: str) -> str:
    """The usual interface of an operator, else the one of the same name; for a gradient, that of its forward
    operator."""
    base = _GRADIENT.sub("", op)
    interface = _KNOWN.get(base) or _recorded().get(base, "")
    if not interface and op.startswith(_ARRAYS):
        return "tf.TensorArray"
    return interface or (f"tf.raw_ops.{op}" if recorded(op).known else "")


@cache
def _recorded() -> dict[str, str]:
    """From operator to the shortest interface name that builds it and has a similar name."""
    shortest: dict[str, str] = {}
    for name, entries in host_ops().items():
        short = name.replace("tensorflow.", "tf.", 1)
        last = name.rpartition(".")[2].replace("_", "").lower()
        for op in (op for entry in entries for op in entry.ops.split()):
            if op.lower().startswith(last):
                shortest[op] = min(shortest.get(op, short), short, key=lambda name: (len(name), name))
    return shortest


# Facts ``graph_group``: nodes of a step with the same placement and operator family.

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
    group_of: dict[tuple[str, Family], _Group] = {}
    cut_reasons = _cut_reasons(placement)
    explained = cut_reasons.keys() | _binding(placement)
    for body, n, node in placement.nodes():
        for key in _keys(placement, body, n, node, cut_reasons):
            group = group_of.setdefault(key, _Group([], []))
            group.nodes.append(node)
            group.origins.append(body.sinking.origin.get(n, node.op))
            cuts = family(node.op) in explained if body.flow.name in placement.whole_host else n in body.whole.cutting
            group.cuts = group.cuts or (cuts and n in body.sinking.why)
    mixed = _mixed(placement)
    if mixed.nodes:
        group_of["gray", "other"] = mixed
    total = sum(len(body.step) for body in placement.bodies)
    return [_fact(placement, name, kind, group, total) for (name, kind), group in sorted(group_of.items())]


def _fact(placement: GraphPlacement, name: str, kind: Family, group: _Group, total: int) -> NodeGroup:
    return NodeGroup(
        placement.view.node_set(group.nodes),
        name,
        family=kind,
        ops=op_counts(group.nodes),
        origins=named(group.origins),
        apis=interfaces(group.origins),
        types=len({node.op for node in group.nodes}),
        share=percent(len(group.nodes) + group.follow, total),
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
    cuts = placement.cuts()
    facts = []
    for kind, places in sorted(cuts.items()):
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
    body, n = min(places, key=lambda place: (place[0].sinking.why[place[1]] == EDGE, place[1]))
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
