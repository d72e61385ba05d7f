"""Which code is the user's own: neither that of Python, nor of installed packages, nor npulint's."""

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
    """Whether the code of a frame, by the name of its file, is the user's. A cell of a notebook is."""
    if path.startswith("<") and not path.startswith("<ipython-input"):
        return False
    return not (path.startswith((NPULINT, *_PYTHON)) or any(part in path for part in _INSTALLED))


def own_frames(frames: Iterable[NodeFrame]) -> tuple[NodeFrame, ...]:
    """The user's own among frames from the outermost to the innermost. What stands before a check of this package was
    called only says who called it: it counts where nothing else does, and then the caller alone."""
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
