"""Reads console output of precision_tool: panels of operators that differ or overflowed.

A panel is a frame of box characters. Its title or first line names the operator (``[578] scope/TopKV2``,
``[TransData][327] trans_TransData_1170``), the lines below contain similarities or the unit's status."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import flag
from npulint.facts.model import Fact, Span
from npulint.runs.read.compared_ops import BELOW, ComparedOperator, Problem, mixlist
from npulint.runs.read.numbers import number, whole
from npulint.runs.read.op_names import type_of
from npulint.runs.read.overflow import UNITS, Overflow, ranked
from npulint.runs.read.rows import texts

_TITLE = lazy_compile(r"\s*╭─+ \[(\d{1,9})\] (.{1,1000}?) ─+╮\s*$")
_OPERATOR = lazy_compile(r"\[([A-Za-z]\w{0,99})\]\[(\d{1,12})\] (\S{1,1000})\s*$")
_STATUS = lazy_compile(r"\[(AI Core|L2 Atomic Add|DHA Atomic Add)\]\[Status:\s*(\w{1,20})\]\[TaskId:\s*(\d{1,12})\]")
_STAMP = lazy_compile(r"timestamp \[(\d{1,20})\]")
_VALUE = lazy_compile(r"- \[(\d{1,5})\]\s*(\S{1,40})")
_RIGHT = lazy_compile(r"Right:\s*\[(.{0,1000})\]")
_PANEL = 300  # lines of a panel
_MOST = 100  # panels that become facts


def read(stream: BinaryIO, path: str) -> list[Fact]:
    """A `run_compared` or `run_overflow` for each operator shown in a panel. Raises only what `stream` raises."""
    compared: list[ComparedOperator | None] = []
    overflowed: list[Overflow] = []
    for line, panel in _panels(stream):
        title = _TITLE.match(panel[0])
        if title is not None and len(compared) < _MOST:
            compared.append(_compared(path, line, title[2].strip(), panel))
        elif title is None and len(overflowed) < _MOST:
            overflowed += _overflowed(path, line, panel)
    return [*ranked(overflowed), *_ordered(compared)]


def _panels(stream: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """(line, lines) of each closed frame."""
    panel: list[str] = []
    begins = 0
    for line, text in enumerate(texts(stream), 1):
        if "╭" in text:
            panel, begins = [text], line
        elif panel:
            if len(panel) < _PANEL:
                panel.append(text.strip().strip("│"))
            if "╰" in text:
                yield begins, panel
                panel = []


def _compared(path: str, line: int, name: str, panel: list[str]) -> ComparedOperator | None:
    """The panel of an operator if it differs; its inputs count as good unless their numbers say otherwise."""
    values: dict[str, list[tuple[str, float | None]]] = {"input": [], "output": []}
    side, reference = "", ""
    for text in panel[1:]:
        head = text.strip().lower()
        side = "input" if head.startswith("input") else "output" if head.startswith("output") else side
        right = _RIGHT.search(text)
        reference = right[1].replace("'", "") if right else reference
        if side:
            values[side] += [(f"{side}:{index}", number(value)) for index, value in _VALUE.findall(text)]
    inputs = [value for _, value in values["input"] if value is not None and not math.isnan(value)]
    outputs = [(value, label) for label, value in values["output"] if value is not None and not math.isnan(value)]
    unclear = any(value is not None and math.isnan(value) for _, value in values["output"])
    cosine, tensor = min(outputs, default=(None, "-"))
    what: Problem | None = "not_a_number" if unclear else None
    if cosine is not None and cosine < BELOW:
        what = "inherits" if any(value < BELOW for value in inputs) else "deviates"
    return what and ComparedOperator(
        name,
        path,
        Span.at(line),
        what=what,
        rank=0,
        total=0,
        family="precision_tool",
        type=type_of(name),
        reference=reference,
        fused=flag("," in reference if reference else None),
        tensor=tensor,
        cosine=cosine,
        inputs_min_cosine=min(inputs, default=None),
        mixlist=mixlist(type_of(name)),
    )


def _ordered(facts: Iterable[ComparedOperator | None]) -> list[Fact]:
    """Panels ranked among those of the same problem, in the order of the source tables."""
    kinds: dict[Problem, list[ComparedOperator]] = {}
    compared_operators = [fact for fact in facts if fact is not None]
    for fact in compared_operators:
        kinds.setdefault(fact.what, []).append(fact)
    ranks = {fact: rank for alike in kinds.values() for rank, fact in enumerate(alike, 1)}
    return [msgspec.structs.replace(fact, rank=ranks[fact], total=len(kinds[fact.what])) for fact in compared_operators]


def _overflowed(path: str, line: int, panel: list[str]) -> Iterator[Overflow]:
    kind = name = ""
    stamp = 0
    for text in panel[1:]:
        match = _STAMP.search(text)
        stamp = stamp or int(match[1]) if match else stamp
    for offset, text in enumerate(panel[1:], 1):
        operator = _OPERATOR.search(text.strip())
        if operator is not None:
            kind, name = operator[1], operator[3]
        match = _STATUS.search(text)
        status = whole(match[2]) if match else None
        if match is not None and status:
            unit, task = UNITS[match[1]], int(match[3])
            yield Overflow(name or unit, path, Span.at(line + offset), unit, status, task, stamp, kind or "-", name)
