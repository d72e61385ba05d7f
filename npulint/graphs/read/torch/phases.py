"""Assigns nodes of a whole exported training step to forward or backward."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.graph import Body, Node


def with_phases(bodies: list[Body], forward: Iterable[str], gradients: Iterable[str]) -> list[Body]:
    """The bodies of one program, main body first, with ``phase`` set: backward for nodes that only its `gradients`
    need, else forward. `forward` and `gradients` name nodes of the main body."""
    main = bodies[0]
    ahead = _ancestors(main.nodes, forward)
    behind = _ancestors(main.nodes, gradients) - ahead
    phases = {main.name: {node.name: "backward" if node.name in behind else "forward" for node in main.nodes}}
    found = []
    for body in bodies:
        if body is not main:
            outer, _, node = body.serves.rpartition("/")
            phase = phases.get(outer, {}).get(node, "forward")
            phases[body.name] = {one.name: phase for one in body.nodes}
        phase_of = phases[body.name]
        nodes = [msgspec.structs.replace(one, phase=phase_of[one.name]) for one in body.nodes]
        found.append(msgspec.structs.replace(body, nodes=nodes))
    return found


def _ancestors(nodes: list[Node], names: Iterable[str]) -> set[str]:
    takes = {node.name: node.inputs for node in nodes}
    seen: set[str] = set()
    queue = list(names)
    while queue:
        name = queue.pop()
        if name not in seen and name in takes:
            seen.add(name)
            queue += [take.partition(":")[0] for take in takes[name]]
    return seen
