"""One body of a TensorFlow graph: its nodes, its edges, and the nodes that end a training step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from npulint.facts.graph import Body, Node

_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_PASSED = frozenset(("Identity", "Print"))  # they pass their gradient on unchanged
_STORES = ("Assign", "Scatter", "ResourceScatter")
_GRADIENTS = ("gradients", "gradient_tape")


class DataFlow:
    """One body as a graph. Nodes are identified by position; `inputs` and `controls` hold the positions of a node's
    inputs."""

    def __init__(self, body: Body) -> None:
        self.name = body.name
        self.nodes = body.nodes
        self.at = {node.name: place for place, node in enumerate(body.nodes)}

    @cached_property
    def of_op(self) -> dict[str, list[int]]:
        """From operator type to the positions of its nodes, in order."""
        positions: dict[str, list[int]] = {}
        for place, node in enumerate(self.nodes):
            positions.setdefault(node.op, []).append(place)
        return positions

    @cached_property
    def inputs(self) -> list[tuple[int, ...]]:
        """For each node the positions of its data inputs, without function arguments."""
        return [tuple(self._producers(node, control=False)) if node.inputs else () for node in self.nodes]

    @cached_property
    def controls(self) -> list[tuple[int, ...]]:
        """For each node the positions of its control inputs."""
        return [tuple(self._producers(node, control=True)) if _waits(node) else () for node in self.nodes]

    @cached_property
    def consumers(self) -> list[list[int]]:
        """For each node the positions of the nodes that use its outputs."""
        users: list[list[int]] = [[] for _ in self.nodes]
        for place, taken in enumerate(self.inputs):
            for producer in taken:
                users[producer].append(place)
        return users

    @cached_property
    def differentiated(self) -> list[int]:
        """The nodes that have gradients: the gradient of ``scope/node`` is in ``gradients/scope/node_grad``. A gradient
        may not use the value of a loss, but the training script usually prints it, and printed copies have no
        gradient."""
        places: dict[int, None] = {}
        for node in self.nodes:
            if is_gradient(node) and "_grad/" in node.name:
                scopes = node.name.rpartition("_grad/")[0].split("/")
                start = next(at for at, scope in enumerate(scopes) if _of_gradients(scope))
                place = self.at.get("/".join(scopes[start + 1 :]))
                if place is not None:
                    places[place] = None
        queue = [place for place in places if places.keys().isdisjoint(self.consumers[place])]
        while queue:
            passed = [n for n in self.consumers[queue.pop()] if self.nodes[n].op in _PASSED and n not in places]
            places |= dict.fromkeys(passed)
            queue += passed
        return list(places)

    @cached_property
    def taped(self) -> bool:
        """Whether a gradient tape recorded it: such a graph is a single function, which runs as a whole."""
        return any(node.name.startswith("gradient_tape/") for node in self.nodes)

    def _producers(self, node: Node, control: bool) -> Iterator[int]:
        for text in node.inputs:
            if text.startswith("^") == control:
                place = self.at.get(text.lstrip("^").split(":", 1)[0])
                if place is not None:
                    yield place

    def producer(self, node: Node, position: int) -> Node | None:
        """The node that produces data input number `position` of `node`."""
        place = self.place_of_input(node, position)
        return None if place is None else self.nodes[place]

    def place_of_input(self, node: Node, position: int) -> int | None:
        """The position of that node; None for function arguments."""
        text = named_input(node, position)
        return self.at.get(text.split(":", 1)[0]) if text else None

    def ancestors(self, places: Iterable[int], controls: bool = False) -> set[int]:
        """The positions of these nodes and of everything that their values depend on, including control inputs if
        `controls`."""
        edges = (self.inputs, self.controls) if controls else (self.inputs,)
        return _closure(places, edges)

    def descendants(self, places: Iterable[int]) -> set[int]:
        """The positions of these nodes and of everything that depends on their values."""
        return _closure(places, (self.consumers,))

    @cached_property
    def updates(self) -> list[int]:
        """The nodes that end a training step: optimizer updates (for sparse rows these are store operators), or, with a
        hand-written optimizer, the nodes that store gradients."""
        updates = [place for place, node in enumerate(self.nodes) if is_update(node) or _updates_rows(node)]
        if any(is_update(self.nodes[place]) for place in updates):
            return updates
        gradients = [place for place, node in enumerate(self.nodes) if is_gradient(node)]
        behind = self.descendants(gradients) if gradients else set()
        return sorted(place for place in behind if self.nodes[place].op.startswith(_STORES))


def is_update(node: Node) -> bool:
    """Whether a node applies an optimizer to one variable."""
    return node.op.startswith(_UPDATES)


def _updates_rows(node: Node) -> bool:
    """Whether a node stores to a variable in the name scope of an optimizer update."""
    return node.op.startswith(_STORES) and any(scope.startswith("update_") for scope in node.name.split("/")[:-1])


def is_gradient(node: Node) -> bool:
    """Whether a node is in a name scope of gradients."""
    if not any(word in node.name for word in _GRADIENTS):
        return False
    return any(_of_gradients(scope) for scope in node.name.split("/")[:-1])


def _of_gradients(scope: str) -> bool:
    return scope in _GRADIENTS or scope.startswith("gradients_")


def named_input(node: Node, position: int) -> str:
    """The data input of a node at this position (data inputs precede control inputs); empty if there is none."""
    text = node.inputs[position] if position < len(node.inputs) else ""
    return "" if text.startswith("^") else text


def _waits(node: Node) -> bool:
    """Whether a node has control inputs."""
    return any(text.startswith("^") for text in node.inputs)


def _closure(places: Iterable[int], edges: tuple[Sequence[Sequence[int]], ...]) -> set[int]:
    seen = set(places)
    queue = list(seen)
    while queue:
        place = queue.pop()
        for along in edges:
            for other in along[place]:
                if other not in seen:
                    seen.add(other)
                    queue.append(other)
    return seen
