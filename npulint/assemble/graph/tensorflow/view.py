"""A graph of TensorFlow with its edges, and which of its nodes a training step needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from npulint.assemble.context import Context
from npulint.assemble.graph.places import place_of
from npulint.facts.graph import Body, Graph, Node
from npulint.facts.model import Fact, Span
from npulint.later import regex

_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_PASSED = frozenset(("Identity", "Print"))  # their gradient is what they are given
_STORES = ("Assign", "Scatter", "ResourceScatter")
_GRADIENTS = ("gradients", "gradient_tape")
_HOUSEKEEPING = regex(r"(?:save|init|report_uninitialized_variables|summary)(?:_\d+)?(?:/|$)")
_ASIDE = frozenset("Assign AssignVariableOp NoOp SaveV2 MergeV2Checkpoints Restore RestoreV2 WriteFile".split())
_ASIDE_BEGINS = ("QueueEnqueue", "QueueClose", "QueueSize", "MakeIterator", "IteratorToString", "InitializeTable")
_NONE: frozenset[int] = frozenset()
_FILES = frozenset("SaveV2 RestoreV2 MergeV2Checkpoints".split())


class Flow:
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


class View:
    """A whole graph: its main body, its functions, and how facts about it are made."""

    def __init__(self, path: str, graph: Graph, context: Context | None = None) -> None:
        self.path = path
        self.graph = graph
        self._context = context
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
        return any(is_update(node) or is_gradient(node) for _, _, node in self.all())

    @cached_property
    def input_functions(self) -> frozenset[str]:
        """The functions that run in the input pipeline: those that datasets are given, and what these call."""
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
        """By body, the nodes that a step needs: in the main graph of a training program all that updates come from,
        in others, and where a tape recorded the step, what leads to a result, so neither saving, initialising,
        summaries nor what fills queues; in functions that a step calls all, in others (those of the input pipeline, or
        never called) none."""
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

    def stepped(self) -> Iterator[tuple[Flow, int, Node]]:
        """Every node that a step needs, with its body and position, in the order of the file."""
        return iter(self._steps)

    def stepped_of(self, ops: Iterable[str]) -> Iterator[tuple[Flow, int, Node]]:
        """Those of them that have one of these operator types."""
        wanted = list(ops)
        for flow, path in zip(self.flows, self.on_path, strict=True):
            for place in sorted(place for op in wanted for place in flow.of_op.get(op, ()) if place in path):
                yield flow, place, flow.nodes[place]

    @cached_property
    def _steps(self) -> list[tuple[Flow, int, Node]]:
        pairs = zip(self.flows, self.on_path, strict=True)
        return [(flow, place, flow.nodes[place]) for flow, path in pairs for place in sorted(path)]

    def _calls(self, flow: Flow, path: frozenset[int]) -> list[str]:
        """The functions that nodes of a path call, by an attribute or as an operator of that name."""
        nodes = [flow.nodes[place] for place in path]
        return [name for node in nodes if not makes_dataset(node) for name in (*run_by(flow, node), node.op)]

    def _path(self, flow: Flow) -> frozenset[int]:
        used = [place for place, node in enumerate(flow.nodes) if not _HOUSEKEEPING.match(node.name)]
        if flow.name:
            return _NONE if any(node.op in _FILES for node in flow.nodes) else frozenset(used)
        if flow.updates and not flow.taped:
            return frozenset(flow.ancestors([*flow.updates, *flow.differentiated]))
        ends = [place for place in used if not flow.consumers[place] and not _aside(flow.nodes[place])]
        ends += flow.updates
        return frozenset(flow.ancestors(ends).intersection(used)) if ends else frozenset(used)

    def fact(self, kind: str, name: str, nodes: list[Node], **attrs: Any) -> Fact:
        """A fact about some nodes, at the first of them: in the project's code that made it, where that is known, else
        where the text of the graph has it, or at the first line of a binary file. ``node`` is its name, ``nodes`` lists
        some, ``count`` tells how many there are, ``places`` where the code makes others of them."""
        found = self._places(nodes)
        line = max(nodes[0].line, 1) if nodes else 1
        path, span = found[0] if found else (self.path, Span(line, 1, line, 1))
        listed = _listed(nodes)
        told: dict[str, Any] = {"node": nodes[0].name if nodes else "", "nodes": listed, "count": len(nodes)}
        if found[1:]:
            told["places"] = found[1:]
        return Fact(kind, name, path, span, told | attrs)

    def _places(self, nodes: list[Node]) -> list[tuple[str, Span]]:
        """The first places in the project's code that are known to make some of these nodes."""
        found: dict[tuple[str, Span], None] = {}
        for node in nodes:
            if self._context is not None and node.frames and len(found) < _PLACES:
                path, span = place_of(node, self._context, "")
                found |= {(path, span): None} if path else {}
        return list(found)


def _listed(nodes: Iterable[Node]) -> str:
    """The first names, as many as are quickly read: those of nested scopes are long."""
    names: dict[str, None] = {}
    for node in nodes:
        if len(names) == _LISTED or (names and sum(map(len, names)) + len(node.name) > _WIDTH):
            break
        names[node.name] = None
    return ", ".join(f"`{name}`" for name in names)


_LISTED = 3
_WIDTH = 160  # characters of the names that a message lists
_PLACES = 8  # lines that a fact tells at most


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


def makes_dataset(node: Node) -> bool:
    """Whether the functions of a node run in the input pipeline."""
    return "Dataset" in node.op or node.op == "OneShotIterator"


def _aside(node: Node) -> bool:
    """Whether nothing but saving, initialising, summaries or filling queues comes to its end in a node."""
    return node.op in _ASIDE or node.op.endswith("Summary") or makes_dataset(node) or node.op.startswith(_ASIDE_BEGINS)


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


def run_by(flow: Flow, node: Node) -> list[str]:
    """The functions that a node runs where there is no GPU: one that chooses by the device leaves out those for it."""
    names = called(node)
    if node.op not in _CHOICES:
        return names
    chooser = flow.producer(node, 0)
    devices = chooser.attrs.get("device_names") if chooser is not None and chooser.op == "DeviceIndex" else None
    if not isinstance(devices, list):
        return names
    return [name for place, name in enumerate(names) if devices[place : place + 1] != ["GPU"]]


_CHOICES = ("Case", "StatelessCase")


def called(node: Node) -> list[str]:
    """The names of the functions that a node is given. Readers mark them: ``{"function": name}``."""
    found = []
    for value in node.attrs.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict) and "function" in one:
                found.append(one["function"])
    return found
