"""How code for several devices is written: with a helper module of the project, or with ``torch.accelerator``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from npulint.data.port_styles import spellings
from npulint.lazy_regex import lazy_compile

HELPER = "torch_device"
_INSTALLED = ("setup.py", "setup.cfg", "pyproject.toml")
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
    texts: Mapping[str, str], entries: Sequence[str], paths: Collection[str], releases: Iterable[str]
) -> Spelling | None:
    """The spelling for a project with these Python `texts` by path, `entries`, `paths` of all files, and pinned
    `releases` of PyTorch; None if there is no place from which all of its code could import the helper."""
    pinned = {tuple(map(int, release.split(".")[:2])) for release in releases if release}
    accelerator = bool(pinned) and min(pinned) >= _SINCE
    ported = {path: text for path, text in texts.items() if _NAMES_CUDA.search(text) and _USES_TORCH.search(text)}
    place = _known(texts) or _beside_scripts(ported, entries) or _in_package(ported, texts, paths)
    if place is None:
        return Spelling(None, True) if accelerator else None
    folder, package = place
    of_amp = not accelerator and any(_AMP.search(text) for text in texts.values())
    choice = _OF_ACCELERATOR if accelerator else _OF_HELPER
    text = _HEAD + choice + _REST + (_LINES_OF_AMP if of_amp else "") + _FUNCTIONS
    name = ".".join(filter(None, (package, HELPER)))
    return Spelling(HelperModule(f"{folder}/{HELPER}.py".lstrip("/"), name, text), accelerator)


_Place = tuple[str, str]
"""A folder, and the package that it is (empty: none)."""


def _known(texts: Mapping[str, str]) -> _Place | None:
    """Where the helper is, if the project has it already."""
    folders = [path.rpartition("/")[0] for path in texts if path.rpartition("/")[2] == f"{HELPER}.py"]
    if len(folders) != 1:
        return None
    return folders[0], _package(f"{folders[0]}/{HELPER}.py", texts).rpartition("/")[2] if folders[0] else ""


def _beside_scripts(ported: Mapping[str, str], entries: Sequence[str]) -> _Place | None:
    """The folder of all scripts to port, where their imports begin, if all code to port is in it or below it."""
    folders = {path.rpartition("/")[0] for path in entries if path in ported}
    folders = folders or {path.rpartition("/")[0] for path in entries}
    if len(folders) != 1:
        return None
    folder = folders.pop()
    return (folder, "") if all(not folder or path.startswith(f"{folder}/") for path in ported) else None


def _in_package(ported: Mapping[str, str], texts: Mapping[str, str], paths: Collection[str]) -> _Place | None:
    """The package that code to port is in, of several the one that most files import; code outside of it must import it
    already, unless the project is installed."""
    folders = {folder for path in ported if (folder := _package(path, texts))}
    if not folders:
        return None
    names = {folder: folder.rpartition("/")[2] for folder in folders}
    users = {folder: {path for path, text in texts.items() if _imports(text, name)} for folder, name in names.items()}
    best = max(sorted(folders), key=lambda folder: len(users[folder]))
    installed = any(path.rpartition("/")[2] in _INSTALLED for path in paths)
    outside = {path for path in ported if not path.startswith(f"{best}/")}
    return (best, names[best]) if installed or outside <= users[best] else None


def _package(path: str, texts: Mapping[str, str]) -> str:
    """The folder of the outermost package that a file is in; empty for none."""
    folder, found = path.rpartition("/")[0], ""
    while folder and f"{folder}/__init__.py" in texts:
        found, folder = folder, folder.rpartition("/")[0]
    return found


def _imports(text: str, package: str) -> bool:
    return re.search(rf"^\s*(?:from|import)\s+{re.escape(package)}\b", text, re.MULTILINE) is not None
