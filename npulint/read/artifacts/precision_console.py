"""What precision_tool prints: panels of operators that differ, and of operators that overflowed.

A panel is a frame of box characters. Its title or first line names the operator (``[578] scope/TopKV2``,
``[TransData][327] trans_TransData_1170``), the lines below hold similarities or the unit's status.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.compared_ops import BELOW, mixlist
from npulint.read.artifacts.numbers import number, whole
from npulint.read.artifacts.op_names import type_of
from npulint.read.artifacts.overflow import UNITS, overflow_fact, ranked
from npulint.read.artifacts.rows import texts

_TITLE = lazy_compile(r"\s*╭─+ \[(\d{1,9})\] (.{1,1000}?) ─+╮\s*$")
_OPERATOR = lazy_compile(r"\[([A-Za-z]\w{0,99})\]\[(\d{1,12})\] (\S{1,1000})\s*$")
_STATUS = lazy_compile(r"\[(AI Core|L2 Atomic Add|DHA Atomic Add)\]\[Status:\s*(\w{1,20})\]\[TaskId:\s*(\d{1,12})\]")
_STAMP = lazy_compile(r"timestamp \[(\d{1,20})\]")
_VALUE = lazy_compile(r"- \[(\d{1,5})\]\s*(\S{1,40})")
_RIGHT = lazy_compile(r"Right:\s*\[(.{0,1000})\]")
_PANEL = 300  # lines of a panel that are looked at
_MOST = 100  # panels of which facts are made


def read(stream: BinaryIO, path: str) -> list[Fact]:
    """`run_compared` and `run_overflow` for the operators that panels show. Raises only what `stream` raises."""
    compared: list[Fact] = []
    overflowed: list[Fact] = []
    for line, panel in _panels(stream):
        title = _TITLE.match(panel[0])
        if title is not None and len(compared) < _MOST:
            compared.append(_compared(path, line, int(title[1]), title[2].strip(), panel))
        elif title is None and len(overflowed) < _MOST:
            overflowed += _overflowed(path, line, panel)
    return ranked(overflowed) + _ordered(compared)


def _panels(stream: BinaryIO) -> Iterator[tuple[int, list[str]]]:
    """(line, lines) of each frame that is closed."""
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


def _compared(path: str, line: int, order: int, name: str, panel: list[str]) -> Fact:
    """The panel of an operator that differs; its inputs count as good when none of their numbers says otherwise."""
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
    bad = any(value < BELOW for value in inputs)
    low = cosine is not None and cosine < BELOW
    attrs: dict[str, Any] = {
        "what": ("inherits" if bad else "deviates") if low else "not_a_number" if unclear else "alike",
        "order": order,
        "family": "precision_tool",
        "mode": "tensor",
        "type": type_of(name),
        "reference": reference,
        "fused": "yes" if "," in reference else "no" if reference else "unknown",
        "tensor": tensor,
        "lowered": "no",
        "mixlist": mixlist(type_of(name)),
        "cosine": cosine,
        "inputs": "bad" if bad else "good" if inputs else "unknown",
        "inputs_min_cosine": min(inputs, default=None),
        "inputs_nan": len(values["input"]) - len(inputs),
    }
    return GenericFact("run_compared", name, path, Span.at(line), attrs)


def _ordered(facts: list[Fact]) -> list[Fact]:
    """Panels with their rank among those that say the same, in the order of the tables they were taken from."""
    counts: dict[str, int] = {}
    for fact in facts:
        what = fact.attrs["what"]
        counts[what] = fact.attrs["rank"] = counts.get(what, 0) + 1
    for fact in facts:
        fact.attrs["total"] = counts[fact.attrs["what"]]
    return [fact for fact in facts if fact.attrs["what"] != "alike"]


def _overflowed(path: str, line: int, panel: list[str]) -> Iterator[Fact]:
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
            attrs = {
                "task": int(match[3]),
                "stream": -1,
                "model": 0,
                "timestamp": stamp,
                "type": kind or "-",
                "op": name,
            }
            yield overflow_fact(path, line + offset, UNITS[match[1]], status, attrs)
