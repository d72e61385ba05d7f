"""How data come into a graph of TensorFlow: queues, iterators, and what the functions of data sets hold."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.assemble.graph.target import Target
from npulint.assemble.graph.tensorflow.flow import Flow
from npulint.assemble.graph.tensorflow.formatting import told
from npulint.assemble.graph.tensorflow.functions import makes_dataset
from npulint.assemble.graph.tensorflow.sizes import shapes_told, unknown
from npulint.assemble.graph.tensorflow.view import TensorFlowGraphView
from npulint.facts.graph import Node
from npulint.facts.model import Fact

_VARIABLES = frozenset("Variable VariableV2 VarHandleOp AutoReloadVariable".split())
_STORES = frozenset("Assign AssignVariableOp".split())
_GROUPS = 8  # groups within groups that are looked into
_HOST = ("PyFunc", "EagerPyFunc", "ReadFile", "WriteFile", "MatchingFiles", "SaveV2", "RestoreV2")
_HOST_PARTS = ("HashTable", "LookupTable", "InitializeTable", "Reader")


def facts(view: TensorFlowGraphView, target: Target) -> list[Fact]:
    """Facts ``graph_input``, one for each thing that is so."""
    parts = (_queues, _one_shot, _several, _texts, _joint, _captured, _host_functions)
    return [fact for part in parts for fact in part(view)]


def _queues(view: TensorFlowGraphView) -> list[Fact]:
    """What a step takes out of queues."""
    nodes = [node for _, _, node in view.stepped_of(_with(view, "QueueDequeue"))]
    runners = view.graph.collections.get("queue_runners", 0)
    reads = _with(view, "ReaderRead")
    readers = sum(len(flow.of_op.get(op, ())) for flow in view.flows for op in reads)
    parts = {"runners": runners, "readers": readers, "ops": told(nodes)}
    return [view.fact("graph_input", "queue", nodes, **parts)] if nodes else []


def _nexts(view: TensorFlowGraphView) -> list[tuple[Flow, int, Node]]:
    return list(view.stepped_of(("IteratorGetNext", "IteratorGetNextSync")))


def _with(view: TensorFlowGraphView, beginning: str) -> list[str]:
    """The operator types of the graph that begin so."""
    return sorted({op for flow in view.flows for op in flow.of_op if op.startswith(beginning)})


def _one_shot(view: TensorFlowGraphView) -> list[Fact]:
    """One-shot iterators that a step takes its data from."""
    nodes = [
        node for flow, place, node in _nexts(view) for node in _iterators(flow, place) if node.op == "OneShotIterator"
    ]
    return [view.fact("graph_input", "one_shot", nodes, ops=told(nodes))] if nodes else []


def _iterators(flow: Flow, place: int) -> list[Node]:
    return [flow.nodes[taken] for taken in flow.inputs[place][:1]]


def _several(view: TensorFlowGraphView) -> list[Fact]:
    """Several places where a step takes data from iterators."""
    nodes = [node for _, _, node in _nexts(view)]
    shapes = [one for node in nodes for one in shapes_told(node, "output_shapes") or []]
    dynamic = "yes" if any(unknown(shape) for shape in shapes) else "no"
    return [view.fact("graph_input", "several", nodes, dynamic=dynamic, ops=told(nodes))] if len(nodes) > 1 else []


def _texts(view: TensorFlowGraphView) -> list[Fact]:
    """Iterators that give texts to a step."""
    nodes = [node for _, _, node in _nexts(view) if _gives_text(node)]
    return [view.fact("graph_input", "text", nodes, ops=told(nodes))] if nodes else []


def _gives_text(node: Node) -> bool:
    types = node.attrs.get("output_types")
    return isinstance(types, list) and "string" in types


def _joint(view: TensorFlowGraphView) -> list[Fact]:
    """Groups that initialise variables and an iterator in one run."""
    found = []
    for flow in view.flows:
        makers = flow.of_op.get("MakeIterator", ())
        if makers:
            stores = [place for op in sorted(_STORES) for place in flow.of_op.get(op, ())]
            found += [flow.nodes[place] for place in sorted(_waiting(flow, makers) & _waiting(flow, stores))]
    return [view.fact("graph_input", "joint_init", found, ops=told(found))] if found else []


def _waiting(flow: Flow, places: Iterable[int]) -> set[int]:
    """The groups that wait for one of these nodes, through groups in them."""
    outer: dict[int, list[int]] = {}
    for place in flow.of_op.get("NoOp", ()):
        for inner in flow.controls[place]:
            outer.setdefault(inner, []).append(place)
    found: set[int] = set()
    here = set(places)
    for _ in range(_GROUPS):
        here = {group for place in here for group in outer.get(place, ())} - found
        found |= here
    return found


def _captured(view: TensorFlowGraphView) -> list[Fact]:
    """Variables that functions of data sets read."""
    nodes = []
    for flow in view.flows:
        if flow.name in view.input_functions:
            nodes += [node for node in flow.nodes if node.op in _VARIABLES or node.op == "ReadVariableOp"]
            continue
        for places in [places for places in flow.of_op.values() if makes_dataset(flow.nodes[places[0]])]:
            sources = [flow.nodes[taken] for place in places for taken in flow.inputs[place]]
            nodes += [node for node in sources if node.op in _VARIABLES]
    return [view.fact("graph_input", "variable", nodes, ops=told(nodes))] if nodes else []


def _host_functions(view: TensorFlowGraphView) -> list[Fact]:
    """What keeps the functions of data sets on the host even where they are to be moved to the device."""
    nodes = [
        node
        for flow in view.flows
        if flow.name in view.input_functions
        for node in flow.nodes
        if node.op in _HOST or any(part in node.op for part in _HOST_PARTS)
    ]
    return [view.fact("graph_input", "host_function", nodes, ops=told(nodes))] if nodes else []
