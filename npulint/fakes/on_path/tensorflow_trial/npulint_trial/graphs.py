"""Writes graphs with the lines that created their operations."""

import json
import os

from npulint_trial.frames import in_adapter, of_operation, own_frames

_LARGEST = 256  # bytes of a constant that is written with its value


def write(folder, name, graph, definition=None, notes=None):
    """Write a graph as ``NAME.pb`` and ``NAME.json``; returns the lines that created its operations."""
    definition = graph.as_graph_def() if definition is None else definition
    _without_data(definition)
    sources = {"frames": _Frames(), "bodies": {}}
    for body, inner in [("", graph), *_functions(graph).items()]:
        sources["bodies"][body] = {
            operation.name: sources["frames"].number(operation) for operation in inner.get_operations()
        }
    stacks = sources["frames"].stacks
    with open(os.path.join(folder, name + ".pb"), "wb") as out:
        out.write(definition.SerializeToString())
    with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as out:
        json.dump(
            dict(notes or {}, stacks=stacks, simulated=sources["frames"].simulated, bodies=sources["bodies"]), out
        )
    return {(path, line) for stack in stacks for path, line, _ in stack}


class _Frames:
    """The stacks of operations, each once; `simulated` are the places of those within a function of the fakes."""

    def __init__(self):
        self.stacks = []
        self.simulated = []
        self._places = {}

    def number(self, operation):
        """The place of an operation's stack in the list."""
        stack = tuple(of_operation(operation))
        if stack not in self._places:
            self._places[stack] = len(self.stacks)
            self.stacks.append(own_frames(stack))
            if in_adapter(stack):
                self.simulated.append(self._places[stack])
        return self._places[stack]


def _functions(graph):
    """The graphs of all functions in a graph, by name."""
    graphs = {}
    queue = [graph]
    while queue:
        for name, function in dict(getattr(queue.pop(), "_functions", None) or {}).items():
            inner = getattr(function, "graph", None) or getattr(function, "_sub_graph", None)
            name = name.decode() if isinstance(name, bytes) else str(name)
            if inner is not None and hasattr(inner, "get_operations") and name not in graphs:
                graphs[name] = inner
                queue.append(inner)
    return graphs


def _without_data(definition):
    """Empty large constants: only their types and shapes are read."""
    for nodes in [definition.node, *[function.node_def for function in definition.library.function]]:
        for node in nodes:
            if node.op == "Const" and len(node.attr["value"].tensor.tensor_content) > _LARGEST:
                node.attr["value"].tensor.tensor_content = b""
