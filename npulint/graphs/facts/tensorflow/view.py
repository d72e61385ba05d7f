"""A TensorFlow graph with its edges and the nodes that a training step needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import Graph, Node
from npulint.facts.model import Span
from npulint.graphs.facts.graph_fact import STOP, GraphStop, NodeSet, Place, stop_at
from npulint.graphs.facts.source_mapping import place_of
from npulint.graphs.facts.tensorflow.flow import DataFlow, is_gradient, is_update
from npulint.model.values.context import Context

# The functions called by nodes of a TensorFlow graph, and which of them run in the input pipeline.

_CHOICES = ("Case", "StatelessCase")


def makes_dataset(node: Node) -> bool:
    """Whether the functions of a node run in the input pipeline."""
    return "Dataset" in node.op or node.op == "OneShotIterator"


def run_by(flow: DataFlow, node: Node) -> list[str]:
    """The functions that a node runs on a system without GPU: when a node selects a function by device, those for GPUs
    are omitted."""
    names = called(node)
    if node.op not in _CHOICES:
        return names
    chooser = flow.producer(node, 0)
    devices = chooser.attrs.get("device_names") if chooser is not None and chooser.op == "DeviceIndex" else None
    if not isinstance(devices, list):
        return names
    return [name for place, name in enumerate(names) if devices[place : place + 1] != ["GPU"]]


def called(node: Node) -> list[str]:
    """The names of the functions in a node's attributes. Readers mark them: ``{"function": name}``."""
    functions = []
    for value in node.attrs.values():
        for member in value if isinstance(value, list) else [value]:
            if isinstance(member, dict) and "function" in member:
                functions.append(member["function"])
    return functions


_HOUSEKEEPING = lazy_compile(r"(?:save|init|report_uninitialized_variables|summary)(?:_\d+)?(?:/|$)")
_ASIDE = frozenset("Assign AssignVariableOp NoOp SaveV2 MergeV2Checkpoints Restore RestoreV2 WriteFile".split())
_ASIDE_BEGINS = ("QueueEnqueue", "QueueClose", "QueueSize", "MakeIterator", "IteratorToString", "InitializeTable")
_NONE: frozenset[int] = frozenset()
_FILES = frozenset("SaveV2 RestoreV2 MergeV2Checkpoints".split())


class TensorFlowGraphView:
    """A whole graph: its main body, its functions, and the places in the code that create nodes."""

    def __init__(self, path: str, graph: Graph, context: Context | None = None) -> None:
        self.path = path
        self.graph = graph
        self._context = context
        self.flows = [DataFlow(body) for body in graph.bodies]
        self.functions = {flow.name: flow for flow in self.flows if flow.name}

    def all(self) -> Iterator[tuple[DataFlow, int, Node]]:
        """Every node with its body and position."""
        for flow in self.flows:
            for place, node in enumerate(flow.nodes):
                yield flow, place, node

    @cached_property
    def trains(self) -> bool:
        """Whether the graph holds gradients, or updates of variables by an optimizer."""
        return any(is_update(node) or is_gradient(node) for _, _, node in self.all())

    @cached_property
    def input_functions(self) -> frozenset[str]:
        """The functions of the input pipeline: those in datasets, and what they call."""
        queue = [name for _, _, node in self.all() if makes_dataset(node) for name in called(node)]
        seen: set[str] = set()
        while queue:
            name = queue.pop()
            if name not in seen and name in self.functions:
                seen.add(name)
                queue += [more for node in self.functions[name].nodes for more in called(node)]
        return frozenset(seen)

    @cached_property
    def on_path(self) -> list[frozenset[int]]:
        """For each body the nodes that a step needs. In the main graph: of a training program everything that the
        updates depend on; otherwise, and if a tape recorded the step, everything that leads to a result, except saving,
        initialisation, summaries and queues. In functions that a step calls all nodes; in other functions none."""
        paths: dict[str, frozenset[int]] = {flow.name: self._path(flow) for flow in self.flows if not flow.name}
        queue = [name for flow in self.flows if not flow.name for name in self._calls(flow, paths[flow.name])]
        if not any(flow.nodes for flow in self.flows if not flow.name):
            queue = list(self.functions)
        while queue:
            name = queue.pop()
            if name not in paths and name in self.functions and name not in self.input_functions:
                flow = self.functions[name]
                paths[name] = self._path(flow)
                queue += self._calls(flow, paths[name])
        return [paths.get(flow.name, _NONE) for flow in self.flows]

    def stepped(self) -> Iterator[tuple[DataFlow, int, Node]]:
        """Every node that a step needs, with its body and position, in the order of the file."""
        return iter(self._steps)

    def stepped_of(self, ops: Iterable[str]) -> Iterator[tuple[DataFlow, int, Node]]:
        """The nodes of a step with one of these operator types."""
        listed = list(ops)
        for flow, path in zip(self.flows, self.on_path, strict=True):
            for place in sorted(place for op in listed for place in flow.of_op.get(op, ()) if place in path):
                yield flow, place, flow.nodes[place]

    @cached_property
    def _steps(self) -> list[tuple[DataFlow, int, Node]]:
        pairs = zip(self.flows, self.on_path, strict=True)
        return [(flow, place, flow.nodes[place]) for flow, path in pairs for place in sorted(path)]

    def _calls(self, flow: DataFlow, path: frozenset[int]) -> list[str]:
        """The functions that nodes of a path call, by an attribute or by the operator name."""
        nodes = [flow.nodes[place] for place in path]
        return [name for node in nodes if not makes_dataset(node) for name in (*run_by(flow, node), node.op)]

    def _path(self, flow: DataFlow) -> frozenset[int]:
        used = [place for place, node in enumerate(flow.nodes) if not _HOUSEKEEPING.match(node.name)]
        if flow.name:
            return _NONE if any(node.op in _FILES for node in flow.nodes) else frozenset(used)
        if flow.updates and not flow.taped:
            return frozenset(flow.ancestors([*flow.updates, *flow.differentiated]))
        ends = [place for place in used if not flow.consumers[place] and not _aside(flow.nodes[place])]
        ends += flow.updates
        return frozenset(flow.ancestors(ends).intersection(used)) if ends else frozenset(used)

    def node_set(self, nodes: Sequence[Node]) -> NodeSet:
        """Nodes at the place of the first of them: in the project's code if known, else in the text of the graph, or at
        line 1 of a binary file."""
        places = self._places(nodes)
        line = max(nodes[0].line, 1) if nodes else 1
        path, span = places[0] if places else (self.path, Span.at(line))
        return NodeSet(path, span, nodes[0].name if nodes else "", _listed(nodes), len(nodes), places[1:])

    def _places(self, nodes: Sequence[Node]) -> list[Place]:
        """The first places in the project's code that create some of these nodes."""
        places: dict[Place, None] = {}
        for node in nodes:
            if self._context is not None and node.frames and len(places) < _PLACES:
                path, span = place_of(node, self._context, "")
                places |= {(path, span): None} if path else {}
        return list(places)


def _listed(nodes: Iterable[Node]) -> str:
    """The first names, as many as can be read quickly (names of nested scopes are long)."""
    names: dict[str, None] = {}
    for node in nodes:
        if len(names) == _LISTED or (names and sum(map(len, names)) + len(node.name) > _WIDTH):
            break
        names[node.name] = None
    return ", ".join(f"`{name}`" for name in names)


_LISTED = 3
_WIDTH = 160  # maximum characters of listed names
_PLACES = 8  # maximum places of a fact


def _aside(node: Node) -> bool:
    """Whether only saving, initialisation, summaries or queues end in a node."""
    return node.op in _ASIDE or node.op.endswith("Summary") or makes_dataset(node) or node.op.startswith(_ASIDE_BEGINS)


# Facts about where a run of a TensorFlow program stopped, or went on otherwise than it is written.


def stop_facts(graph: Graph, view: TensorFlowGraphView) -> list[GraphStop]:
    """One fact per node that says so."""
    nodes = [node for body in graph.bodies for node in body.nodes if node.op == STOP]
    return [graph_stop for node in nodes if (graph_stop := stop_at(node, view.node_set([node]))) is not None]
