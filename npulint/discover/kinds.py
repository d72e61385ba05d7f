"""What a file is, told from its name; content is looked at only where the name cannot tell."""

from __future__ import annotations

import re

import msgspec

from npulint.lazy_regex import lazy_compile

_EXACT = {
    "setup.py": ("python", "dependency"),
    "setup.cfg": ("dependency",),
    "pyproject.toml": ("dependency",),
    "Pipfile": ("dependency",),
    "environment.yml": ("dependency",),
    "environment.yaml": ("dependency",),
    "Dockerfile": ("dockerfile",),
}
_SUFFIX = {
    "py": ("python",),
    "ipynb": ("notebook",),
    "sh": ("shell",),
    "bash": ("shell",),
    "json": ("mixlist",),
    "dockerfile": ("dockerfile",),
    "Dockerfile": ("dockerfile",),
    "cu": ("cuda",),
    "cuh": ("cuda",),
    "cpp": ("cuda",),
    "cc": ("cuda",),
    "cxx": ("cuda",),
    "pb": ("graph",),
    "meta": ("graph",),
    "pbtxt": ("graph",),
    "pt2": ("graph",),
    "pt": ("graph",),
    "pth": ("graph",),
    "ts": ("graph",),
    "torchscript": ("graph",),
    "ptl": ("graph",),
    "jit": ("graph",),
}
_CONFIGURATIONS = frozenset("yaml yml json toml ini cfg conf gin pbtxt prototxt config".split())
REQUIREMENTS = lazy_compile(r"requirements?[\w.-]*\.txt", re.IGNORECASE)
_LIST = lazy_compile(rb"(?<!\\)[\"'](?:black|white)-list[\"']\s*:")
_KEY = lazy_compile(rb"\"[^\"\n]{1,200}\"\s{0,9}:")
_LIST_KEY = lazy_compile(
    rb"(?i)\"[^\"\n]{0,40}(?:black|white|gr[ae]y|to[-_ ]?add|to[-_ ]?remove)[^\"\n]{0,40}\"\s{0,9}:"
)
_LIST_NAME = lazy_compile(r"(?i).*(?:black|white|gr[ae]y|mix|ops?_?info|precision).*")
_BASELINE = b'{"version": 1, "findings": ['
_SHEBANG = lazy_compile(rb"#![^\n]*?\b(?:(python)[\d.]*|(ba|da|k|z)?sh)\b")

JSON_LIMIT = 256 * 1024
"""Bytes above which a JSON file is data, never a mixed precision list."""

CPP_LIMIT = 64 * 1024
"""Bytes of a C++ file that are looked at for bindings of CUDA code."""

CONFIGURATION = ("configuration",)
"""The kinds of a file of settings, of which a comparison reads those that programs name."""

GRAPH = ("graph",)
"""The kinds of a file that may hold a graph: `npulint.discover.graphs` tells whether it does."""

ARTIFACT = ("artifact",)
"""The kinds of a file that a run left behind: `npulint.discover.artifacts` tells which are."""

PASSING = frozenset((("mixlist",), ("cuda",), CONFIGURATION, GRAPH))
"""Kinds of files that only some of their name are of: nothing is said about those that cannot be read."""


class SourceFile(msgspec.Struct, frozen=True):
    """A file to read. `path` is for people and results, `location` for opening it (they differ when the
    name is not UTF-8, or on Windows); `base` is the highest folder that may be its project's root."""

    path: str
    kind: str
    location: str
    base: str
    size: int


def kinds_of(name: str) -> tuple[str, ...]:
    """The kinds of a file called `name` (no folder); empty when npulint does not read such files.

    ``mixlist`` only says that it is JSON: ask `is_mixlist` about its text; ``cuda`` that it may bind CUDA
    code: ask `is_cuda`; ``graph`` that it may hold one: ask `npulint.discover.graphs.form_of`.
    """
    exact = _EXACT.get(name)
    if exact is not None:
        return exact
    kinds = _SUFFIX.get(name.rpartition(".")[2])
    if kinds is not None:
        return kinds if "." in name else ()
    if name.endswith(".pb.txt"):
        return GRAPH
    if name.endswith(".txt"):
        return ("dependency",) if REQUIREMENTS.fullmatch(name) else ()
    return ("dockerfile",) if name.startswith("Dockerfile") else ()


def may_configure(name: str) -> bool:
    """Whether a file called `name` may hold the settings of a program."""
    return "." in name and name.rpartition(".")[2].lower() in _CONFIGURATIONS


def is_mixlist(data: bytes) -> bool:
    """Whether JSON text has one of the adapter's operator lists. A report or a baseline may only speak of them."""
    return bool(_LIST.search(data)) and not data.startswith(_BASELINE)


def may_be_mixlist(name: str, head: bytes) -> bool:
    """Whether a JSON file that its user names may be meant as an operator list, if a wrong one: none that has keys, and
    not one like those of a list."""
    return not _KEY.search(head) or bool(_LIST_NAME.fullmatch(name) or _LIST_KEY.search(head))


def is_cuda(name: str, head: bytes) -> bool:
    """Whether a source called `name` is CUDA, or C++ that gives CUDA code to Python."""
    if name.endswith((".cu", ".cuh")):
        return True
    return (b"PYBIND11_MODULE" in head or b"TORCH_LIBRARY" in head) and b"cuda" in head.lower()


def kinds_by_content(head: bytes) -> tuple[str, ...]:
    """The kinds of a script without a telling name, from its first line."""
    match = _SHEBANG.match(head)
    if match is None:
        return ()
    return ("python",) if match.group(1) else ("shell",)
