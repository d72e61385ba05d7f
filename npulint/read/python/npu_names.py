"""Whether a source names the NPU in its code: an import, a name, or the text of a device or of a back end."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile

_NPU = lazy_compile(r"(?<![A-Za-z])npu|hccl", re.IGNORECASE)
_ONE_WORD = lazy_compile(r"[\w.:,=+-]*")


def names_npu(text: str, tree: ast.Module) -> bool:
    """Whether the code of a source names the NPU or HCCL; comments, documentation and sentences do not count."""
    lowered = text.lower()
    if not _may_name(lowered):
        return False
    lines = lowered.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    near = [number for number, line in enumerate(lines, 1) if _may_name(line)]
    return any(_NPU.search(word) for node in _nodes_near(tree, near) for word in _words(node))


def _may_name(lowered: str) -> bool:
    """Whether a text in lower case has such a name anywhere; as `_NPU`, but in large texts many times as fast."""
    at = lowered.find("npu")
    while at > 0 and "a" <= lowered[at - 1] <= "z":  # input
        at = lowered.find("npu", at + 3)
    return at >= 0 or "hccl" in lowered


def _nodes_near(tree: ast.Module, lines: list[int]) -> Iterator[ast.AST]:
    """The nodes of a syntax tree but for those in statements that stand on none of some lines (ascending)."""
    queue: list[ast.AST] = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.stmt):
            decorators = getattr(node, "decorator_list", None)
            following = bisect_left(lines, decorators[0].lineno if decorators else node.lineno)
            if following == len(lines) or lines[following] > (node.end_lineno or node.lineno):
                continue
        yield node
        queue += ast.iter_child_nodes(node)


def _words(node: ast.AST) -> Iterator[str]:
    """The names and single words that a node of the syntax tree itself contains."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and _ONE_WORD.fullmatch(node.value):
            yield node.value
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield node.name
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.arg, ast.keyword)):
        yield node.arg or ""
