"""How code for several devices is written: with a helper module of the project, or with ``torch.accelerator``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from npulint.data.port_styles import spellings
from npulint.lazy_regex import lazy_compile

HELPER = "torch_device"
_SINCE = (2, 6)  # the release of PyTorch that has torch.accelerator
_AMP = lazy_compile(r"\b(?:autocast|GradScaler)\b|cuda\.amp|cuda import amp")
_NAMES_CUDA = lazy_compile(r"cuda|nccl", re.IGNORECASE)
_USES_TORCH = lazy_compile(r"^\s*(?:import|from)\s+torch\b", re.MULTILINE)
_TYPE = "torch.accelerator.current_accelerator().type"
_HEAD = '''"""The device of this project: an Ascend NPU where there is one, else a GPU.

On a GPU everything stays as it was: `DEVICE_TYPE` is "cuda" and `device_module` is `torch.cuda`.
"""

import torch
'''
_OF_HELPER = """
try:
    import torch_npu
except ImportError:
    DEVICE_TYPE = "cuda"
else:
    DEVICE_TYPE = "npu"
"""
_OF_ACCELERATOR = """
_accelerator = torch.accelerator.current_accelerator()  # importing torch loads torch_npu, if it is installed
DEVICE_TYPE = "cuda" if _accelerator is None else _accelerator.type
"""
_REST = """BACKEND = "hccl" if DEVICE_TYPE == "npu" else "nccl"
device_module = getattr(torch, DEVICE_TYPE)
"""
_LINES_OF_AMP = """amp = device_module.amp
autocast, GradScaler = amp.autocast, amp.GradScaler
"""
_FUNCTIONS = '''

def device_at(place=None):
    """The device that `.cuda(place)` moved to: the current one, one by its index, or `place` itself."""
    if place is None:
        return torch.device(DEVICE_TYPE)
    return torch.device(DEVICE_TYPE, place) if isinstance(place, int) else torch.device(place)
'''
OF_AMP = ("autocast", "GradScaler")


class HelperModule(msgspec.Struct, frozen=True):
    """The helper module of a project: its file, the name that it is imported by, and its text."""

    path: str
    name: str
    text: str


class Spelling(msgspec.Struct, frozen=True):
    """One way to write code for several devices: with the `helper` of the project, with ``torch.accelerator``
    (`accelerator`), or, where both are there, with the functions of the one and the constants of the other."""

    helper: HelperModule | None
    accelerator: bool = False

    @property
    def type(self) -> str:
        """The expression for the type of the device (``npu``, ``cuda``)."""
        return "DEVICE_TYPE" if self.helper else _TYPE

    @property
    def backend(self) -> str:
        """The expression for the backend of process groups (``hccl``, ``nccl``)."""
        known = "torch.distributed.get_default_backend_for_device(torch.accelerator.current_accelerator())"
        return "BACKEND" if self.helper else known

    def name(self, canonical: str) -> tuple[str, bool]:
        """What is written for a name in ``torch.npu``, and whether the type becomes the first argument."""
        row = spellings().get(canonical)
        if self.accelerator and row is not None:
            return row.accelerator, row.first == "type"
        module = "device_module" if self.helper else "torch.get_device_module()"
        return module + canonical.removeprefix("torch.npu"), False

    def device(self, index: str) -> str:
        """The expression for the device that ``.cuda(index)`` moves to."""
        return f"device_at({index})" if self.helper else f"torch.device({_TYPE}, {index})"

    def imports(self, text: str) -> Iterator[str]:
        """The import statements that an expression of this spelling needs."""
        if "torch." in text:
            yield "import torch"
        if self.helper is None:
            return
        for name in ("DEVICE_TYPE", "BACKEND", "device_module", "device_at"):
            if name in text:
                yield f"from {self.helper.name} import {name}"


def spelling_of(
    texts: Mapping[str, str], entries: Sequence[str], root: str, releases: Iterable[str]
) -> Spelling | None:
    """The spelling for a project with these Python `texts` by path, `entries` and pinned `releases` of PyTorch; None if
    there is no place from which all of its code could import the helper."""
    pinned = {tuple(map(int, release.split(".")[:2])) for release in releases if release}
    accelerator = bool(pinned) and min(pinned) >= _SINCE
    ported = [path for path, text in texts.items() if _NAMES_CUDA.search(text) and _USES_TORCH.search(text)]
    place = _place(list(texts), ported, entries, root)
    if place is None:
        return Spelling(None, True) if accelerator else None
    folder, package = place
    of_amp = not accelerator and any(_AMP.search(text) for text in texts.values())
    choice = _OF_ACCELERATOR if accelerator else _OF_HELPER
    text = _HEAD + choice + _REST + (_LINES_OF_AMP if of_amp else "") + _FUNCTIONS
    name = ".".join(filter(None, (package, HELPER)))
    return Spelling(HelperModule(f"{folder}/{HELPER}.py".lstrip("/"), name, text), accelerator)


def _place(paths: Sequence[str], ported: Sequence[str], entries: Sequence[str], root: str) -> tuple[str, str] | None:
    """The folder and the package of the helper: the folder of all scripts to port if all code to port is below it, else
    the one package at the root of the project."""
    folders = {path.rpartition("/")[0] for path in entries if path in ported} or {
        path.rpartition("/")[0] for path in entries
    }
    if len(folders) == 1:
        folder = folders.pop()
        if all(not folder or path.startswith(f"{folder}/") for path in ported):
            return folder, ""
    top = "" if root in (".", "") else f"{root}/"
    found = {path[len(top) :].partition("/")[0] for path in ported if path.startswith(top) and "/" in path[len(top) :]}
    packages = sorted(one for one in found if f"{top}{one}/__init__.py" in paths)
    return (f"{top}{packages[0]}", packages[0]) if len(packages) == 1 else None
