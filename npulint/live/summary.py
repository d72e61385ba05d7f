"""The summary of a recorded step for reports, from the evaluated graph and the course of its last step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.chip_memory import chip_memory
from npulint.facts.graph import Graph
from npulint.graphs.facts.torch.operators import JudgedOperator, Operators
from npulint.graphs.facts.torch.syncs import library_lines
from npulint.graphs.facts.torch.syncs import syncs as waiting
from npulint.judge.summaries.step_summary import (
    CLASSES,
    PLACES,
    StepMemory,
    StepPicture,
    StepShape,
    StepStretch,
)
from npulint.live.course import Course

_ASSUMED = "910B"  # the chip of most servers, if nothing specifies one
_TIGHT = 0.85  # of the memory: the rest is for workspaces, communication buffers and fragments
_STRETCHES = 400
_WAITS = 200  # per stretch

_COPIES = lazy_compile(r"aten\.(?:_to_copy|copy_|as_strided|view|_unsafe_view|t|transpose|expand|detach|alias)\b")

_Key = tuple[str, int, str, str]


def memory(course: Course, soc: str) -> StepMemory | None:
    """The memory of a recorded run on the chip `soc` (empty: not specified); None if it was not followed."""
    if len(course.peak) != len(CLASSES) or not any(course.peak):
        return None
    parameters, gradients, optimizer, activations, other = course.peak
    step_memory = StepMemory(
        sum(course.peak),
        parameters,
        gradients,
        optimizer,
        activations,
        other,
        kept=course.kept,
        chip=soc or _ASSUMED,
        assumed=not soc,
    )
    chip = chip_memory(step_memory.chip)
    if chip is None:
        return step_memory
    room = chip.capacity
    fits = "no" if step_memory.peak > room else "tight" if step_memory.peak > _TIGHT * room else "yes"
    return msgspec.structs.replace(step_memory, capacity=room, fits=fits, source=chip.source)


def changed_shapes(operators: Operators) -> list[StepShape]:
    """The operators whose shapes changed between steps, the first of each line, in the order of execution."""
    rows: dict[tuple[str, int], StepShape] = {}
    for judged_operator in operators.judged:
        later = judged_operator.node.attrs.get("later", ())
        if not later:
            continue
        path, line = _shown(operators, judged_operator)
        inside = " ".join(library_lines(judged_operator.node)[:1])
        shapes = tuple(tuple(map(int, shape)) for shape in later)
        step_shape = rows.get((path, line), StepShape(judged_operator.node.op, shapes, path, line, inside, others=-1))
        if _COPIES.match(step_shape.name):
            step_shape = msgspec.structs.replace(step_shape, name=judged_operator.node.op, shapes=shapes, inside=inside)
        rows[path, line] = msgspec.structs.replace(step_shape, others=step_shape.others + 1)
    return list(rows.values())


def picture(operators: Operators, graph: Graph, course: Course) -> StepPicture | None:
    """The last step as stretches of operators; None if its order was not recorded."""
    judged = {id(judged_operator.node): judged_operator for judged_operator in operators.judged}
    nodes = graph.bodies[0].nodes
    ran = [judged.get(id(nodes[number])) if 0 <= number < len(nodes) else None for number in course.sequence]
    if not any(ran):
        return None
    waits = {id(node) for node, _ in waiting(operators.view)}
    stretches: list[StepStretch] = []
    for detail in (2, 1, 0):  # lines, functions, files
        stretches = list(_stretches(operators, ran, waits, detail))
        if len(stretches) <= _STRETCHES:
            break
    return StepPicture(len(ran), tuple(stretches[:_STRETCHES]), course.memory)


def _stretches(
    operators: Operators, ran: Sequence[JudgedOperator | None], waits: set[int], detail: int
) -> Iterator[StepStretch]:
    begin, held, runs, marks = 0, None, dict[str, int](), list[int]()
    for number, judged_operator in enumerate(ran):
        if judged_operator is None:
            continue
        key = _key(operators, judged_operator, detail)
        if key != held:
            if held is not None:
                yield StepStretch(*held, begin, number, runs, tuple(marks[:_WAITS]))
            begin, held, runs, marks = number, key, {}, []
        word = "cpu" if judged_operator.computed else PLACES.get(judged_operator.word, judged_operator.word)
        runs[word] = runs.get(word, 0) + 1
        if id(judged_operator.node) in waits:
            marks.append(number)
    if held is not None:
        yield StepStretch(*held, begin, len(ran), runs, tuple(marks[:_WAITS]))


def _key(operators: Operators, judged_operator: JudgedOperator, detail: int) -> _Key:
    path, line = _shown(operators, judged_operator)
    function = judged_operator.node.frames[-1].function if judged_operator.node.frames and detail else ""
    return path, line if detail == 2 else 0, function, judged_operator.node.phase or "forward"


def _shown(operators: Operators, judged_operator: JudgedOperator) -> tuple[str, int]:
    path, span = judged_operator.place
    return ("", 0) if path == operators.view.path else (path, span.line)
