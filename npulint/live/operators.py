"""The operators of an evaluated graph as table rows, the same for both frameworks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from npulint.data.library_waits import library_wait
from npulint.facts.graph import Node
from npulint.facts.model import Fact
from npulint.graphs.facts.tensorflow.where import PlacedOperator
from npulint.graphs.facts.torch.operators import Operators, operators_of
from npulint.graphs.facts.torch.syncs import library_lines
from npulint.graphs.facts.torch.syncs import syncs as waiting
from npulint.judge.summaries.step_summary import StepOperator, StepWait
from npulint.recognizers.programs import Program

ORDER = "error cpu cpu_out host older mixed aicpu custom unknown decomposes generic npu_out npu device".split()
"""Verdicts, most severe first. Of PyTorch: those of `npulint.data.aten`. Of TensorFlow: host and device, older (only a
newer CANN may take it), mixed (on the host in mixed computing), aicpu (on the NPU's own CPU)."""


def torch_operators(program: Program) -> Operators | None:
    """The judged operators of a graph of PyTorch; None for other graphs, or without any operator."""
    return operators_of(program.index.of_kind("torch_op"))


def operators(program: Program) -> list[StepOperator]:
    """The operators of a graph, most severe verdicts first."""
    judged = torch_operators(program)
    rows = (
        _torch_rows(judged)
        if judged is not None
        else (row for fact in program.index.of_kind("graph_op") for row in _row(fact, program))
    )
    return sorted(
        _added(rows),
        key=lambda step_operator: (
            _rank(step_operator.verdict),
            step_operator.name,
            step_operator.path,
            step_operator.line,
            step_operator.phase,
        ),
    )


def syncs(program: Program, lang: str) -> list[StepWait]:
    """The places where a recorded step makes the host wait, most frequent first."""
    operators = torch_operators(program)
    if operators is None:
        return []
    rows: dict[StepWait, int] = {}
    for node, name in waiting(operators.view):
        row = _wait(node, name, _shown(operators, node), lang)
        rows[row] = rows.get(row, 0) + node.count
    counted = [msgspec.structs.replace(row, count=number) for row, number in rows.items()]
    return sorted(
        counted,
        key=lambda step_wait: (-step_wait.count, step_wait.name, step_wait.path, step_wait.line, step_wait.inside),
    )


def _wait(node: Node, name: str, place: tuple[str, int], lang: str) -> StepWait:
    lines = library_lines(node)
    cause = str(node.attrs.get("cause", "")) or ("mask" if name == "index" else name)
    explanation = library_wait(lines, cause)
    why, remedy = ("", "") if explanation is None else (explanation.why(lang), explanation.remedy(lang))
    return StepWait(name, 0, *place, inside=lines[0] if lines else "", cause=cause, why=why, remedy=remedy)


def counted(rows: Sequence[StepOperator]) -> dict[str, int]:
    """The number of operators by verdict, most severe first."""
    counts: dict[str, int] = {}
    for row in sorted(rows, key=lambda step_operator: _rank(step_operator.verdict)):
        counts[row.verdict] = counts.get(row.verdict, 0) + row.count
    return counts


def _torch_rows(operators: Operators) -> Iterator[StepOperator]:
    for judged_operator in operators.judged:
        node, lines = judged_operator.node, library_lines(judged_operator.node)
        row = StepOperator(
            node.op,
            judged_operator.word,
            node.phase or "forward",
            node.count,
            *_shown(operators, node),
            judged_operator.verdict.via,
        )
        yield row if row.fine or not lines else msgspec.structs.replace(row, inside=lines[0])


def _row(fact: Fact, program: Program) -> Iterator[StepOperator]:
    """The row of a fact about an operator of TensorFlow."""
    if isinstance(fact, PlacedOperator):
        path, line = ("", 0) if fact.path == program.entry else (fact.path, fact.span.line)
        yield StepOperator(fact.name, fact.place, count=fact.count, path=path, line=line)


def _added(rows: Iterable[StepOperator]) -> list[StepOperator]:
    """The rows with equal ones merged and counted."""
    counts: dict[StepOperator, int] = {}
    for row in rows:
        key = msgspec.structs.replace(row, count=0)
        counts[key] = counts.get(key, 0) + row.count
    return [msgspec.structs.replace(step_operator, count=number) for step_operator, number in counts.items()]


def _shown(operators: Operators, node: Node) -> tuple[str, int]:
    """The place of a node; empty if no project code made it."""
    path, span = operators.view.place(node)
    return ("", 0) if path == operators.view.path else (path, span.line)


def _rank(verdict: str) -> int:
    return ORDER.index(verdict) if verdict in ORDER else ORDER.index("unknown")
