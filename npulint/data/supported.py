"""The operators that the adapter of TensorFlow takes to the NPU."""

from __future__ import annotations

from functools import cache

import msgspec

from npulint.data import table


class SupportedOps(msgspec.Struct, frozen=True):
    """A list of operator types. `gray` ones stay on the host in mixed computing. `source` says whose list it is: the
    path of an installation's own, or empty for the recorded snapshot; `release` that of CANN, or the month of the
    snapshot."""

    ops: frozenset[str] = frozenset()
    gray: frozenset[str] = frozenset()
    source: str = ""
    release: str = ""


class Recorded(msgspec.Struct, frozen=True):
    """What is known of an operator type beside the list that is used.

    `newer`: what speaks for packages later than the recorded list having it: plugin (an open plug-in of CANN 9), proto
    (a definition of the same name for the device), listed (a kernel of the AI CPU), or empty. `adapter`: the adapter
    brings it itself. `aicpu`: no kernel for the AI Core is known. `rule`: the adapter never takes it to the device.
    `known`: TensorFlow, the adapter or the device have an operator of this name.
    """

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


def snapshot() -> SupportedOps:
    """The recorded list: the newest that was ever published."""
    known = _table()
    return SupportedOps(known.ops, known.gray, "", known.release)


@cache
def recorded(op: str) -> Recorded:
    """What is known of an operator type, whatever list is used."""
    known = _table()
    newer = next((kind or "listed" for kind, ops in known.newer.items() if op in ops), "")
    rule = op in _NEVER or op.endswith(("Dataset", "DatasetV2"))
    adapter = op in known.adapter
    return Recorded(
        newer=newer,
        adapter=adapter,
        aicpu=op in known.aicpu,
        rule=rule,
        known=bool(newer) or adapter or rule or op in known.ops or op in known.others,
    )


@cache
def _table() -> _Table:
    return msgspec.json.decode(table("supported_ops.json"), type=_Table)
