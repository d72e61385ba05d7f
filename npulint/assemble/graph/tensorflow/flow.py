"""One body of a graph of TensorFlow: its nodes with their edges, and where a training step ends in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from npulint.facts.graph import Body, Node

_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_PASSED = frozenset(("Identity", "Print"))  # their gradient is what they are given
_STORES = ("Assign", "Scatter", "ResourceScatter")
_GRADIENTS = ("gradients", "gradient_tape")


class DataFlow:
    """One body. Nodes are known by their position; `inputs` and `controls` are positions of what a node takes."""

    def __init__(self, body: Body) -> None:
        self.name = body.name
        self.nodes = body.nodes
        self.at = {node.name: place for place, node in enumerate(body.nodes)}

    @cached_property
    def of_op(self) -> dict[str, list[int]]:
        """The positions of the nodes of each operator type, in order."""
        found: dict[str, list[int]] = {}
        for place, node in enumerate(self.nodes):
            found.setdefault(node.op, []).append(place)
        return found

    @cached_property
    def inputs(self) -> list[tuple[int, ...]]:
        """By node, the positions of the nodes whose values it takes; arguments of a function are left out."""
        return [tuple(self._producers(node, control=False)) if node.inputs else () for node in self.nodes]

    @cached_property
    def controls(self) -> list[tuple[int, ...]]:
        """By node, the positions of the nodes that have to run before it."""
        return [tuple(self._producers(node, control=True)) if _waits(node) else () for node in self.nodes]

    @cached_property
    def consumers(self) -> list[list[int]]:
        """By node, the positions of the nodes that take its values."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for place, taken in enumerate(self.inputs):
            for producer in taken:
                found[producer].append(place)
        return found

    @cached_property
    def differentiated(self) -> list[int]:
        """The nodes that gradients were made of: that of ``scope/node`` lies in ``gradients/scope/node_grad``. The
        gradient may not take the values of a loss, but whoever trains looks at it, as printed: that has no gradient."""
        found: dict[int, None] = {}
        for node in self.nodes:
            if is_gradient(node) and "_grad/" in node.name:
                scopes = node.name.rpartition("_grad/")[0].split("/")
                start = next(at for at, scope in enumerate(scopes) if _of_gradients(scope))
                place = self.at.get("/".join(scopes[start + 1 :]))
                if place is not None:
                    found[place] = None
        queue = [place for place in found if found.keys().isdisjoint(self.consumers[place])]
        while queue:
            passed = [n for n in self.consumers[queue.pop()] if self.nodes[n].op in _PASSED and n not in found]
            found |= dict.fromkeys(passed)
            queue += passed
        return list(found)

    @cached_property
    def taped(self) -> bool:
        """Whether a gradient tape recorded it: such a graph is that of one function, which runs whole."""
        return any(node.name.startswith("gradient_tape/") for node in self.nodes)

    def _producers(self, node: Node, control: bool) -> Iterator[int]:
        for text in node.inputs:
            if text.startswith("^") == control:
                place = self.at.get(text.lstrip("^").split(":", 1)[0])
                if place is not None:
                    yield place

    def producer(self, node: Node, position: int) -> Node | None:
        """The node that gives an input of `node`, by its position among the inputs that are values."""
        place = self.place_of_input(node, position)
        return None if place is None else self.nodes[place]

    def place_of_input(self, node: Node, position: int) -> int | None:
        """The position of that node; None for arguments of a function."""
        text = named_input(node, position)
        return self.at.get(text.split(":", 1)[0]) if text else None

    def ancestors(self, places: Iterable[int], controls: bool = False) -> set[int]:
        """The positions of these nodes and of all that their values come from; with `controls` also of what has to
        run before them."""
        edges = (self.inputs, self.controls) if controls else (self.inputs,)
        return _closure(places, edges)

    def descendants(self, places: Iterable[int]) -> set[int]:
        """The positions of these nodes and of all whose values come from them."""
        return _closure(places, (self.consumers,))

    @cached_property
    def updates(self) -> list[int]:
        """The nodes that end a training step: the steps of an optimizer (Adam writes those of single rows with
        operators that store), else what gradients are stored by where the script writes its optimizer itself."""
        found = [place for place, node in enumerate(self.nodes) if is_update(node) or _updates_rows(node)]
        if any(is_update(self.nodes[place]) for place in found):
            return found
        gradients = [place for place, node in enumerate(self.nodes) if is_gradient(node)]
        behind = self.descendants(gradients) if gradients else set()
        return sorted(place for place in behind if self.nodes[place].op.startswith(_STORES))


def is_update(node: Node) -> bool:
    """Whether a node is the step of an optimizer for one variable."""
    return node.op.startswith(_UPDATES)


def _updates_rows(node: Node) -> bool:
    """Whether a node stores in the scope that an optimizer gives the update of one variable."""
    return node.op.startswith(_STORES) and any(scope.startswith("update_") for scope in node.name.split("/")[:-1])


def is_gradient(node: Node) -> bool:
    """Whether a node lies in a name scope that TensorFlow gives gradients."""
    if not any(word in node.name for word in _GRADIENTS):
        return False
    return any(_of_gradients(scope) for scope in node.name.split("/")[:-1])


def _of_gradients(scope: str) -> bool:
    return scope in _GRADIENTS or scope.startswith("gradients_")


def named_input(node: Node, position: int) -> str:
    """What a node takes, by its position among the inputs that are values: these stand before the others. Empty when
    there is none."""
    text = node.inputs[position] if position < len(node.inputs) else ""
    return "" if text.startswith("^") else text


def _waits(node: Node) -> bool:
    """Whether a node takes anything but values."""
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
