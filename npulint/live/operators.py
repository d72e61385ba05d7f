"""The operators of an evaluated graph as table rows, the same for both frameworks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from npulint.assemble.graph.tensorflow.where import PlacedOperator
from npulint.assemble.graph.torch.operators import TorchOperator
from npulint.assemble.graph.torch.syncs import GraphSync
from npulint.assemble.programs import Program
from npulint.facts.model import Fact

FINE = frozenset("npu npu_out decomposes generic device".split())
"""Verdicts of operators that run on the NPU."""
ORDER = "error cpu cpu_out host older mixed aicpu custom unknown decomposes generic npu_out npu device".split()
"""Verdicts, most severe first. Of PyTorch: those of `npulint.data.aten`. Of TensorFlow: host and device, older (only a
newer CANN may take it), mixed (on the host in mixed computing), aicpu (on the NPU's own CPU)."""


class Operator(msgspec.Struct, frozen=True):
    """One operator at one line of user code. `phase` is forward, backward, optimizer or empty; `count` is the number of
    nodes or calls; `via` is the name that fallback warnings show; `path` is empty if no project code made it."""

    name: str
    verdict: str
    phase: str = ""
    count: int = 1
    path: str = ""
    line: int = 0
    via: str = ""

    @property
    def fine(self) -> bool:
        """Whether it runs on the NPU."""
        return self.verdict in FINE


class Sync(msgspec.Struct, frozen=True):
    """A place where the host waits for the device: operator, number of times, line, and the functions of libraries
    that wait, if it is in one."""

    name: str
    count: int = 1
    path: str = ""
    line: int = 0
    inside: str = ""


def operators(program: Program) -> list[Operator]:
    """The operators of a graph, most severe verdicts first."""
    facts = [fact for kind in ("torch_op", "graph_op") for fact in program.index.of_kind(kind)]
    rows = [row for fact in facts for row in _rows(fact, program)]
    return sorted(_added(rows), key=lambda one: (_rank(one.verdict), one.name, one.path, one.line, one.phase))


def syncs(program: Program) -> list[Sync]:
    """The places where a recorded step makes the host wait, most frequent first."""
    facts = [fact for fact in program.index.of_kind("graph_sync") if isinstance(fact, GraphSync)]
    rows = [Sync(fact.name, fact.count, *_place(fact, program), fact.inside) for fact in facts]
    return sorted(rows, key=lambda one: (-one.count, one.name, one.path, one.line))


def counted(rows: Sequence[Operator]) -> dict[str, int]:
    """The number of operators by verdict, most severe first."""
    found: dict[str, int] = {}
    for one in sorted(rows, key=lambda one: _rank(one.verdict)):
        found[one.verdict] = found.get(one.verdict, 0) + one.count
    return found


def _rows(fact: Fact, program: Program) -> Iterator[Operator]:
    """The row of a fact about an operator."""
    path, line = _place(fact, program)
    if isinstance(fact, TorchOperator):
        yield Operator(fact.op, fact.verdict, fact.phase, fact.count, path, line, fact.via)
    elif isinstance(fact, PlacedOperator):
        yield Operator(fact.name, fact.place, count=fact.count, path=path, line=line)


def _added(rows: Iterable[Operator]) -> list[Operator]:
    """The rows with equal ones merged and counted."""
    found: dict[tuple[str, ...], Operator] = {}
    for one in rows:
        key = (one.name, one.verdict, one.phase, one.path, str(one.line), one.via)
        have = found.get(key)
        found[key] = one if have is None else msgspec.structs.replace(have, count=have.count + one.count)
    return list(found.values())


def _place(fact: Fact, program: Program) -> tuple[str, int]:
    return ("", 0) if fact.path == program.entry else (fact.path, fact.span.line)


def _rank(verdict: str) -> int:
    return ORDER.index(verdict) if verdict in ORDER else ORDER.index("unknown")
