"""TensorFlow APIs whose operators the adapter leaves on the host."""

from __future__ import annotations

from typing import Literal

import msgspec

from npulint.data import lazy_table

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
    """Operators of an API that stay on the host. `where`: ``host`` always, ``older`` if the installed operator package
    is as old as the recorded list, ``mixed`` in mixed computing only; `ops` are their types, `family` their common
    property. `argument` (at `position`) decides: its value is among `values`, or it is absent if these are ``-``; empty
    if every call is affected."""

    where: Residence
    ops: str
    family: Family
    argument: str
    position: int
    values: tuple[str, ...]


host_ops = lazy_table("host_ops.json", dict[str, tuple[HostOp, ...]])
"""By canonical API name; the first one whose argument matches applies."""
