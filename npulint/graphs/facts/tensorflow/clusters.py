"""How nodes on the host cut the rest of a graph apart: which parts the device could run in one go.

A set of device nodes can be one graph of the device if no way from one of them to another leads over the host. Nodes
are numbers; edges lead from what has to run first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from npulint.graphs.facts.tensorflow.flow import DataFlow

_TRIED = 4  # levels that are candidates for the part to keep

Edges = Mapping[int, Sequence[int]]


class Cut(msgspec.Struct, frozen=True):
    """How host nodes split a graph. `cutting`: host nodes with device nodes before and after them; `kept`: the device
    nodes of the largest part, where only one part can run on the device; `pieces`: the minimum number of device parts
    in sequence."""

    cutting: frozenset[int]
    kept: frozenset[int]
    pieces: int


def cut(order: Sequence[int], before: Edges, device: frozenset[int]) -> Cut:
    """How the graph of the nodes in `order` (topological, see `ordered`) is split. `before` maps each node to its
    predecessors."""
    behind = turned(order, before)
    level = _levels(order, before, device)
    useful = _leading(order, behind, device)
    cutting = frozenset(n for n in order if n not in device and level[n] and useful[n])
    there = [n for n in order if n in device]
    if not cutting:
        return Cut(cutting, frozenset(there), int(bool(there)))
    sizes: dict[int, int] = {}
    for n in there:
        sizes[level[n]] = sizes.get(level[n], 0) + 1
    tried = sorted(sizes, key=lambda current: (-sizes[current], current))[:_TRIED]
    kept = max((_together(order, behind, device, level, current) for current in sorted(tried)), key=len)
    return Cut(cutting, kept, len(sizes))


def ordered(places: Collection[int], before: Edges) -> list[int]:
    """The nodes in topological order; nodes of a cycle come last, by number."""
    behind = turned(places, before)
    waits = dict.fromkeys(places, 0)
    for later in behind.values():
        for n in later:
            waits[n] += 1
    ready = [n for n, count in waits.items() if not count]
    order: list[int] = []
    while ready:
        n = ready.pop()
        order.append(n)
        for other in behind[n]:
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    done = set(order)
    return order if len(order) == len(waits) else [*order, *sorted(n for n in waits if n not in done)]


def turned(places: Collection[int], before: Edges) -> dict[int, list[int]]:
    """The reversed edges: from each node to its successors."""
    behind: dict[int, list[int]] = {n: [] for n in places}
    for n in places:
        for p in before[n]:
            if p in behind:
                behind[p].append(n)
    return behind


def _levels(order: Sequence[int], before: Edges, device: Collection[int]) -> dict[int, int]:
    """For each node the maximum number of device-to-host transitions on a path to it."""
    level = dict.fromkeys(order, 0)
    for n in order:
        highest = 0
        here = n in device
        for p in before[n]:
            come = level.get(p, 0)
            if not here and p in device:
                come += 1
            if come > highest:
                highest = come
        if highest:
            level[n] = highest
    return level


def _leading(order: Sequence[int], behind: dict[int, list[int]], device: Collection[int]) -> dict[int, bool]:
    """For each node whether a device node follows it."""
    leads: dict[int, bool] = {}
    for n in reversed(order):
        leads[n] = False
        for other in behind[n]:
            if other in device or leads.get(other):
                leads[n] = True
                break
    return leads


def _together(
    order: Sequence[int], behind: dict[int, list[int]], device: Collection[int], level: dict[int, int], current: int
) -> frozenset[int]:
    """The device nodes of a level, with those of lower levels that no path through the host separates from it."""
    reaches: dict[int, bool] = {}
    blocked: dict[int, bool] = {}
    for n in reversed(order):
        reached, stopped = n in device and level[n] <= current, False
        for other in behind[n]:
            there = reaches.get(other, False)
            reached = reached or there
            stopped = stopped or (blocked.get(other, False) if other in device else there)
        reaches[n], blocked[n] = reached, stopped
    return frozenset(
        n for n in order if n in device and (level[n] == current or (level[n] < current and not blocked[n]))
    )


# The V1 loops (Enter, Exit) around each node.

ENTERS = ("Enter", "RefEnter")
"""The operators that begin a loop."""

_LEAVES = ("Exit", "RefExit")
_REPEATS = frozenset(("NextIteration", "RefNextIteration"))
_DEEPEST = 64  # nested loops


def frames_of(flow: DataFlow, step: frozenset[int]) -> dict[int, tuple[str, ...]]:
    """For each node of a step the names of the loops around it, innermost last."""
    before = forward_edges(flow, step)
    inside: dict[int, tuple[str, ...]] = {}
    for n in ordered(step, before):
        inner = max((_behind(flow, p, inside[p]) for p in before[n] if p in inside), key=len, default=())
        node = flow.nodes[n]
        if node.op in ENTERS and len(inner) < _DEEPEST:
            inner = (*inner, str(node.attrs.get("frame_name", "")))
        inside[n] = inner
    return inside


def _behind(flow: DataFlow, n: int, inside: tuple[str, ...]) -> tuple[str, ...]:
    return inside[:-1] if flow.nodes[n].op in _LEAVES else inside


def forward_edges(flow: DataFlow, step: frozenset[int]) -> dict[int, Sequence[int]]:
    """For each node of a step, which must contain all predecessors, the nodes that run before it in the same loop
    iteration."""
    nodes = flow.nodes
    if _REPEATS.isdisjoint(flow.of_op):
        return {n: (*flow.inputs[n], *flow.controls[n]) if flow.controls[n] else flow.inputs[n] for n in step}
    return {
        n: [p for p in (*flow.inputs[n], *flow.controls[n]) if p in step and nodes[p].op not in _REPEATS] for n in step
    }
