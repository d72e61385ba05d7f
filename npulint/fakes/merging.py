"""What the processes of a trial recorded, as one graph: an operator that several ranks run is one."""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from npulint.facts.graph import Body, Graph, Node, NodeNames
from npulint.fakes.desync import Desync, desync
from npulint.fakes.orders import Ended
from npulint.fakes.ranks import Part
from npulint.graphs.facts.stops import STOP
from npulint.graphs.read.torch.recorded import read_recorded
from npulint.live.course import FORMAT as COURSE
from npulint.live.course import Course, read

_BEST = "error exit time stuck lost steps backward batches end others".split()
_Key = tuple[object, ...]


class Merged(msgspec.Struct, frozen=True):
    """What all processes recorded: the graph, how the program ended, the course of a step of the first rank, and the
    graphs of the ranks if they differ, with their ranks."""

    graph: Graph
    ended: Ended
    course: Course
    differing: list[tuple[tuple[int, ...], Graph]]


def merged(parts: Sequence[Part]) -> Merged:
    """The recordings of all processes as one."""
    recorded = [(part, read_recorded(part.recording)) for part in parts if os.path.isfile(part.recording)]
    working = [(part, graph) for part, graph in recorded if graph.bodies[0].nodes] or recorded[:1]
    graph = _joined([graph for _, graph in working])
    ended = _ended(parts, [part for part, _ in working])
    found = desync(parts)
    if found is not None and not ended.known:
        graph = _with_node(graph, _stop(found))
        path = found.frames[-1] if found.frames else None
        place = f"{path.path}:{path.line}" if path else ""
        how = ended.how if ended.how in ("time", "stuck") else "stuck"
        ended = msgspec.structs.replace(ended, how=how, place=place, known=True)
    course = _course(working[0][0], working[0][1] if len(working) > 1 else None)
    return Merged(graph, ended, course, _differing(working))


def _course(part: Part, graph: Graph | None) -> Course:
    """The course that a process recorded; its numbers are those of the joined nodes if its `graph` was joined."""
    try:
        with open(os.path.join(part.folder, COURSE), "rb") as file:
            course = read(file.read())
    except OSError:
        return Course()
    if graph is None:
        return course
    keys = [_key(node) for node in graph.bodies[0].nodes]
    places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    return msgspec.structs.replace(course, sequence=tuple(places[keys[number]] for number in course.sequence))


def _joined(graphs: Sequence[Graph]) -> Graph:
    if len(graphs) == 1:
        return graphs[0]
    nodes: dict[_Key, Node] = {}
    for graph in graphs:
        for node in graph.bodies[0].nodes:
            have = nodes.get(_key(node))
            if have is None:
                nodes[_key(node)] = node
            elif node.count > have.count:
                nodes[_key(node)] = msgspec.structs.replace(have, count=node.count)
    return msgspec.structs.replace(graphs[0], bodies=[Body("", _numbered(list(nodes.values())))])


def _key(node: Node) -> _Key:
    """What makes nodes of two ranks the same: not the shapes, which depend on their batches."""
    told = {name: value for name, value in node.attrs.items() if name != "shapes"}
    return node.op, node.phase, node.frames, msgspec.json.encode(told)


def _numbered(nodes: Sequence[Node]) -> list[Node]:
    """Nodes with names of their own."""
    names = NodeNames()
    return [msgspec.structs.replace(node, name=names.of(node.op)) for node in nodes]


def _with_node(graph: Graph, node: Node) -> Graph:
    body = graph.bodies[0]
    return msgspec.structs.replace(graph, bodies=[msgspec.structs.replace(body, nodes=[*body.nodes, node])])


def _stop(found: Desync) -> Node:
    attrs = {"reason": "desync", "operator": found.name, "error": found.standing}
    return Node("stop", STOP, attrs=attrs, frames=found.frames)


def _differing(working: Sequence[tuple[Part, Graph]]) -> list[tuple[tuple[int, ...], Graph]]:
    """The graphs of ranks, grouped by what ran; nothing where all ran the same."""
    groups: dict[frozenset[_Key], tuple[list[int], Graph]] = {}
    for part, graph in working:
        keys = frozenset(map(_key, graph.bodies[0].nodes))
        groups.setdefault(keys, ([], graph))[0].append(part.ended.rank)
    return [(tuple(numbers), graph) for numbers, graph in groups.values()] if len(groups) > 1 else []


def _ended(parts: Sequence[Part], working: Sequence[Part]) -> Ended:
    """How the program as a whole ended: with the error of a process that works on the NPU, otherwise as its ranks."""
    inner = {one.folder for one in working}
    chosen = min(
        parts,
        key=lambda one: (not one.ended.known, one.folder not in inner, _BEST.index(one.ended.how), one.ended.rank),
    ).ended
    lines: dict[str, set[int]] = {}
    for part in parts:
        for path, numbers in part.ended.lines.items():
            lines.setdefault(path, set()).update(numbers)
    return msgspec.structs.replace(
        chosen,
        lines={path: sorted(numbers) for path, numbers in lines.items()},
        made_up=list(dict.fromkeys(what for one in parts for what in one.ended.made_up)),
        torch=next((one.ended.torch for one in parts if one.ended.torch), ""),
    )
