"""Libraries of PyTorch projects that need a GPU or an Ascend build, and retired operators of torch_npu."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Literal

import msgspec

from npulint.data import known_prefix, lazy_table

Removal = Literal["planned", "unmaintained"]
Works = Literal["no", "partly", "yes"]
LibraryGroup = Literal[
    "attention",
    "quantized",
    "cuda_array",
    "inference",
    "data",
    "sparse_conv",
    "graph",
    "rendering",
    "fused_kernel",
    "deform_conv",
    "distributed",
    "monitor",
    "triton",
    "detection",
    "vision",
    "serving",
    "megatron",
    "native",
    "npu",
]


class Library(msgspec.Struct, frozen=True, array_like=True):
    """An import name: its group of libraries with the same substitute, whether it works on the NPU (no, partly, yes),
    its replacement (empty if none), and whether it can be imported without a GPU although it works on none but GPUs."""

    name: str
    group: LibraryGroup
    works: Works
    substitute: str
    loads: bool


class RetiredOp(msgspec.Struct, frozen=True, array_like=True):
    """An operator of torch_npu that will be removed (``planned``) or gets no fixes (``unmaintained``), and its
    replacement (empty if none)."""

    status: Removal
    substitute: str


class _Tables(msgspec.Struct, frozen=True):
    libraries: list[Library]
    retired: dict[str, RetiredOp]


_tables = lazy_table("torch_libraries.json", _Tables)


@lru_cache(maxsize=1 << 14)
def library(name: str) -> Library | None:
    """The library of a dotted name, by the longest recorded prefix; None if unknown."""
    return _by_name().get(known_prefix(name, _by_name()))


def retired_op(name: str) -> RetiredOp | None:
    """The retired operator of that last name (``npu_giou``), or None."""
    return _tables().retired.get(name)


@cache
def library_roots() -> frozenset[str]:
    """The first segments of all recorded import names."""
    return frozenset(name.partition(".")[0] for name in _by_name())


@cache
def _by_name() -> dict[str, Library]:
    return {record.name: record for record in _tables().libraries}
