"""Distinguishes user code from that of Python, installed packages and npulint."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterable
from functools import lru_cache

from npulint.facts.graph import NodeFrame

NPULINT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
"""The folder of this package."""

_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_PYTHON = tuple(os.path.join(path, "") for path in map(sysconfig.get_path, ("stdlib", "platstdlib", "scripts")) if path)


@lru_cache(maxsize=4096)
def is_own(path: str) -> bool:
    """Whether the file name of a frame is user code; notebook cells are."""
    if path.startswith("<") and not path.startswith("<ipython-input"):
        return False
    return not (path.startswith((NPULINT, *_PYTHON)) or is_installed(path))


def is_installed(path: str) -> bool:
    """Whether the file name of a frame is that of an installed package."""
    return any(part in path for part in _INSTALLED)


def package_path(path: str) -> str:
    """The path of an installed file from its package: ``transformers/trainer.py``."""
    for part in _INSTALLED:
        path = path.rpartition(part)[2]
    return path.replace(os.sep, "/")


def own_frames(frames: Iterable[NodeFrame]) -> tuple[NodeFrame, ...]:
    """The user frames, outermost to innermost. Frames outside of the call of a live check count only if there are no
    others, and then only the caller."""
    before: list[NodeFrame] = []
    after: list[NodeFrame] = []
    inside = False
    for frame in frames:
        if frame.path.startswith(NPULINT):
            inside = True
            before += after
            after = []
        elif is_own(frame.path):
            after.append(frame)
    if after or not inside:
        return tuple(after)
    return tuple(before[-1:])
