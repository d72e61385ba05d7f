"""Where each node of a body runs: the rules of the adapter, and how host placement spreads along edges that cannot be
split."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from npulint.facts.graph import Node
from npulint.graphs.facts.tensorflow.carried import REF, RESOURCE, STRING, Tie, makes_handle
from npulint.graphs.facts.tensorflow.clusters import ENTERS, frames_of
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.rules import HANDLE, PlacementRules

EDGE, FRAME = "edge", "frame"
_SIZED = "_op_max_size"
_VARIABLE = "VarHandleOp"


class Placed:
    """The nodes of a body that a step needs (`step`). `why` maps host nodes to the reason (words of
    `PlacementRules.why`; or ``handle``: in mixed computing, a resource other than a variable; ``frame``: a loop that
    contains such a node; ``edge``: tied to a host node), `origin` maps them to the operator type that causes it."""

    def __init__(self, flow: DataFlow, step: frozenset[int], rules: PlacementRules, edges: Sequence[Tie]) -> None:
        self.flow = flow
        self.step = step
        self.rules = rules
        self._edges = edges
        self.why: dict[int, str] = {}
        self.origin: dict[int, str] = {}
        self.ties: dict[int, str] = {}
        self._mark()
        if rules.mixed and not flow.name:
            self._mark_loops()
        if not rules.functional and not flow.name:
            self._spread()

    @cached_property
    def device(self) -> frozenset[int]:
        """The nodes that the device can run. Constants run where they are used."""
        taken = self.step - self.why.keys()
        if not self.why:
            return taken
        return taken - {n for n in taken if self.flow.nodes[n].op == "Const" and self._of_host(n)}

    def _of_host(self, n: int) -> bool:
        users = self.flow.consumers[n]
        return bool(users) and all(user in self.why or user not in self.step for user in users)

    def _mark(self) -> None:
        foreign = self._foreign_handles() if self.rules.mixed and not self.flow.name else frozenset()
        for n in sorted(self.step):
            node = self.flow.nodes[n]
            why = self.rules.why(self.flow, node) or (HANDLE if n in foreign else "")
            if why:
                self._exclude(n, why, self.rules.host_operator(self.flow, node) or node.op)

    def _exclude(self, n: int, why: str, origin: str) -> None:
        self.why[n] = why
        self.origin[n] = origin

    def _foreign_handles(self) -> frozenset[int]:
        """The nodes that use or create a resource other than a variable; the first handle input decides."""
        taken: dict[int, int] = {}
        for edge in self._edges:
            if edge.kind == RESOURCE:
                taken.setdefault(edge.user, edge.producer)
        nodes = self.flow.nodes
        users = {user for user, producer in taken.items() if nodes[producer].op != _VARIABLE}
        makers = {n for n in self.step if n not in taken and nodes[n].op != _VARIABLE and makes_handle(nodes[n])}
        return frozenset(users | makers)

    def _mark_loops(self) -> None:
        if not self.why or not any(self.flow.nodes[n].op in ENTERS for n in self.step):
            return
        frames = frames_of(self.flow, self.step)
        outside: dict[str, str] = {}
        for n in sorted(self.why):
            for frame in frames[n]:
                outside.setdefault(frame, self.origin[n])
        for n in sorted(self.step):
            if n not in self.why and frames[n] and frames[n][-1] in outside:
                self._exclude(n, FRAME, outside[frames[n][-1]])

    def _spread(self) -> None:
        """Spreads host placement along ties. Constants, Assert, and strings (which may be split where a session runs
        one step at a time) are exempt."""
        if not self.why:
            return
        bound = self._bound()
        queue = sorted(self.why)
        while queue:
            n = queue.pop()
            for other, tie in bound.get(n, ()):
                if other not in self.why:
                    self._exclude(other, EDGE, self.origin[n])
                    self.ties[other] = tie
                    queue.append(other)

    def _bound(self) -> dict[int, list[tuple[int, str]]]:
        """For each node the nodes that follow it to the host, with what the edge carries."""
        nodes = self.flow.nodes
        bound: dict[int, list[tuple[int, str]]] = {}
        for producer, user, tie in self._edges:
            if tie == STRING:
                continue
            if tie == REF or not _exempt(nodes[producer], nodes[user]):
                bound.setdefault(producer, []).append((user, tie))
            if tie == REF or _SIZED not in nodes[user].attrs:
                bound.setdefault(user, []).append((producer, tie))
        return bound


def _exempt(producer: Node, user: Node) -> bool:
    return _SIZED in user.attrs or user.op == "Assert" or producer.op == "Const"
