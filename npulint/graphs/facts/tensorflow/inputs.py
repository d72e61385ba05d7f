"""How data enter a TensorFlow graph: queues, iterators, and the functions of datasets."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.formatting import op_counts
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView, makes_dataset

_VARIABLES = frozenset("Variable VariableV2 VarHandleOp AutoReloadVariable".split())
_STORES = frozenset("Assign AssignVariableOp".split())
_GROUPS = 8  # levels of nested groups
_HOST = ("PyFunc", "EagerPyFunc", "ReadFile", "WriteFile", "MatchingFiles", "SaveV2", "RestoreV2")
_HOST_PARTS = ("HashTable", "LookupTable", "InitializeTable", "Reader")


@fact_kind("graph_input")
class GraphInput(GraphFact, eq=False, dict=True):
    """A way in which data come into a graph; the name is one of queue, one_shot, several (a step takes data at several
    places), text (an iterator gives texts), joint_init (a group initialises variables and an iterator in one run),
    variable (functions of data sets read one) and host_function (what keeps such functions on the host)."""

    ops: str
    """The types of the nodes with their counts, for a sentence."""
    runners: int | None = None
    """For queue: how many runners fill queues."""


def facts(view: TensorFlowGraphView, target: Target) -> list[Fact]:
    """One fact per kind of data input of the graph."""
    nodes_of = {
        "one_shot": _one_shot(view),
        "several": _several(view),
        "text": _texts(view),
        "joint_init": _joint(view),
        "variable": _captured(view),
        "host_function": _host_functions(view),
    }
    others = [GraphInput(view.node_set(nodes), name, op_counts(nodes)) for name, nodes in nodes_of.items() if nodes]
    return [*_queues(view), *others]


def _queues(view: TensorFlowGraphView) -> list[GraphInput]:
    """Queues that a step dequeues from."""
    nodes = [node for _, _, node in view.stepped_of(_with(view, "QueueDequeue"))]
    runners = view.graph.collections.get("queue_runners", 0)
    return [GraphInput(view.node_set(nodes), "queue", op_counts(nodes), runners)] if nodes else []


def _nexts(view: TensorFlowGraphView) -> list[tuple[DataFlow, int, Node]]:
    return list(view.stepped_of(("IteratorGetNext", "IteratorGetNextSync")))


def _with(view: TensorFlowGraphView, beginning: str) -> list[str]:
    """The operator types of the graph with this prefix."""
    return sorted({op for flow in view.flows for op in flow.of_op if op.startswith(beginning)})


def _one_shot(view: TensorFlowGraphView) -> list[Node]:
    """One-shot iterators of a step."""
    return [
        node for flow, place, node in _nexts(view) for node in _iterators(flow, place) if node.op == "OneShotIterator"
    ]


def _iterators(flow: DataFlow, place: int) -> list[Node]:
    return [flow.nodes[taken] for taken in flow.inputs[place][:1]]


def _several(view: TensorFlowGraphView) -> list[Node]:
    """More than one iterator in a step."""
    nodes = [node for _, _, node in _nexts(view)]
    return nodes if len(nodes) > 1 else []


def _texts(view: TensorFlowGraphView) -> list[Node]:
    """Iterators with string outputs in a step."""
    return [node for _, _, node in _nexts(view) if _gives_text(node)]


def _gives_text(node: Node) -> bool:
    types = node.attrs.get("output_types")
    return isinstance(types, list) and "string" in types


def _joint(view: TensorFlowGraphView) -> list[Node]:
    """Group operators that initialise variables and an iterator together."""
    nodes: list[Node] = []
    for flow in view.flows:
        makers = flow.of_op.get("MakeIterator", ())
        if makers:
            stores = [place for op in sorted(_STORES) for place in flow.of_op.get(op, ())]
            nodes += [flow.nodes[place] for place in sorted(_waiting(flow, makers) & _waiting(flow, stores))]
    return nodes


def _waiting(flow: DataFlow, places: Iterable[int]) -> set[int]:
    """The group operators that depend on one of these nodes, also through other groups."""
    outer: dict[int, list[int]] = {}
    for place in flow.of_op.get("NoOp", ()):
        for inner in flow.controls[place]:
            outer.setdefault(inner, []).append(place)
    waiting: set[int] = set()
    here = set(places)
    for _ in range(_GROUPS):
        here = {group for place in here for group in outer.get(place, ())} - waiting
        waiting |= here
    return waiting


def _captured(view: TensorFlowGraphView) -> list[Node]:
    """Variables that functions of datasets read."""
    nodes: list[Node] = []
    for flow in view.flows:
        if flow.name in view.input_functions:
            nodes += [node for node in flow.nodes if node.op in _VARIABLES or node.op == "ReadVariableOp"]
            continue
        for places in [places for places in flow.of_op.values() if makes_dataset(flow.nodes[places[0]])]:
            sources = [flow.nodes[taken] for place in places for taken in flow.inputs[place]]
            nodes += [node for node in sources if node.op in _VARIABLES]
    return nodes


def _host_functions(view: TensorFlowGraphView) -> list[Node]:
    """What keeps dataset functions on the host even with full offload of the input pipeline."""
    return [
        node
        for flow in view.flows
        if flow.name in view.input_functions
        for node in flow.nodes
        if node.op in _HOST or any(part in node.op for part in _HOST_PARTS)
    ]
