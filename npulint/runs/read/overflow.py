"""Records of arithmetic overflow on the device.

Source: the JSON of a parsed ``Opdebug`` dump, in both layouts: one entry per unit (AI Core, atomic add in L2, atomic
add by DHA), or one list for one accelerator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Literal

import msgspec

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact, Span
from npulint.runs.read.compared_ops import mixlist
from npulint.runs.read.json_objects import NotJsonError, documents, text_of
from npulint.runs.read.numbers import whole
from npulint.runs.read.op_names import DumpName, dump_name

BITS: dict[int, str] = {
    0x8: "sign",
    0x10: "integer",
    0x20: "float",
    0x80: "negative_to_unsigned",
    0x100: "to_float16",
    0x400: "cube_accumulation",
}
"""The meaning of the status bits of the AI Core."""

Unit = Literal["ai_core", "ai_vector", "ai_cpu", "sdma", "l2_atomic", "dha_atomic", "other", "unparsed"]
UNITS: dict[str, Unit] = {"AI Core": "ai_core", "L2 Atomic Add": "l2_atomic", "DHA Atomic Add": "dha_atomic"}
_ACCELERATORS: dict[str, Unit] = {"AIC": "ai_core", "AIV": "ai_vector", "AICPU": "ai_cpu", "SDMA": "sdma"}
_FIRST = ("ai_core", "ai_vector")


@fact_kind("run_overflow")
class Overflow(FileFact):
    """An arithmetic overflow on the device (an Opdebug record, or a panel of precision_tool); the name is the operator
    where it is known, otherwise the unit."""

    unit: Unit
    """Unparsed: a dump of which only the name was read."""
    status: int
    task: int = -1
    timestamp: int = 0
    """In µs."""
    type: str = "-"
    op: str = ""
    rank: int = 0
    """AI Core first, then by time and task."""
    count: int = 0
    """How many overflows there are."""

    @attribute
    def mixlist(self) -> str:
        """The text of an operator list that keeps this type in float32."""
        return mixlist(self.type)

    @attribute
    def bits(self) -> str:
        """The names of the status bits that are set."""
        return ", ".join(self._bits) or "-"

    @property
    def _bits(self) -> list[str]:
        return bits(self.status) if self.unit in _FIRST else []

    @attribute
    def to_float16(self) -> bool:
        """Whether a conversion to float16 overflowed."""
        return "to_float16" in self._bits

    @attribute
    def cube_accumulation(self) -> bool:
        """Whether the sum of a matrix multiplication overflowed."""
        return "cube_accumulation" in self._bits

    @attribute
    def float(self) -> bool:
        """Whether floating point arithmetic overflowed."""
        return "float" in self._bits


def bits(status: int) -> list[str]:
    """The names of the bits that are set, ``other`` for undocumented ones."""
    named = [name for bit, name in BITS.items() if status & bit]
    return named + (["other"] if status & ~sum(BITS) else [])


def read(stream: BinaryIO, path: str) -> list[Overflow]:
    """A `run_overflow` for each unit of a record that overflowed, AI Core first. Raises `NotJsonError`."""
    text = text_of(stream)
    name = dump_name(_base(path))
    stamp = name.timestamp if name else 0
    overflows: list[Overflow] = []
    has_entry = False
    for start, end, value in documents(text):
        for key, unit, entry in _entries(value):
            has_entry = True
            status = whole(entry.get("status")) or 0
            if status > 0:
                at = text.find(f'"{key}"', start, end)
                line = text.count("\n", 0, max(at, start)) + 1
                task = whole(entry.get("task_id"))
                number = -1 if task is None else task
                overflows.append(Overflow(unit, path, Span.at(line), unit, status, number, stamp))
    if not has_entry:
        raise NotJsonError("no overflow record")
    return ranked(overflows)


def _entries(value: Any) -> Iterator[tuple[str, Unit, dict[str, Any]]]:
    """(key, unit, entry) of each unit in a record of either layout."""
    records = value if isinstance(value, list) else [value]
    for record in records:
        if not isinstance(record, dict):
            continue
        for key, unit in UNITS.items():
            if isinstance(record.get(key), dict):
                yield key, unit, record[key]
        listed = record.get("acc_list")
        for entry in listed if isinstance(listed, list) else [listed]:
            if not isinstance(entry, dict):
                continue
            unit = _ACCELERATORS.get(str(entry.get("acc_type", "")), "other")
            data = entry.get("data")
            for part in data if isinstance(data, list) else [data]:
                if isinstance(part, dict):
                    yield "acc_type", unit, part


def ranked(facts: Iterable[Overflow]) -> list[Overflow]:
    """Overflow facts of any number of files with `rank` (from 1) and `count`: AI Core first, then by time and task."""
    ordered = sorted(
        facts,
        key=lambda overflow: (
            overflow.unit not in _FIRST,
            overflow.timestamp,
            overflow.task,
            overflow.path,
            overflow.span,
        ),
    )
    return [msgspec.structs.replace(fact, rank=rank, count=len(ordered)) for rank, fact in enumerate(ordered, 1)]


def of_name(path: str) -> list[Overflow]:
    """The overflow fact of an unparsed dump, by its file name alone: the time of an overflow. The task in it is that of
    the record, not of the operator. Empty for another file."""
    name = dump_name(_base(path))
    if name is None or name.type != "Opdebug" or name.direction:
        return []
    return ranked([Overflow("unparsed", path, Span(), "unparsed", -1, timestamp=name.timestamp)])


def without_parsed(facts: Iterable[Overflow], paths: Iterable[str]) -> list[Overflow]:
    """The facts without those of unparsed dumps that were parsed as well: the parsed file is authoritative."""
    names = [dump_name(_base(path)) for path in paths]
    parsed = {(name.task, name.timestamp) for name in names if name and name.type == "Opdebug" and name.direction}
    overflows = []
    for fact in facts:
        name = dump_name(_base(fact.path)) if fact.unit == "unparsed" else None
        if name is None or (name.task, name.timestamp) not in parsed:
            overflows.append(fact)
    return overflows


def with_operators(facts: Iterable[Overflow], paths: Iterable[str]) -> list[Overflow]:
    """The facts with the operator of their task, taken from the names of tensors dumped in the same folder."""
    name_of: dict[int, DumpName] = {}
    for path in paths:
        name = dump_name(_base(path))
        if name is not None and name.type != "Opdebug":
            name_of.setdefault(name.task, name)
    overflows = []
    for fact in facts:
        name = name_of.get(fact.task)
        if name is not None and not fact.op:
            fact = msgspec.structs.replace(fact, name=name.op, type=name.type, op=name.op)
        overflows.append(fact)
    return overflows


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
