"""The collectives that a process calls, appended to a file as they are called: a process that hangs or crashes leaves
them behind."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any, TextIO

import msgspec
import torch

from npulint.facts.graph import NodeFrame
from npulint.fakes.orders import Called
from npulint.live.sources import is_own

_node: Any = torch._C._current_autograd_node
_MOST = 20_000  # calls that are written
_SIZED = frozenset("allreduce broadcast reduce _allgather_base _reduce_scatter_base".split())
"""Collectives whose tensors have the same size on all ranks."""

_file: list[TextIO] = []
_early: list[str] = []  # calls before the file is known
_count = 0


def open_at(path: str) -> None:
    """Write to this file from now on, and what was called before."""
    _file[:] = [open(path, "a", encoding="utf-8")]  # noqa: SIM115  open until the process ends
    for line in _early:
        _file[0].write(line)
    _file[0].flush()
    _early.clear()


def called(group: str, members: Sequence[int], rank: int, name: str, tensors: Any = None) -> None:
    """Note a collective of a group; `members` are global ranks, `rank` is this process's."""
    global _count
    _count += 1
    if _count > _MOST:
        return
    size, dtype = _shape(tensors) if name in _SIZED else (-1, "")
    entry = Called(
        group, tuple(members), rank, name.strip("_"), size, dtype, _node() is not None, own_stack(sys._getframe(1))
    )
    line = msgspec.json.encode(entry).decode() + "\n"
    if _file:
        _file[0].write(line)
        _file[0].flush()
    else:
        _early.append(line)


def own_stack(frame: FrameType | None) -> tuple[NodeFrame, ...]:
    """The lines of the user's code in a stack, innermost last."""
    node_frames = []
    while frame is not None:
        code = frame.f_code
        if is_own(code.co_filename):
            node_frames.append(NodeFrame(code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return tuple(reversed(node_frames))


def _shape(tensors: Any) -> tuple[int, str]:
    while isinstance(tensors, (list, tuple)):
        if not tensors:
            return 0, ""
        tensors = tensors[0]
    return int(tensors.numel()), str(tensors.dtype).removeprefix("torch.")
