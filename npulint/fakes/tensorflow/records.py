"""What the process of a TensorFlow program wrote: its graphs with source lines, what it ran, and how it ended."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.fakes.scratch import Scratch
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.tensorflow.binary import read_binary
from npulint.live.tensorflow.gradients import Frames, gradient_frames

_FRAMES = list[tuple[str, int, str]]
_RANDOM = ("RandomUniform", "StatelessRandomUniform", "StatelessRandomUniformV2")
_MASK = "DropOutGenMask"  # the operator of the adapter's dropout


class Run(msgspec.Struct):
    """What the program ran again and again: fetches of a session, a function, or gradients without one (eager).
    `trains`: it updates variables with gradients; `npu`: the adapter takes it to the NPU. `feeds` are the shapes that
    each input had; `traces` counts the graphs of a function."""

    kind: Literal["session", "function", "eager"]
    name: str
    trains: bool
    npu: bool
    place: tuple[str, int] | None = None
    count: int = 0
    seconds: float = 0.0
    traces: int = 0
    feeds: dict[str, list[list[int]]] = {}
    graph: str = ""
    fetches: list[str] = []


class Remark(msgspec.Struct):
    """A place where the program goes on, but not as it is written: see `npulint.graphs.facts.graph_fact.GraphStop`."""

    reason: str
    text: str = ""
    frames: _FRAMES = []


class Failure(msgspec.Struct):
    """The exception that ended a program: `adapter` is the module of the fakes that raised it, if one did, `module` the
    one that could not be imported, `created` are the lines that created the operation it is about."""

    type: str
    text: str
    frames: _FRAMES = []
    adapter: str = ""
    module: str | None = None
    created: _FRAMES = []


class Report(msgspec.Struct):
    """How a program ended and what it ran. `missed` says which graphs could not be written."""

    how: str
    version: str = ""
    python: tuple[int, int] = (0, 0)
    error: Failure | None = None
    steps: int = 0
    runs: list[Run] = []
    missed: list[str] = []
    remarks: list[Remark] = []
    lines: dict[str, list[int]] = {}


class _Written(msgspec.Struct):
    """The lines that created the operations of a graph: by body and operation the place in `stacks`. `simulated` are
    places of those that a function of the fake adapter created."""

    stacks: list[_FRAMES]
    bodies: dict[str, dict[str, int]]
    simulated: list[int] = []
    fetched: list[str] = []


def read_report(folder: str, scratch: Scratch) -> Report:
    """The report in a folder, with the paths of the user's files."""
    with open(os.path.join(folder, "ended.json"), "rb") as file:
        report = msgspec.json.decode(file.read(), type=Report)
    report.lines = {scratch.back(path): numbers for path, numbers in report.lines.items()}
    for run in report.runs:
        run.place = None if run.place is None else (scratch.back(run.place[0]), run.place[1])
    for remark in report.remarks:
        remark.frames = _back(remark.frames, scratch)
    if report.error is not None:
        report.error.frames = _back(report.error.frames, scratch)
        report.error.created = _back(report.error.created, scratch)
    return report


def _back(frames: _FRAMES, scratch: Scratch) -> _FRAMES:
    return [(scratch.back(path), line, name) for path, line, name in frames]


def read_graphs(folder: str, report: Report, scratch: Scratch) -> dict[str, Graph]:
    """The graphs by name: of a session what was run of it, of a function all that it calls. Graphs that cannot be read
    are named in `report.missed`."""
    graphs = {}
    for name in dict.fromkeys(run.graph for run in report.runs if run.graph):
        path = os.path.join(folder, name)
        if os.path.isfile(f"{path}.json") and os.path.isfile(f"{path}.pb"):
            try:
                feeds = [run.feeds for run in report.runs if run.graph == name and run.kind == "session"]
                graphs[name] = _fed(_graph(path, report.version, scratch), feeds)
            except (GraphError, msgspec.DecodeError) as error:
                report.missed.append(str(error))
    return graphs


def _graph(path: str, version: str, scratch: Scratch) -> Graph:
    with open(f"{path}.json", "rb") as file:
        written = msgspec.json.decode(file.read(), type=_Written)
    read = read_binary("graph_def", f"{path}.pb")
    stacks = [tuple(NodeFrame(scratch.back(path), line, name) for path, line, name in part) for part in written.stacks]
    bodies = [_traced(body, written.bodies.get(body.name, {}), stacks) for body in read.bodies]
    bodies = [_simulated(body, written) for body in bodies]
    if written.fetched:
        bodies = [_fetched(body, written.fetched) if not body.name else body for body in bodies]
    return Graph("live_tensorflow", bodies, version)


def _fed(graph: Graph, feeds: Sequence[Mapping[str, list[list[int]]]]) -> Graph:
    """The graph with the sizes that placeholders were always fed with, except of the first dimension: the last batch
    may be smaller."""
    shapes: dict[str, set[tuple[int, ...]]] = {}
    for feed in feeds:
        for name, given in feed.items():
            shapes.setdefault(_producer(name), set()).update(tuple(shape[1:]) for shape in given)
    always = {name: next(iter(given)) for name, given in shapes.items() if len(given) == 1}
    main = [_sized(node, always[node.name]) if node.name in always else node for node in graph.bodies[0].nodes]
    bodies = [msgspec.structs.replace(graph.bodies[0], nodes=main), *graph.bodies[1:]]
    return msgspec.structs.replace(graph, bodies=bodies)


def _sized(node: Node, sizes: tuple[int, ...]) -> Node:
    """The node with these sizes after the first one where its shape leaves them open."""
    shape = node.attrs.get("shape")
    if not isinstance(shape, list) or len(shape) != len(sizes) + 1:
        return node
    filled = [shape[0], *(fed if size == -1 else size for size, fed in zip(shape[1:], sizes, strict=True))]
    return msgspec.structs.replace(node, attrs={**node.attrs, "shape": filled})


def _traced(body: Body, numbers: Mapping[str, int], stacks: Sequence[tuple[NodeFrame, ...]]) -> Body:
    """The body with the lines that created its nodes; gradients have those of their forward operators."""
    made: Frames = {name: stacks[number] for name, number in numbers.items()}
    inputs = {node.name: tuple(_producer(text) for text in node.inputs) for node in body.nodes}
    created: dict[str, Any] = {node.name: made.get(node.name, ()) for node in body.nodes}
    frames: Frames = created | gradient_frames(created, inputs)
    nodes = [msgspec.structs.replace(node, frames=frames.get(node.name, ())) for node in body.nodes]
    return msgspec.structs.replace(body, nodes=nodes)


def _simulated(body: Body, written: _Written) -> Body:
    """The body with the operator of the device that the fake adapter computes with random numbers."""
    numbers, places = written.bodies.get(body.name, {}), frozenset(written.simulated)
    nodes = [
        msgspec.structs.replace(node, op=_MASK) if node.op in _RANDOM and numbers.get(node.name, -1) in places else node
        for node in body.nodes
    ]
    return msgspec.structs.replace(body, nodes=nodes)


def _fetched(body: Body, names: Sequence[str]) -> Body:
    """What ran of a main body to get these results."""
    nodes = {node.name: node for node in body.nodes}
    queue = [_producer(name) for name in names]
    reached: set[str] = set()
    while queue:
        name = queue.pop()
        if name in nodes and name not in reached:
            reached.add(name)
            queue += [_producer(text) for text in nodes[name].inputs]
    kept: list[Node] = [node for node in body.nodes if node.name in reached]
    return msgspec.structs.replace(body, nodes=kept)


def _producer(text: str) -> str:
    """The node of an input or result."""
    return text.lstrip("^").split(":", 1)[0]
