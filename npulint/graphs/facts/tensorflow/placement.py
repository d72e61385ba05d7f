"""Where the nodes of a step run, device or host, and into how many parts host nodes split the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.supported import recorded
from npulint.facts.graph import Node
from npulint.graphs.facts.target import Target
from npulint.graphs.facts.tensorflow.carried import ties
from npulint.graphs.facts.tensorflow.clusters import ENTERS, Cut, cut, forward_edges, frames_of, ordered
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.node_placement import EDGE, Placed
from npulint.graphs.facts.tensorflow.origins import CONSTANT, origins
from npulint.graphs.facts.tensorflow.rules import INPUT, Family, PlacementRules, family
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView

PlaceWord = Literal["device", "host", "older"]
DEVICE: Final = "device"
HOST: Final = "host"
OLDER: Final = "older"
"""On the device only with a newer operator package."""
_STATEFUL = lazy_compile(r".*(?:Random|Multinomial|Sampler|TensorArray|Table|Queue|Stage|Accumulator|Barrier)|Stack")
_ANYWHERE = frozenset("Const Placeholder PlaceholderV2 PlaceholderWithDefault".split())


class PlacedBody:
    """A body that a step needs, placed twice: for full offload (`sinking`) and for mixed computing (`mixing`)."""

    def __init__(self, flow: DataFlow, step: frozenset[int], sinking: PlacementRules, mixing: PlacementRules) -> None:
        self.flow = flow
        self.step = step
        edges = ties(flow, step)
        self.sinking = Placed(flow, step, sinking, edges)
        self.mixing = Placed(flow, step, mixing, edges)

    @cached_property
    def before(self) -> Mapping[int, Sequence[int]]:
        """For each node its predecessors."""
        return forward_edges(self.flow, self.step)

    def on_ai_cpu(self, n: int) -> bool:
        """Whether a node has no known AI Core kernel and is not evaluated when the graph is compiled."""
        op = self.flow.nodes[n].op
        return recorded(op).aicpu and (_STATEFUL.match(op) is not None or n not in self._compiled)

    @cached_property
    def _compiled(self) -> frozenset[int]:
        """The AI CPU nodes that depend only on constants and on shapes that the graph knows."""
        slow = [n for n in self.step if recorded(self.flow.nodes[n].op).aicpu]
        origin_of = origins(self.flow, slow)
        return frozenset(n for n in slow if origin_of[n] == CONSTANT)

    @cached_property
    def loops(self) -> bool:
        """Whether there are V1 loops (Enter, Exit)."""
        return any(self.flow.nodes[n].op in ENTERS for n in self.step)

    @cached_property
    def order(self) -> list[int]:
        """The nodes in topological order."""
        return ordered(self.step, self.before)

    @cached_property
    def movable(self) -> frozenset[int]:
        """The device nodes, except feeds and nodes that may be copied freely."""
        return self.real(self.sinking.device)

    def real(self, places: Iterable[int]) -> frozenset[int]:
        """The positions without constants and feeds, unless these have control inputs."""
        return frozenset(places) - self._anywhere

    @cached_property
    def _anywhere(self) -> frozenset[int]:
        anywhere: set[int] = set()
        for n in self.order:
            if self.flow.nodes[n].op in _ANYWHERE and all(p in anywhere for p in self.before[n]):
                anywhere.add(n)
        return frozenset(anywhere)

    @cached_property
    def whole(self) -> Cut:
        """How all host nodes together split the body."""
        return self.without(self.movable)

    @cached_property
    def mixed(self) -> Cut:
        """The same for mixed computing."""
        return self.without(self.real(self.mixing.device))

    def without(self, device: frozenset[int]) -> Cut:
        """How the body is split if only these nodes run on the device."""
        return cut(self.order, self.before, device)


class GraphPlacement:
    """Where the nodes of a graph run."""

    def __init__(self, view: TensorFlowGraphView, target: Target) -> None:
        self.view = view
        self.rules = PlacementRules(view, target.supported, target.cann)
        mixing = PlacementRules(view, target.supported, target.cann, mixed=True)
        steps = zip(view.flows, view.on_path, strict=True)
        self.bodies = [PlacedBody(flow, _step(flow, path), self.rules, mixing) for flow, path in steps if path]

    @property
    def functional(self) -> bool:
        """Whether a step is a function (TensorFlow 2): then every device part is kept."""
        return self.rules.functional

    def nodes(self) -> Iterator[tuple[PlacedBody, int, Node]]:
        """Every node of the step."""
        for body in self.bodies:
            for n in sorted(body.step):
                yield body, n, body.flow.nodes[n]

    def place(self, body: PlacedBody, n: int) -> PlaceWord:
        """Where a node of the step runs."""
        if n in body.sinking.why:
            return HOST
        return OLDER if self.rules.unsure(body.flow.nodes[n].op) else DEVICE

    @cached_property
    def whole_host(self) -> frozenset[str]:
        """The functions called by the session that stay on the host entirely because of a node inside."""
        return frozenset() if self.functional else frozenset(self.rules.holders)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The number of nodes of the step by placement; AI CPU nodes are counted separately from other device nodes."""
        counts = dict.fromkeys(("device", "aicpu", "host", "unknown"), 0)
        for body, n, _ in self.nodes():
            place = HOST if body.flow.name in self.whole_host else self.place(body, n)
            word = {HOST: "host", OLDER: "unknown"}.get(place, "device")
            counts["aicpu" if word == "device" and body.on_ai_cpu(n) else word] += 1
        return counts

    @cached_property
    def movable(self) -> int:
        """The number of nodes that the device can run, except constants and feeds."""
        return sum(len(body.movable) for body in self.bodies)

    @cached_property
    def left_behind(self) -> int:
        """The number of nodes that the device can run but that stay on the host."""
        return sum(len(self._left(body)) for body in self.bodies)

    @cached_property
    def pieces(self) -> int:
        """The number of device parts in sequence if no device node stayed on the host."""
        return max((body.whole.pieces for body in self._whole_bodies()), default=0)

    @cached_property
    def mixed_pieces(self) -> int:
        """The number of device parts in mixed computing."""
        return max((body.mixed.pieces for body in self._whole_bodies()), default=0)

    def _left(self, body: PlacedBody) -> frozenset[int]:
        if self.functional:
            return frozenset()
        return body.movable if body.flow.name in self.whole_host else body.movable - body.whole.kept

    def _whole_bodies(self) -> list[PlacedBody]:
        return [body for body in self.bodies if body.flow.name not in self.whole_host]

    def cuts(self) -> dict[Family, list[tuple[PlacedBody, int]]]:
        """The nodes that split the graph, by the operator family that causes it."""
        cuts: dict[Family, list[tuple[PlacedBody, int]]] = {}
        for body in self._whole_bodies():
            for n in sorted(body.whole.cutting):
                if body.sinking.why.get(n, INPUT) != INPUT:
                    cuts.setdefault(family(body.sinking.origin[n]), []).append((body, n))
        return cuts

    def stays(self, kind: str) -> list[Node]:
        """The nodes that would stay on the host, tied or cut off, if operators of this family were the only cause."""
        nodes: list[Node] = []
        for body in self._whole_bodies():
            why, origin = body.sinking.why, body.sinking.origin
            causes = {n for n in why if family(origin[n]) == kind}
            if causes and not self.functional:
                others = why.keys() - causes
                device = body.movable | body.real(n for n in others if why[n] != INPUT)
                kept = body.whole.kept if device == body.movable else body.without(device).kept
                tied = {n for n in causes if why[n] == EDGE}
                nodes += [body.flow.nodes[n] for n in sorted((device - kept - others) | tied)]
        for body in self.bodies:
            if body.flow.name in self.whole_host and family(self.rules.holders[body.flow.name]) == kind:
                nodes += [body.flow.nodes[n] for n in sorted(body.movable)]
        return nodes

    def looped(self, places: Iterable[tuple[PlacedBody, int]]) -> list[Node]:
        """The device nodes in the V1 loops around these nodes."""
        nodes: list[Node] = []
        for body, held in _by_body(places).items():
            frames = frames_of(body.flow, body.step) if body.loops else {}
            torn = {frame for n in held for frame in frames.get(n, ())}
            if torn:
                nodes += [body.flow.nodes[n] for n in sorted(body.movable) if not torn.isdisjoint(frames[n])]
        return nodes


def _by_body(places: Iterable[tuple[PlacedBody, int]]) -> dict[PlacedBody, list[int]]:
    nodes: dict[PlacedBody, list[int]] = {}
    for body, n in places:
        nodes.setdefault(body, []).append(n)
    return nodes


def _step(flow: DataFlow, path: frozenset[int]) -> frozenset[int]:
    """The nodes of a path with all their predecessors."""
    return frozenset(flow.ancestors(path, controls=True))
