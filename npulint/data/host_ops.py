"""Which TensorFlow interfaces build operators that the adapter leaves on the host."""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec

from npulint.data import table

Residence = Literal["host", "older", "mixed"]
Family = Literal[
    "python",
    "string",
    "parsing",
    "queue",
    "fused_cell",
    "spectral",
    "special",
    "sparse",
    "ragged",
    "ctc",
    "dynamic",
    "padding",
    "random",
    "geometry",
    "gradient",
]


class HostOp(msgspec.Struct, frozen=True, array_like=True):
    """Operators of an interface that stay on the host. `where`: ``host`` always, ``older`` if the installed
    operator package is as old as the recorded list, ``mixed`` in mixed computing only; `ops` are their types,
    `family` what they have in common. `argument` (at `position`) decides: its value is among `values`, or it is not
    given if these are ``-``; empty if it holds for every call."""

    where: Residence
    ops: str
    family: Family
    argument: str
    position: int
    values: tuple[str, ...]


@cache
def host_ops() -> dict[str, tuple[HostOp, ...]]:
    """By canonical name of the interface; the first one whose argument fits is meant."""
    return msgspec.json.decode(table("host_ops.json"), type=dict[str, tuple[HostOp, ...]])
