"""Operators that TF Adapter can offload to the NPU."""

from __future__ import annotations

from functools import cache

import msgspec

from npulint.data import lazy_table


class SupportedOps(msgspec.Struct, frozen=True):
    """A list of operator types. `gray` ones stay on the host in mixed computing. `source`: path of the installation's
    list, or empty for the recorded snapshot; `release`: of CANN, or the month of the snapshot."""

    ops: frozenset[str] = frozenset()
    gray: frozenset[str] = frozenset()
    source: str = ""
    release: str = ""


class RecordedOperator(msgspec.Struct, frozen=True):
    """What is recorded about an operator type in addition to the list.

    `newer`: evidence that later packages list it: plugin (an open-source plugin of CANN 9), proto (a device definition
    of the same name), listed (an AI CPU kernel), or empty. `adapter`: the adapter implements it. `aicpu`: no AI Core
    kernel is known. `rule`: the adapter never offloads it. `known`: TensorFlow, the adapter or the device have an
    operator of this name."""

    newer: str = ""
    adapter: bool = False
    aicpu: bool = False
    rule: bool = False
    known: bool = True


_NEVER = frozenset(("_Arg", "_Retval", "StringJoin"))


class _Table(msgspec.Struct, frozen=True):
    release: str
    ops: frozenset[str]
    gray: frozenset[str]
    newer: dict[str, frozenset[str]]
    adapter: frozenset[str]
    aicpu: frozenset[str]
    others: frozenset[str]


_table = lazy_table("supported_ops.json", _Table)


def snapshot() -> SupportedOps:
    """The newest published list, as recorded."""
    table = _table()
    return SupportedOps(table.ops, table.gray, "", table.release)


@cache
def recorded(op: str) -> RecordedOperator:
    """The record of an operator type, independent of the list in use."""
    table = _table()
    newer = next((kind or "listed" for kind, ops in table.newer.items() if op in ops), "")
    rule = op in _NEVER or op.endswith(("Dataset", "DatasetV2"))
    adapter = op in table.adapter
    return RecordedOperator(
        newer=newer,
        adapter=adapter,
        aicpu=op in table.aicpu,
        rule=rule,
        known=bool(newer) or adapter or rule or op in table.ops or op in table.others,
    )
