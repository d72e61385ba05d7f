"""From the stack frames recorded with a node (paths of another machine) to places in the project."""

from __future__ import annotations

import posixpath

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import Node, NodeFrame
from npulint.facts.model import Span
from npulint.model.code.module import Module
from npulint.model.code.project import Project
from npulint.model.values.context import Context

_INSTALLED = lazy_compile(r"/(?:site|dist)-packages/|/lib/python\d(?:\.\d+)?/|/(?:anaconda|miniconda)\d?/pkgs/|^<")
_SURE = 2  # minimum number of common path parts if the folders above differ


def place_of(node: Node, context: Context, path: str) -> tuple[str, Span]:
    """The place in the project's code that creates a node: the innermost frame in a file of the project, else line 1 of
    the graph's file `path`."""
    return next(iter(_places(node, context)), (path, Span()))


def chain(node: Node, context: Context) -> list[tuple[str, Span]]:
    """The places in the project that call the one returned by `place_of`, innermost first."""
    return _places(node, context)[1:]


def _places(node: Node, context: Context) -> list[tuple[str, Span]]:
    files = context.memoize(Files, lambda: Files(context.project))
    lines: dict[tuple[str, int], None] = {}
    for frame in reversed(node.frames):
        module = files.of(frame)
        if module is not None:
            lines[module.path, frame.line] = None
    return [(path, Span.at(line)) for path, line in lines]


class Files:
    """The modules of a project by file name."""

    def __init__(self, project: Project) -> None:
        self._named: dict[str, list[tuple[list[str], Module]]] = {}
        self._lengths: dict[str, int] = {}
        self._known: dict[NodeFrame, Module | None] = {}
        for module in project.modules.values():
            inner = project.root not in ("", ".")
            parts = (posixpath.relpath(module.path, project.root) if inner else module.path).split("/")
            self._named.setdefault(parts[-1], []).append((parts[::-1], module))

    def of(self, frame: NodeFrame) -> Module | None:
        """The module of a frame: the one whose path has the longest common end with the frame's path. None for
        installed packages, for lines that the file does not have, and if several modules match."""
        if frame not in self._known:
            self._known[frame] = self._of(frame)
        return self._known[frame]

    def likely(self, frame: NodeFrame) -> Module | None:
        """The same with less information (a traceback, a profile): the only file of that name matches, unless the frame
        names a function that does not contain the line."""
        return self._of(frame, strict=frame.function[:1] not in ("", "<"))

    def _of(self, frame: NodeFrame, strict: bool = True) -> Module | None:
        spelled = frame.path.replace("\\", "/")
        if _INSTALLED.search(spelled):
            return None
        (shared, is_full_path), likely = self._nearest(spelled)
        if len(likely) > 1 or (strict and shared < _SURE and not is_full_path):
            likely = [module for module in likely if _holds(module, frame)]
        return likely[0] if len(likely) == 1 and self._has(likely[0], frame.line) else None

    def _nearest(self, spelled: str) -> tuple[tuple[int, bool], list[Module]]:
        """The modules whose paths have the longest common end with `path`, the number of common parts, and whether that
        is the whole module path."""
        parts = [part for part in spelled.split("/") if part not in ("", ".")][::-1]
        best, likely = (0, False), list[Module]()
        for own, module in self._named.get(parts[0], ()) if parts else ():
            shared = _shared(parts, own)
            grade = (shared, shared == len(own))
            if grade > best:
                best, likely = grade, []
            if grade == best:
                likely.append(module)
        return best, likely

    def _has(self, module: Module, line: int) -> bool:
        """Whether the file may have this many lines; unknown counts as yes when the file was only partly analysed."""
        if module.code.light:
            return line >= 1
        if module.path not in self._lengths:
            self._lengths[module.path] = _last_line(module)
        return 1 <= line <= self._lengths[module.path]


def _shared(parts: list[str], own: list[str]) -> int:
    """The number of equal parts at the end of two paths."""
    count = 0
    for part, other in zip(parts, own, strict=False):
        if part != other:
            break
        count += 1
    return count


def _holds(module: Module, frame: NodeFrame) -> bool:
    """Whether the line of the frame is inside a function of the frame's name."""
    name = frame.function.rpartition(".")[2]
    return any(
        block.kind == "function" and block.line <= frame.line <= block.end_line
        for block in module.blocks
        if block.name.rpartition(".")[2] == name
    )


def _last_line(module: Module) -> int:
    """The last line on which a recorded statement begins."""
    code = module.code
    ends = [block.end_line for block in code.blocks]
    ends += [
        statement.end_line for part in (code.calls, code.assignments, code.torch_expressions) for statement in part
    ]
    ends += [statement.line for part in (code.returns, code.name_uses, code.imports) for statement in part]
    return max(ends, default=0)
