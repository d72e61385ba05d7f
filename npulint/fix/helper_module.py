"""The helper module with which a project chooses its device, and the place from which all of its code can import it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile

HELPER = "torch_device"
_INSTALLED = ("setup.py", "setup.cfg", "pyproject.toml")
_AMP = lazy_compile(r"\b(?:autocast|GradScaler)\b|cuda\.amp|cuda import amp")
_NAMES_CUDA = lazy_compile(r"cuda|nccl", re.IGNORECASE)
_USES_TORCH = lazy_compile(r"^\s*(?:import|from)\s+torch\b", re.MULTILINE)
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

_COPIES = 12  # folders with scripts that may each get the module


class HelperModule(msgspec.Struct, frozen=True):
    """The helper module of a project: the name that it is imported by, its text, and its `folders`. Of several folders,
    each has scripts that begin their imports there; `reached` are those of the scripts that reach a file. `alone` are
    scripts that do not import the package with the module: each has a copy beside it."""

    name: str
    text: str
    folders: tuple[str, ...]
    reached: Mapping[str, tuple[str, ...]] = {}
    alone: Collection[str] = ()

    def paths(self, path: str) -> tuple[str, ...]:
        """The files from which the code at a path imports it; none if it cannot."""
        if path in self.alone:
            return (posixpath.join(_folder(path), f"{HELPER}.py"),)
        folders = self.folders if len(self.folders) == 1 else self.reached.get(path, ())
        return tuple(posixpath.join(folder, f"{HELPER}.py") for folder in folders)

    def imported(self, path: str, statement: str) -> str:
        """A statement that imports it, for the code at a path."""
        start = f"from {self.name} import "
        if path not in self.alone or not statement.startswith(start):
            return statement
        return f"from {HELPER} import {statement.removeprefix(start)}"


def helper_module(
    texts: Mapping[str, str], programs: Mapping[str, Collection[str]], paths: Collection[str], accelerator: bool
) -> HelperModule | None:
    """The helper module for a project with these Python `texts` by path, `programs` (files by entry script) and `paths`
    of all files; None if there is no place for it. `accelerator`: the code uses ``torch.accelerator``."""
    ported = {path: text for path, text in texts.items() if _NAMES_CUDA.search(text) and _USES_TORCH.search(text)}
    homes = [_folder(path) for path in texts if path.rpartition("/")[2] == f"{HELPER}.py"]
    package = ""
    if len(homes) == 1:
        package = _package(f"{homes[0]}/{HELPER}.py", texts).rpartition("/")[2] if homes[0] else ""
    elif not homes:
        homes, package = _place(ported, texts, list(programs), paths)
    needing = [entry for entry, some in programs.items() if not ported.keys().isdisjoint(some)]
    folders = homes or sorted({_folder(entry) for entry in needing})
    if not 0 < len(folders) <= _COPIES:
        return None
    reached: dict[str, tuple[str, ...]] = {}
    for entry, some in programs.items():
        reached.update((path, tuple(sorted({*reached.get(path, ()), _folder(entry)}))) for path in some)
    of_amp = not accelerator and any(_AMP.search(text) for text in texts.values())
    choice = _OF_ACCELERATOR if accelerator else _OF_HELPER
    text = _HEAD + choice + _REST + (_LINES_OF_AMP if of_amp else "") + _FUNCTIONS
    alone = _alone(needing, homes[0], texts) if package and len(homes) == 1 else ()
    return HelperModule(".".join(filter(None, (package, HELPER))), text, tuple(folders), reached, alone)


def _alone(scripts: Iterable[str], package: str, texts: Mapping[str, str]) -> frozenset[str]:
    """The scripts outside of a package that do not import it: started by their path, they do not find it unless the
    project is installed."""
    name = package.rpartition("/")[2]
    outside = (path for path in scripts if not path.startswith(f"{package}/"))
    return frozenset(path for path in outside if not _imports(texts[path], name))


def _place(
    ported: Mapping[str, str], texts: Mapping[str, str], entries: Sequence[str], paths: Collection[str]
) -> tuple[list[str], str]:
    """The one folder for the module, and the package that it is (empty: none); no folder if there is none."""
    folder = _beside_scripts(ported, entries)
    if folder is not None:
        return [folder], _imported_as(folder, ported, texts)
    package = _in_package(ported, texts, paths)
    return ([package], package.rpartition("/")[2]) if package else ([], "")


def _beside_scripts(ported: Iterable[str], entries: Sequence[str]) -> str | None:
    """The folder of all scripts to port, where their imports begin, if all code to port is in it or below it."""
    folders = {_folder(path) for path in entries if path in ported} or {_folder(path) for path in entries}
    if len(folders) != 1:
        return None
    folder = folders.pop()
    return folder if all(not folder or path.startswith(f"{folder}/") for path in ported) else None


def _imported_as(folder: str, ported: Iterable[str], texts: Mapping[str, str]) -> str:
    """The package as which the scripts of a folder import what is beside them (``python -m package.train``, or an
    installed package); empty if they import it by its name."""
    outermost = _package(f"{folder}/{HELPER}.py", texts)
    name = outermost.rpartition("/")[2]
    if not name or not all(_imports(texts[path], name) for path in ported if _folder(path) == folder):
        return ""
    return folder[len(outermost) - len(name) :].replace("/", ".")


def _in_package(ported: Mapping[str, str], texts: Mapping[str, str], paths: Collection[str]) -> str:
    """The folder of the package that code to port is in, of several the one that most files import; code outside of it
    must import it already, unless the project is installed. Empty if there is none."""
    folders = {folder for path in ported if (folder := _package(path, texts))}
    names = {folder: folder.rpartition("/")[2] for folder in folders}
    users = {folder: {path for path, text in texts.items() if _imports(text, name)} for folder, name in names.items()}
    best = max(sorted(folders), key=lambda folder: len(users[folder]), default="")
    installed = any(path.rpartition("/")[2] in _INSTALLED for path in paths)
    outside = {path for path in ported if not path.startswith(f"{best}/")}
    return best if best and (installed or outside <= users[best]) else ""


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _package(path: str, texts: Mapping[str, str]) -> str:
    """The folder of the outermost package that a file is in; empty for none."""
    folder, package = _folder(path), ""
    while folder and f"{folder}/__init__.py" in texts:
        package, folder = folder, _folder(folder)
    return package


def _imports(text: str, package: str) -> bool:
    return re.search(rf"^\s*(?:from|import)\s+{re.escape(package)}\b", text, re.MULTILINE) is not None
