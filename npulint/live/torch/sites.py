"""Attributes operators to user lines and to phases of the step."""

from __future__ import annotations

import os
import sys
from types import CodeType, FrameType
from typing import Any

import torch

from npulint.facts.graph import NodeFrame
from npulint.live.sources import NPULINT, is_installed, is_own, package_path

FORWARD, BACKWARD, OPTIMIZER = "forward", "backward", "optimizer"
NOT_RECORDED = -1
"""The place of what this package does itself, and of loading data, which stays on the host: not recorded."""

_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_STEPPING = tuple(
    _TORCH + part for part in (f"optim{os.sep}", f"amp{os.sep}grad_scaler", f"cuda{os.sep}amp{os.sep}grad")
)
_ENGINE = tuple(os.path.join(_TORCH, "autograd", name) for name in ("graph.py", "__init__.py"))
_SHOWN = (
    *_STEPPING,
    *(_TORCH + os.path.join(*part.split("/")) for part in ("distributions/", "nn/utils/", "distributed/")),
)
"""Parts of PyTorch that compute by themselves, as libraries do: their lines are shown."""
_PRINTING = os.path.join(_TORCH, "_tensor_str.py")
_TENSOR = os.path.join(_TORCH, "_tensor.py")
_READING = frozenset(("__format__", "__contains__"))
_LOADING = os.path.join(_TORCH, "utils", "data", "")
_ENTRIES = frozenset(("_engine_run_backward", "backward", "grad"))
_OTHER, _OWN, _OPTIMIZING, _RUNNING, _OUTER, _SILENCED, _LIBRARY = range(7)
_DEEPEST = 12  # innermost frames kept per place
_LIBRARY_DEEPEST = 6  # frames of libraries kept per place
_NEAR = 64  # how far back the forward operator is searched
_node: Any = torch._C._current_autograd_node
_sequence: Any = getattr(torch.autograd, "_get_sequence_nr", None) or (lambda: 0)

Key = tuple[tuple[Any, ...], tuple[Any, ...]]
"""Code and instruction of each user frame, and of each library frame, innermost first."""

_kinds: dict[CodeType, int] = {}
_outer: set[CodeType] = set()
_unrecorded: set[CodeType] = set()


def outermost(function: Any) -> Any:
    """Decorates a function that runs user code: its callers count only if the user code shows no line."""
    _outer.add(function.__code__)
    return function


def unrecorded(function: Any) -> Any:
    """Decorates a function that computes for the check itself: its operators are not recorded."""
    _unrecorded.add(function.__code__)
    return function


class Sites:
    """The numbered places of a recording. Gradients get the place of their forward operator."""

    def __init__(self) -> None:
        self._numbers: dict[Key, int] = {}
        self._keys: list[Key] = []
        self._makers: dict[int, int] = {}

    def here(self, depth: int = 2) -> tuple[int, str]:
        """The place and phase of the current operator; the search begins `depth` frames out."""
        node = _node()
        frames, library, ending, stepping = _walk(sys._getframe(depth), node is not None)
        phase = BACKWARD if node is not None else OPTIMIZER if stepping else FORWARD
        if ending == _SILENCED:
            self._makers.setdefault(_sequence() - 1, NOT_RECORDED)
            return NOT_RECORDED, phase
        if node is not None and ending != _OWN:
            made = self._maker(node)
            if made is not None:
                return made, phase
        site = self._number((tuple(frames[: 2 * _DEEPEST]), tuple(library)))
        self._makers.setdefault(_sequence() - 1, site)
        return site, phase

    def frames(self, site: int) -> tuple[NodeFrame, ...]:
        """The user frames of a place, innermost last."""
        pairs = _pairs(self._keys[site][0])
        return tuple(NodeFrame(code.co_filename, line_at(code, last), code.co_name) for code, last in reversed(pairs))

    def library(self, site: int) -> tuple[str, ...]:
        """The lines of libraries between the user's code and the operator, innermost first, as
        ``transformers/trainer.py:12 in Trainer.train``; of PyTorch only those that compute by themselves."""
        pairs = _pairs(self._keys[site][1])
        return tuple(_shown(code, last) for code, last in pairs if code.co_filename not in (_PRINTING, _TENSOR))

    def readers(self, site: int) -> list[tuple[CodeType, int]]:
        """The instructions that led to the operator, innermost first: those of libraries, then of the user's code."""
        own, library = self._keys[site]
        return [*_pairs(library), *_pairs(own)]

    def _maker(self, node: Any) -> int | None:
        """The place of the operator whose gradient this node computes: an operator creates its node before it runs."""
        number = node._sequence_nr() if hasattr(node, "_sequence_nr") else -1
        for earlier in range(number, max(-1, number - _NEAR), -1) if number < 1 << 62 else ():
            if earlier in self._makers:
                return self._makers[earlier]
        return None

    def _number(self, key: Key) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return number


def _walk(frame: FrameType | None, backward: bool) -> tuple[list[Any], list[Any], int, bool]:
    """The user frames from the innermost outwards, as (code, instruction); those of libraries inside of them; whether
    they are the operator's own (``_OWN``), those of the code that runs the backward pass (``_RUNNING``), or npulint's
    (``_SILENCED``); and whether an optimizer is running."""
    frames: list[Any] = []
    library: list[Any] = []
    kinds = _kinds
    alone = running = stepping = False
    while frame is not None:
        code = frame.f_code
        kind = kinds.get(code)
        if kind is None:
            kind = kinds[code] = _kind(code)
        if kind == _OWN:
            frames.append(code)
            frames.append(frame.f_lasti)
            if alone:
                break
        elif kind in (_LIBRARY, _OPTIMIZING):
            stepping = stepping or kind == _OPTIMIZING
            if not frames and len(library) < 2 * _LIBRARY_DEEPEST:
                library.append(code)
                library.append(frame.f_lasti)
        elif kind == _SILENCED:
            return frames, library, _SILENCED, stepping
        elif kind == _OUTER or (kind == _RUNNING and backward):
            if frames and (kind == _OUTER or not running):
                break
            running = running or kind == _RUNNING
            alone = alone or kind == _OUTER
        frame = frame.f_back
    return frames, library, _RUNNING if running or not frames else _OWN, stepping


def _kind(code: CodeType) -> int:
    path = code.co_filename
    if code in _outer or code in _unrecorded:
        return _OUTER if code in _outer else _SILENCED
    if path.startswith(_TORCH):
        if path in _ENGINE and code.co_name in _ENTRIES:
            return _RUNNING
        if path.startswith(_LOADING):
            return _SILENCED
        if path.startswith(_STEPPING):
            return _OPTIMIZING
        reads = path == _PRINTING or (path == _TENSOR and code.co_name in _READING)
        return _LIBRARY if reads or path.startswith(_SHOWN) else _OTHER
    if is_own(path):
        return _OWN
    return _LIBRARY if is_installed(path) and not path.startswith(NPULINT) else _OTHER


def _pairs(key: tuple[Any, ...]) -> list[tuple[CodeType, int]]:
    return [(key[place], key[place + 1]) for place in range(0, len(key), 2)]


def _shown(code: CodeType, last: int) -> str:
    path = package_path(code.co_filename)
    name = getattr(code, "co_qualname", code.co_name).partition(".<")[0]  # not in Python 3.10
    return f"{path}:{line_at(code, last)} in {name}"


def line_at(code: CodeType, last: int) -> int:
    """The line of an instruction: the last one that begins at or before it."""
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= last < end and number is not None:
            return number
        line = number if start <= last and number is not None else line
    return line
