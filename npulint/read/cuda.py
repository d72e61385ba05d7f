"""CUDA sources and C++ bindings: the kernels and functions that a project defines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span

_MOST = 400  # facts of one file
_LONGEST = 2_000_000  # characters that are searched
_HEADER = 600  # characters of a kernel's declaration before its name
_TOKEN = lazy_compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|R"(?P<mark>[^()\\\s"]{0,16})\(.*?(?:\)(?P=mark)"|\Z)"""
    r"""|"(?:[^"\\\n]|\\(?:.|\Z))*(?:"|$)|'(?:[^'\\\n]|\\.){1,8}'""",
    re.DOTALL | re.MULTILINE,
)
_KERNEL = lazy_compile(r"\b__global__\b")
_CALLED = lazy_compile(
    r"\b(?!__launch_bounds__|__attribute__|__cluster_dims__|__declspec)([A-Za-z_]\w*)[ \t\n]*\(|[;{}]"
)
_BOUNDS = lazy_compile(r"\b(?:__launch_bounds__|__attribute__|__cluster_dims__|__declspec)[ \t\n]*\([^;{}]{0,200}?\)")
_BINDING = lazy_compile(r'\b\w+\.(?:def|impl)[ \t\n]*\([ \t\n]*"([A-Za-z_][\w:.]{0,200})')
_BINDS = ("PYBIND11_MODULE", "TORCH_LIBRARY")


@fact_kind("cuda_source")
class CudaSource(FileFact):
    """A source defines a CUDA kernel; or, if it has no kernel, binds a C++ function. The name is that of the kernel or
    function."""

    what: Literal["kernel", "binding"]
    """What is defined."""
    kernels: int
    """How many of them the file has."""


def read_cuda(text: str, path: str) -> list[Fact]:
    """The `CudaSource` facts of a file. Empty for text that is no C++."""
    text = text[:_LONGEST]
    kernels = "__global__" in text
    if not kernels and not any(word in text for word in _BINDS):
        return []
    code = _TOKEN.sub(_blank, text)
    definitions = list(_kernels(code)) if kernels else []
    what: Literal["kernel", "binding"] = "kernel" if definitions else "binding"
    if not definitions and any(word in code for word in _BINDS):
        definitions = [(match.group(1), match.start(1)) for match in islice(_BINDING.finditer(code), _MOST)]
    unique = dict(reversed(definitions[:_MOST]))  # the first place of each name
    placed = sorted(unique.items(), key=lambda item: item[1])
    return [CudaSource(name, path, _span(code, name, at), what, len(unique)) for name, at in placed]


def _blank(match: re.Match[str]) -> str:
    """Replace comments by blanks of the same length; keep strings."""
    blank = match.group()
    if blank.startswith(("//", "/*")):
        return re.sub(r"[^\n]", " ", blank)
    return blank


def _kernels(code: str) -> Iterator[tuple[str, int]]:
    for match in islice(_KERNEL.finditer(code), 4 * _MOST):
        head = _BOUNDS.sub(lambda bounds: " " * len(bounds.group()), code[match.end() : match.end() + _HEADER])
        name = _CALLED.search(head)
        if name is not None and name.group(1):
            yield name.group(1), match.end() + name.start(1)


def _span(code: str, name: str, at: int) -> Span:
    line = code.count("\n", 0, at) + 1
    column = at - code.rfind("\n", 0, at)
    return Span(line, column, line, column + len(name))
