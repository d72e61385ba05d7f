"""Records of arithmetic that left its range on the device.

Source: the JSON that a parsed ``Opdebug`` dump becomes, in both of its forms: one entry per unit (AI Core, atomic add
in L2, atomic add by DHA), or one list for one accelerator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import msgspec

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.compared_ops import mixlist
from npulint.read.artifacts.json_objects import NotJsonError, documents, text_of
from npulint.read.artifacts.numbers import whole
from npulint.read.artifacts.op_names import DumpName, dump_name

BITS: dict[int, str] = {
    0x8: "sign",
    0x10: "integer",
    0x20: "float",
    0x80: "negative_to_unsigned",
    0x100: "to_float16",
    0x400: "cube_accumulation",
}
"""What each bit of the AI Core's status stands for."""

UNITS = {"AI Core": "ai_core", "L2 Atomic Add": "l2_atomic", "DHA Atomic Add": "dha_atomic"}
_ACCELERATORS = {"AIC": "ai_core", "AIV": "ai_vector", "AICPU": "ai_cpu", "SDMA": "sdma"}
_FIRST = ("ai_core", "ai_vector")


def bits(status: int) -> list[str]:
    """The names of the bits that are set, ``other`` for those that are not documented."""
    named = [name for bit, name in BITS.items() if status & bit]
    return named + (["other"] if status & ~sum(BITS) else [])


def overflow_fact(path: str, line: int, unit: str, status: int, attrs: dict[str, Any]) -> Fact:
    """`run_overflow` of one unit; named for the operator where that is known, else for the unit."""
    named = bits(status) if unit in _FIRST else []
    more = {"unit": unit, "status": status, "bits": ", ".join(named) or "-"}
    flags = {name: "yes" if name in named else "no" for name in BITS.values()}
    return GenericFact("run_overflow", attrs.get("op") or unit, path, Span.at(line), {**more, **flags, **attrs})


def read(stream: BinaryIO, path: str) -> list[Fact]:
    """`run_overflow` for each unit of a record that overflowed, AI Core first. Raises `NotJsonError`."""
    text = text_of(stream)
    name = dump_name(_base(path))
    stamp = name.timestamp if name else 0
    found: list[Fact] = []
    known = False
    for start, end, value in documents(text):
        for key, unit, entry in _entries(value):
            known = True
            status = whole(entry.get("status")) or 0
            if status > 0:
                at = text.find(f'"{key}"', start, end)
                line = text.count("\n", 0, max(at, start)) + 1
                found.append(overflow_fact(path, line, unit, status, _attrs(entry, stamp)))
    if not known:
        raise NotJsonError("no overflow record")
    return ranked(found)


def _entries(value: Any) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(key, unit, entry) of each unit in a record of either form."""
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
            for one in data if isinstance(data, list) else [data]:
                if isinstance(one, dict):
                    yield "acc_type", unit, one


def _attrs(entry: dict[str, Any], stamp: int) -> dict[str, Any]:
    task, stream = whole(entry.get("task_id")), whole(entry.get("stream_id"))
    return {
        "task": -1 if task is None else task,
        "stream": -1 if stream is None else stream,
        "model": whole(entry.get("model_id")) or 0,
        "timestamp": stamp,
        "type": "-",
        "op": "",
    }


def ranked(facts: Iterable[Fact]) -> list[Fact]:
    """Records, of any number of files, with their `rank` from 1 and their `count`: AI Core before the others, then by
    time, then by task."""
    ordered = sorted(
        facts,
        key=lambda fact: (
            fact.attrs["unit"] not in _FIRST,
            fact.attrs["timestamp"],
            fact.attrs["task"],
            fact.path,
            fact.span,
        ),
    )
    return [
        msgspec.structs.replace(
            fact,
            attrs={**fact.attrs, "rank": rank, "count": len(ordered), "mixlist": mixlist(fact.attrs["type"])},
        )
        for rank, fact in enumerate(ordered, 1)
    ]


def of_name(path: str) -> list[Fact]:
    """What the name alone of an overflow dump tells, for one that was never parsed: that something overflowed, and
    when. The task in it is that of the record, not of the operator. No fact for another file."""
    name = dump_name(_base(path))
    if name is None or name.type != "Opdebug" or name.direction:
        return []
    attrs = {"task": -1, "stream": name.stream, "model": 0, "timestamp": name.timestamp, "type": "-", "op": ""}
    return ranked([overflow_fact(path, 1, "unparsed", -1, attrs)])


def without_parsed(facts: Iterable[Fact], paths: Iterable[str]) -> list[Fact]:
    """Records but those of dumps that were parsed as well: the parsed file tells whether something overflowed."""
    names = [dump_name(_base(path)) for path in paths]
    parsed = {(name.task, name.timestamp) for name in names if name and name.type == "Opdebug" and name.direction}
    found = []
    for fact in facts:
        name = dump_name(_base(fact.path)) if fact.attrs["unit"] == "unparsed" else None
        if name is None or (name.task, name.timestamp) not in parsed:
            found.append(fact)
    return found


def with_operators(facts: Iterable[Fact], paths: Iterable[str]) -> list[Fact]:
    """Records with the operator of their task, which the names of the tensors dumped beside them tell."""
    known: dict[int, DumpName] = {}
    for path in paths:
        name = dump_name(_base(path))
        if name is not None and name.type != "Opdebug":
            known.setdefault(name.task, name)
    found = []
    for fact in facts:
        name = known.get(fact.attrs["task"])
        if name is not None and not fact.attrs["op"]:
            attrs = {**fact.attrs, "type": name.type, "op": name.op}
            fact = msgspec.structs.replace(fact, name=name.op, attrs=attrs)
        found.append(fact)
    return found


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
