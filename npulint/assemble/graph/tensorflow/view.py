"""A graph of TensorFlow with its edges, and which of its nodes a training step needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from npulint.facts.graph import Body, Graph, Node
from npulint.facts.model import Fact, Span

_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_GRADIENT = "gradients"
_HOUSEKEEPING = frozenset("save save_1 init init_1 report_uninitialized_variables summary".split())


class Flow:
    """One body. Nodes are known by their position; `inputs` and `controls` are positions of what a node takes."""

    def __init__(self, body: Body) -> None:
        self.name = body.name
        self.nodes = body.nodes
        self.at = {node.name: place for place, node in enumerate(body.nodes)}

    @cached_property
    def inputs(self) -> list[list[int]]:
        """By node, the positions of the nodes whose values it takes; arguments of a function are left out."""
        return [list(self._producers(node, control=False)) for node in self.nodes]

    @cached_property
    def controls(self) -> list[list[int]]:
        """By node, the positions of the nodes that have to run before it."""
        return [list(self._producers(node, control=True)) for node in self.nodes]

    @cached_property
    def consumers(self) -> list[list[int]]:
        """By node, the positions of the nodes that take its values."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for place, taken in enumerate(self.inputs):
            for producer in taken:
                found[producer].append(place)
        return found

    def _producers(self, node: Node, control: bool) -> Iterator[int]:
        for text in node.inputs:
            if text.startswith("^") == control:
                place = self.at.get(text.lstrip("^").split(":", 1)[0])
                if place is not None:
                    yield place

    def producer(self, node: Node, position: int) -> Node | None:
        """The node that gives an input of `node`, by its position among the inputs that are values."""
        values = [text for text in node.inputs if not text.startswith("^")]
        place = self.at.get(values[position].split(":", 1)[0]) if position < len(values) else None
        return None if place is None else self.nodes[place]

    def ancestors(self, places: Iterable[int]) -> set[int]:
        """The positions of these nodes and of all that their values come from."""
        seen = set(places)
        queue = list(seen)
        while queue:
            for producer in self.inputs[queue.pop()]:
                if producer not in seen:
                    seen.add(producer)
                    queue.append(producer)
        return seen


class View:
    """A whole graph: its main body, its functions, and how facts about it are made."""

    def __init__(self, path: str, graph: Graph) -> None:
        self.path = path
        self.graph = graph
        self.flows = [Flow(body) for body in graph.bodies]
        self.functions = {flow.name: flow for flow in self.flows if flow.name}

    def all(self) -> Iterator[tuple[Flow, int, Node]]:
        """Every node with its body and position."""
        for flow in self.flows:
            for place, node in enumerate(flow.nodes):
                yield flow, place, node

    @cached_property
    def trains(self) -> bool:
        """Whether the graph holds gradients, or updates of variables by an optimizer."""
        return any(is_update(node) or node.name.startswith(_GRADIENT) for _, _, node in self.all())

    @cached_property
    def input_functions(self) -> frozenset[str]:
        """The functions that run in the input pipeline: those that datasets are given, and what these call."""
        queue = [name for _, _, node in self.all() if "Dataset" in node.op for name in called(node)]
        seen: set[str] = set()
        while queue:
            name = queue.pop()
            if name not in seen and name in self.functions:
                seen.add(name)
                queue += [more for node in self.functions[name].nodes for more in called(node)]
        return frozenset(seen)

    @cached_property
    def on_path(self) -> list[frozenset[int]]:
        """By body, the nodes that a step needs: in the main graph of a training program all that updates come from,
        in others all but saving, initialising and summaries; in functions of the input pipeline none."""
        return [self._path(flow) for flow in self.flows]

    def _path(self, flow: Flow) -> frozenset[int]:
        if flow.name in self.input_functions:
            return frozenset()
        updates = [place for place, node in enumerate(flow.nodes) if is_update(node)]
        if updates:
            return frozenset(flow.ancestors(updates))
        return frozenset(
            place for place, node in enumerate(flow.nodes) if node.name.split("/", 1)[0] not in _HOUSEKEEPING
        )

    def fact(self, kind: str, name: str, nodes: list[Node], **attrs: Any) -> Fact:
        """A fact about some nodes, at the first of them: where the text of the graph has it, or at the first line of a
        binary file. ``node`` is its name, ``nodes`` lists some, ``count`` tells how many there are."""
        line = max(nodes[0].line, 1) if nodes else 1
        listed = ", ".join(f"`{node.name}`" for node in nodes[:_LISTED])
        told: dict[str, Any] = {"node": nodes[0].name if nodes else "", "nodes": listed, "count": len(nodes)}
        return Fact(kind, name, self.path, Span(line, 1, line, 1), told | attrs)


_LISTED = 3


def is_update(node: Node) -> bool:
    """Whether a node is the step of an optimizer for one variable."""
    return node.op.startswith(_UPDATES)


def called(node: Node) -> list[str]:
    """The names of the functions that a node is given. Readers mark them: ``{"function": name}``."""
    found = []
    for value in node.attrs.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict) and "function" in one:
                found.append(one["function"])
    return found
