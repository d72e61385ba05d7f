"""Comments that describe the statement below."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.fix.python.tree import Tree

_LONGEST = 3  # lines
_DEVICE = lazy_compile(r"(?i)gpu|cuda|cudnn|nccl|xla|memory|显存|显卡")
_FLAG = lazy_compile(r"(?i)cudnn")
_CODE = lazy_compile(r"npulint|noqa|pylint|pragma|type:|TODO|FIXME|[^=]=[^=]|\w\(")


def comment_start(tree: Tree, start: int, end: int) -> int:
    """The start of the comment about a device that describes only the statement below, which has the lines from `start`
    to `end`; `start` if there is none."""
    first, last = tree.line_of(start) - 1, tree.line_of(end)
    indent = tree.indent(start)
    top = first
    while top and tree.lines[top - 1].startswith(f"{indent}#"):
        top -= 1
    comment = tree.lines[top:first]
    text = "\n".join(comment)
    is_flag = len(comment) == 1 and _FLAG.search(text) is not None  # no other statement is about it
    if not 0 < len(comment) <= _LONGEST or not (is_flag or _is_paragraph(tree, indent, last)):
        return start
    return tree.starts[top] if _DEVICE.search(text) and not _CODE.search(text) else start


def _is_paragraph(tree: Tree, indent: str, line: int) -> bool:
    """Whether the code above a line has ended: a blank line or an outer block."""
    following = tree.lines[line] if line < len(tree.lines) else ""
    return not following.strip() or not following.startswith(indent)
