"""The kind of a file by its name; content is read only where the name is ambiguous."""

from __future__ import annotations

import os
import re

import msgspec

from npulint.core.lazy_regex import lazy_compile

_EXACT = {
    "setup.py": ("python", "dependency"),
    "setup.cfg": ("dependency",),
    "pyproject.toml": ("dependency",),
    "Pipfile": ("dependency",),
    "environment.yml": ("dependency",),
    "environment.yaml": ("dependency",),
    "Dockerfile": ("dockerfile",),
    "Makefile": ("makefile",),
    "makefile": ("makefile",),
}
_SUFFIX = {
    "py": ("python",),
    "ipynb": ("notebook",),
    "sh": ("shell",),
    "bash": ("shell",),
    "sbatch": ("shell",),
    "slurm": ("shell",),
    "mk": ("makefile",),
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
    "onnx": ("graph",),
    "textproto": ("graph",),
}
_DATA = frozenset(("yaml", "yml", "json", "toml"))
_CONFIGURATIONS = frozenset("yaml yml json toml ini cfg conf gin pbtxt prototxt config".split())
REQUIREMENTS = lazy_compile(r"(?:[\w.-]+[-_.])?requirements?[\w.-]*\.txt", re.IGNORECASE)
_LIST = lazy_compile(rb"(?<!\\)[\"'](?:black|white)-list[\"']\s*:")
_KEY = lazy_compile(rb"\"[^\"\n]{1,200}\"\s{0,9}:")
_LIST_KEY = lazy_compile(
    rb"(?i)\"[^\"\n]{0,40}(?:black|white|gr[ae]y|to[-_ ]?add|to[-_ ]?remove)[^\"\n]{0,40}\"\s{0,9}:"
)
_LIST_NAME = lazy_compile(r"(?i).*(?:black|white|gr[ae]y|mix|ops?_?info|precision).*")
_BASELINE = b'{"version": 1, "findings": ['
_INSTRUCTION = lazy_compile(rb"(?mi)^[ \t]*(?:FROM|ARG|ENV|RUN|COPY|ADD|CMD|ENTRYPOINT)[ \t]+\S")
_HUNK = lazy_compile(rb"(?m)^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
_SHEBANG = lazy_compile(rb"#![^\n]*?\b(?:(python)[\d.]*|(ba|da|k|z)?sh)\b")

JSON_LIMIT = 256 * 1024
"""Maximum bytes of a JSON file; larger ones are data, never a mixed precision list."""

CPP_LIMIT = 64 * 1024
"""Bytes of a C++ file that are searched for bindings of CUDA code."""

CONFIGURATION = ("configuration",)
"""The kinds of a configuration file: `npulint.discover.file_filter` decides whether it starts a training, and
comparisons read those that programs load."""

DATA = ("data",)
"""The kinds of a small data file that a program of its project may load: only programs that do give it a meaning."""

DATA_LIMIT = 16 * 1024
"""Maximum bytes of such a file; in larger ones are no settings, but records."""

GRAPH = ("graph",)
"""The kinds of a file that may hold a graph: `npulint.discover.graphs` decides."""

ARTIFACT = ("artifact",)
"""The kinds of a file that may be a run artifact: `npulint.discover.artifacts` decides."""

CODE = frozenset(("python", "notebook", "shell", "cuda", "dockerfile", "dependency", "mixlist", "makefile"))
"""The kinds of files that belong to a program, not to its runs."""

DOCKERFILE_LIMIT = 64 * 1024
"""Bytes of a file called as a Dockerfile that are searched for its instructions."""

DOCKERFILE = ("dockerfile",)
"""The kinds of a file called as a Dockerfile: `is_dockerfile` decides."""

PASSING = frozenset((("mixlist",), ("cuda",), CONFIGURATION, GRAPH))
"""Kinds whose file names are ambiguous: unreadable files are not reported."""


class SourceFile(msgspec.Struct, frozen=True, gc=False):
    """A file to read. `path` is for display and results, `location` for opening it (they differ if the name is not
    UTF-8, and on Windows); `base` is the highest folder that may be its project's root."""

    path: str
    kind: str
    location: str
    base: str
    size: int


def kinds_of(path: str) -> tuple[str, ...]:
    """The kinds of a file by its name, and for text files by its folder; empty if npulint does not read such files.
    Some names are ambiguous: `is_mixlist` decides about ``mixlist`` (any JSON) by the content, `is_cuda` about
    ``cuda``, `is_dockerfile` about ``dockerfile``, and `npulint.discover.graphs.form_of` about ``graph``."""
    name = os.path.basename(path)
    exact = _EXACT.get(name)
    if exact is not None:
        return exact
    kinds = _SUFFIX.get(name.rpartition(".")[2])
    if kinds is not None:
        return kinds if "." in name else ()
    if name.endswith(".pb.txt"):
        return GRAPH
    if name.endswith(".txt"):
        folder = os.path.basename(os.path.dirname(path))
        return ("dependency",) if REQUIREMENTS.fullmatch(name) or folder == "requirements" else ()
    return ("dockerfile",) if name.startswith("Dockerfile") else ()


def possible_kinds(path: str) -> tuple[str, ...]:
    """As `kinds_of`, and ``configuration`` for files that may hold settings of a program."""
    return kinds_of(path) or (CONFIGURATION if may_configure(os.path.basename(path)) else ())


def may_configure(name: str) -> bool:
    """Whether a file called `name` may hold settings of a program."""
    return "." in name and name.rpartition(".")[2].lower() in _CONFIGURATIONS


def may_be_loaded(name: str, size: int) -> bool:
    """Whether a file of this name and size may hold values that a program loads."""
    return 0 < size <= DATA_LIMIT and "." in name and name.rpartition(".")[2].lower() in _DATA


def is_mixlist(data: bytes) -> bool:
    """Whether JSON text contains one of the adapter's operator lists as a key; reports and baselines may mention them
    in values."""
    return bool(_LIST.search(data)) and not data.startswith(_BASELINE)


def may_be_mixlist(name: str, head: bytes) -> bool:
    """Whether a JSON file named by the user may be intended as an operator list, though a malformed one: it has no
    keys, or keys similar to those of a list."""
    return not _KEY.search(head) or bool(_LIST_NAME.fullmatch(name) or _LIST_KEY.search(head))


def is_cuda(name: str, head: bytes) -> bool:
    """Whether a source called `name` is CUDA, or C++ that exports CUDA code to Python."""
    if name.endswith((".cu", ".cuh")):
        return True
    return (b"PYBIND11_MODULE" in head or b"TORCH_LIBRARY" in head) and b"cuda" in head.lower()


def is_dockerfile(head: bytes) -> bool:
    """Whether a file has instructions of Dockerfiles: neither a patch of one nor an encrypted file has."""
    return b"\0" not in head and not _HUNK.search(head) and _INSTRUCTION.search(head) is not None


def kinds_by_content(head: bytes) -> tuple[str, ...]:
    """The kinds of a script without an extension, from its first line."""
    match = _SHEBANG.match(head)
    if match is None:
        return ()
    return ("python",) if match.group(1) else ("shell",)
