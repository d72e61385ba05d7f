"""What the processes of a trial recorded, as one graph: an operator that several ranks run is one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import msgspec

from npulint.facts.graph import Body, Graph, Node, NodeFrame, NodeNames
from npulint.fakes.orders import Called, Ended
from npulint.fakes.ranks import Part
from npulint.graphs.facts.graph_fact import STOP
from npulint.graphs.read.torch.recorded import read_recorded
from npulint.live.course import FORMAT as COURSE
from npulint.live.course import Course, read

# Collectives that not all ranks of a group called: each rank's calls are compared in their order.

_WAITING = frozenset(("time", "stuck", "error"))
_THERE = frozenset(("time", "stuck", "end", "exit", "error"))
"""Ends that say where a rank really was: the others were ended with it."""
_NAMES = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "allgather_base": "all_gather_into_tensor",
    "reduce_scatter_base": "reduce_scatter_tensor",
    "alltoall": "all_to_all",
    "alltoall_base": "all_to_all_single",
}


class Desync(msgspec.Struct, frozen=True):
    """A collective that ranks called and others did not: its name, the lines of the call, and where each rank stands,
    as text."""

    name: str
    frames: tuple[NodeFrame, ...]
    standing: str


def desync(parts: Sequence[Part]) -> Desync | None:
    """The first collective on which ranks differ, if that can be said."""
    for calls in _by_group(parts).values():
        difference = _first_difference(calls, {part.ended.rank: part for part in parts})
        if difference is not None:
            return difference
    return None


def _by_group(parts: Sequence[Part]) -> Mapping[object, dict[int, list[Called]]]:
    """The calls of each group, by rank."""
    groups: dict[object, dict[int, list[Called]]] = {}
    for part in parts:
        for call in part.called:
            by_rank = groups.setdefault((call.group, call.members), {rank: [] for rank in call.members})
            by_rank.setdefault(call.rank, []).append(call)
    return groups


def _first_difference(calls: Mapping[int, list[Called]], parts: Mapping[int, Part]) -> Desync | None:
    for place in range(max(map(len, calls.values()))):
        now = {rank: own[place] for rank, own in calls.items() if place < len(own)}
        absent = [rank for rank in calls if rank not in now]
        if len({_sign(called) for called in now.values()}) > 1:
            return _described(now, absent, calls, parts)
        if absent:
            ends = {rank: parts[rank].ended.how for rank in calls if rank in parts}
            waits = any(ends.get(rank) in _WAITING for rank in now)
            there = all(ends.get(rank) in _THERE - {"error"} for rank in absent)
            return _described(now, absent, calls, parts) if waits and there else None
    return None


def _sign(call: Called) -> tuple[str, int, str]:
    return call.name, call.size, call.dtype


def _described(
    now: Mapping[int, Called],
    absent: Sequence[int],
    calls: Mapping[int, list[Called]],
    parts: Mapping[int, Part],
) -> Desync:
    """The call whose line the other ranks never reach, and where all are."""
    odd = min(now, key=lambda rank: (_others(rank, now[rank], calls), now[rank].backward, rank))
    words = [
        f"rank {rank}: {_NAMES.get(called.name, called.name)}{_size(called)} at {_at(called.frames)}"
        for rank, called in now.items()
    ]
    words += [f"rank {rank}: at {_at(parts[rank].ended.standing)}" for rank in absent if rank in parts]
    chosen = now[odd]
    return Desync(_NAMES.get(chosen.name, chosen.name), chosen.frames, "; ".join(sorted(words)))


def _others(rank: int, call: Called, calls: Mapping[int, list[Called]]) -> int:
    """How many other ranks have a call at this line."""
    return sum(
        any(called.frames[-1:] == call.frames[-1:] for called in own) for other, own in calls.items() if other != rank
    )


def _size(call: Called) -> str:
    return f" of {call.size} {call.dtype}" if call.size >= 0 else ""


def _at(frames: Sequence[NodeFrame]) -> str:
    return f"{frames[-1].path.replace(chr(92), '/').rpartition('/')[2]}:{frames[-1].line}" if frames else "its end"


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
    difference = desync(parts)
    if difference is not None and not ended.about_npu:
        graph = _with_node(graph, _stop(difference))
        path = difference.frames[-1] if difference.frames else None
        place = f"{path.path}:{path.line}" if path else ""
        how = ended.how if ended.how in ("time", "stuck") else "stuck"
        ended = msgspec.structs.replace(ended, how=how, place=place, about_npu=True)
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


def _stop(difference: Desync) -> Node:
    attrs = {"reason": "desync", "operator": difference.name, "error": difference.standing}
    return Node("stop", STOP, attrs=attrs, frames=difference.frames)


def _differing(working: Sequence[tuple[Part, Graph]]) -> list[tuple[tuple[int, ...], Graph]]:
    """The graphs of ranks, grouped by what ran; nothing where all ran the same."""
    groups: dict[frozenset[_Key], tuple[list[int], Graph]] = {}
    for part, graph in working:
        keys = frozenset(map(_key, graph.bodies[0].nodes))
        groups.setdefault(keys, ([], graph))[0].append(part.ended.rank)
    return [(tuple(numbers), graph) for numbers, graph in groups.values()] if len(groups) > 1 else []


def _ended(parts: Sequence[Part], working: Sequence[Part]) -> Ended:
    """How the program as a whole ended: with the error of a process that works on the NPU, otherwise as its ranks."""
    inner = {part.folder for part in working}
    chosen = min(
        parts,
        key=lambda part: (
            not part.ended.about_npu,
            part.folder not in inner,
            _BEST.index(part.ended.how),
            part.ended.rank,
        ),
    ).ended
    lines: dict[str, set[int]] = {}
    for part in parts:
        for path, numbers in part.ended.lines.items():
            lines.setdefault(path, set()).update(numbers)
    return msgspec.structs.replace(
        chosen,
        lines={path: sorted(numbers) for path, numbers in lines.items()},
        made_up=list(dict.fromkeys(what for part in parts for what in part.ended.made_up)),
        torch=next((part.ended.torch for part in parts if part.ended.torch), ""),
    )
