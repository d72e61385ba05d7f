"""Converts a TensorFlow graph to the neutral record, with the source lines of its nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from npulint.facts.graph import Body, Graph, NodeFrame
from npulint.graphs.read.tensorflow.binary import read_binary
from npulint.live.sources import own_frames
from npulint.live.tensorflow.gradients import Frames, gradient_frames


def recorded(graph_def: Any, graph: Any, version: str) -> Graph:
    """The record of a ``GraphDef``. `graph` is the TensorFlow graph it was made from, which has the tracebacks, or
    None. Raises `npulint.graphs.read.errors.GraphError`."""
    read = read_binary("graph_def", "", graph_def.SerializeToString())
    traced = {} if graph is None else _traces(graph)
    return Graph("live_tensorflow", [_traced(body, traced.get(body.name, {})) for body in read.bodies], version)


def _traced(body: Body, frames: Frames) -> Body:
    nodes = [msgspec.structs.replace(node, frames=frames.get(node.name, ())) for node in body.nodes]
    return msgspec.structs.replace(body, nodes=nodes)


def _traces(graph: Any) -> dict[str, Frames]:
    """The frames of all operators by the name of their body (empty: the main one)."""
    bodies = {name: _frames(inner) for name, inner in _functions(graph).items()}
    return {**bodies, "": _frames(graph)}


def _functions(graph: Any) -> dict[str, Any]:
    """The graphs of all functions in a graph, by name."""
    functions: dict[str, Any] = {}
    queue = [graph]
    while queue:
        for name, inner in _inner(queue.pop()):
            if name not in functions:
                functions[name] = inner
                queue.append(inner)
    return functions


def _inner(graph: Any) -> Iterator[tuple[str, Any]]:
    """The functions of one graph. TensorFlow 1.15 and 2 have them in the same attribute, as different classes with
    different names for their graph."""
    functions = getattr(graph, "_functions", None)
    for name, function in dict(functions or {}).items():
        inner = getattr(function, "graph", None) or getattr(function, "_sub_graph", None)
        if inner is not None and hasattr(inner, "get_operations"):
            yield name.decode() if isinstance(name, bytes) else str(name), inner


def _frames(graph: Any) -> Frames:
    """The user frames of every operator; of gradients, those of their forward operators. Stacks are shared, so each is
    processed once."""
    known: dict[Any, tuple[NodeFrame, ...]] = {}
    found: Frames = {}
    inputs: dict[str, tuple[str, ...]] = {}
    for operator in graph.get_operations():
        traceback = operator.traceback or ()
        # the object of TensorFlow 2 compares by its frames, without making them
        key = tuple(traceback) if isinstance(traceback, (list, tuple)) else traceback
        if key not in known:
            known[key] = own_frames(NodeFrame(path, line, function) for path, line, function in _stack(traceback))
        found[operator.name] = known[key]
        inputs[operator.name] = tuple(tensor.op.name for tensor in operator.inputs)
    return found | gradient_frames(found, inputs)


def _stack(traceback: Any) -> Iterator[tuple[str, int, str]]:
    """The frames of a traceback, outermost first; none for operators made in C++. TensorFlow 1.15 has tuples, 2
    objects."""
    for entry in traceback:
        if isinstance(entry, tuple):
            path, line, function = entry[:3]
        else:
            path, line, function = entry.filename, entry.lineno, entry.name
        yield str(path), int(line or 0), str(function)
