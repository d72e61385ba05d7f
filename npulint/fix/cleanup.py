"""Cleanup of Python files after all fixes: unused imports, unused device checks, alignment below brackets."""

from __future__ import annotations

from npulint.fix.fix_workspace import FixWorkspace
from npulint.fix.model import FixRefused, Text
from npulint.fix.python.aligned import realigned
from npulint.fix.python.device_checks import without_unread
from npulint.fix.python.tree import Tree, tree_of
from npulint.fix.python.unused import looks_up, without_unused
from npulint.fix.source import edited_text
from npulint.fix.verify import objection
from npulint.judge.findings import Edit

_CleanedUp = tuple[dict[str, bytes], dict[str, tuple[Edit, ...]]]


def cleaned_up(workspace: FixWorkspace) -> _CleanedUp:
    """The cleaned-up bytes by path, and the edits that produce them."""
    data: dict[str, bytes] = {}
    edits: dict[str, tuple[Edit, ...]] = {}
    for path in workspace.changed():
        text = workspace.document(path).text
        try:
            some = tuple(_edits(workspace, text))
            after = workspace.document(path).edited(some)
            if some and not objection(text, edited_text(text.text, some), some):
                data[path], edits[path] = after, some
        except (FixRefused, RecursionError, MemoryError):
            continue
    return data, edits


def _edits(workspace: FixWorkspace, text: Text) -> list[Edit]:
    if text.kind != "python" or text.new:
        return []
    before, after = Tree(workspace.original(text.path).text), tree_of(text)
    stem = text.path.rpartition("/")[2].removesuffix(".py")

    def exported(name: str) -> bool:
        return any(looks_up(other, stem, name) for path, other in workspace.python_texts() if path != text.path)

    gone = [*without_unused(before, after, exported), *without_unread(before, after, exported)]
    return [*gone, *realigned(before, after, lambda line: workspace.line(text.path, line))]
