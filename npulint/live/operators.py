"""The operators of a judged graph as rows of a table, the same for both frameworks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.assemble.programs import Program
from npulint.facts.model import Fact

FINE = frozenset("npu npu_out decomposes generic device".split())
"""Verdicts that keep an operator on the NPU."""
ORDER = "error cpu cpu_out host older mixed aicpu custom unknown decomposes generic npu_out npu device".split()
"""Verdicts from the gravest on. Of PyTorch: those of `npulint.data.aten`. Of TensorFlow: host and device, older (only a
newer CANN may take it), mixed (on the host in mixed computing), aicpu (on the NPU's own CPU)."""


class Operator(msgspec.Struct, frozen=True):
    """One operator at one line of the user's code. `phase` is forward, backward, optimizer or empty; `count` how many
    nodes there are, or how often it ran; `via` the name under which the fallback tells of it; `path` is empty where no
    code of the project made it."""

    name: str
    verdict: str
    phase: str = ""
    count: int = 1
    path: str = ""
    line: int = 0
    via: str = ""

    @property
    def fine(self) -> bool:
        """Whether it stays on the NPU."""
        return self.verdict in FINE


class Sync(msgspec.Struct, frozen=True):
    """Where the host waits for the device: the operator, how often, and at which line."""

    name: str
    count: int = 1
    path: str = ""
    line: int = 0


def operators(program: Program) -> list[Operator]:
    """The operators of a graph, the gravest verdicts first."""
    torch = program.attrs["framework"] == "torch"
    facts = program.index.of_kind("torch_op" if torch else "graph_op")
    rows = [_operator(fact, program, "verdict" if torch else "place") for fact in facts]
    return sorted(_added(rows), key=lambda one: (_rank(one.verdict), one.name, one.path, one.line, one.phase))


def syncs(program: Program) -> list[Sync]:
    """Where a recorded step makes the host wait, the most frequent first."""
    facts = program.index.of_kind("graph_sync")
    rows = [Sync(fact.name, _number(fact, "count"), *_place(fact, program)) for fact in facts]
    return sorted(rows, key=lambda one: (-one.count, one.name, one.path, one.line))


def counted(rows: Sequence[Operator]) -> dict[str, int]:
    """How many operators there are by verdict, the gravest first."""
    found: dict[str, int] = {}
    for one in sorted(rows, key=lambda one: _rank(one.verdict)):
        found[one.verdict] = found.get(one.verdict, 0) + one.count
    return found


def _operator(fact: Fact, program: Program, key: str) -> Operator:
    path, line = _place(fact, program)
    name = fact.get_text("op") or fact.name
    return Operator(
        name, fact.get_text(key), fact.get_text("phase"), _number(fact, "count"), path, line, fact.get_text("via")
    )


def _added(rows: Iterable[Operator]) -> list[Operator]:
    """Equal rows as one."""
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


def _number(fact: Fact, key: str) -> int:
    value = fact.get(key)
    return value if isinstance(value, int) else 1
