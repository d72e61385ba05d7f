"""The project around code that has just run, with its files as a run over it would read them."""

from __future__ import annotations

import linecache
import os
import sys
from collections import Counter
from collections.abc import Iterable

import msgspec

from npulint.commands.check.project_results import facts_of
from npulint.core.cache import open_cache
from npulint.discover.files import discover
from npulint.discover.kinds import SourceFile, kinds_of
from npulint.discover.paths import local, shown
from npulint.discover.projects import ProjectRoots
from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.facts.model import FileFacts
from npulint.judge.settings import Settings
from npulint.read.files import load

_MOST = 2_000  # files of a folder that is not marked as a project


class LiveProject(msgspec.Struct, frozen=True):
    """The `files` of the project at `root`, and the `cells` of a running notebook by name. `names` maps paths of frames
    to paths in the project; `own` are the files in frames."""

    root: str
    files: list[FileFacts]
    names: dict[str, str]
    own: frozenset[str]
    cells: dict[str, bytes]
    stamp: tuple[object, ...]

    def placed(self, graph: Graph) -> Graph:
        """The graph with frames in project files only, their paths as in the project."""
        bodies = [
            msgspec.structs.replace(body, nodes=[self._placed(node) for node in body.nodes]) for body in graph.bodies
        ]
        return msgspec.structs.replace(graph, bodies=bodies)

    def _placed(self, node: Node) -> Node:
        if not node.frames:
            return node
        frames = tuple(
            NodeFrame(self.names[frame.path], frame.line, frame.function)
            for frame in node.frames
            if frame.path in self.names
        )
        return msgspec.structs.replace(node, frames=frames)


def anchor(paths: Counter[str]) -> str:
    """The file that most nodes of a graph come from, else the working directory."""
    files = [path for path, _ in paths.most_common() if os.path.isfile(path)]
    return files[0] if files else os.getcwd()


def frame_paths(bodies: Iterable[Body]) -> Counter[str]:
    """The files of all frames, with the number of nodes each created itself (0: only called another)."""
    paths: Counter[str] = Counter()
    for body in bodies:
        for node in body.nodes:
            for frame in node.frames[:-1]:
                paths.setdefault(frame.path, 0)
            paths.update(frame.path for frame in node.frames[-1:])
    return paths


def project_around(paths: Counter[str], near: str, root: str, settings: Settings) -> LiveProject:
    """The project of the file `near` (or at `root`, if set), with all files at `paths` that created a node."""
    folder = root or _root(near)
    options = settings.discovery()
    discovered = discover([folder] if folder else _folder_files(near), options).files
    top = shown(local(folder or os.path.dirname(os.path.abspath(near))))
    more = [path for path in paths if os.path.isfile(path)]
    locations = {os.path.realpath(source.location) for source in discovered}
    strange = [path for path in more if paths[path] and os.path.realpath(path) not in locations]
    discovered += discover(strange, options).files
    sources = {(source.path, source.kind): source for source in discovered if source.kind != "graph"}
    listed = sorted(sources.values(), key=lambda source: (source.path, source.kind))
    cells = _cells(path for path in paths if paths[path] and not os.path.isfile(path))
    loaded = [load(source) for source in listed]
    loaded += [load(SourceFile(name, "python", name, top, len(data)), data) for name, data in cells.values()]
    files = facts_of(loaded, open_cache(settings.cache))
    places = {os.path.realpath(source.location): source.path for source in listed if source.kind == "python"}
    spelled = {path: places[os.path.realpath(path)] for path in more if os.path.realpath(path) in places}
    spelled |= {path: name for path, (name, _) in cells.items()}
    return LiveProject(
        root=top,
        files=files,
        names={path: os.path.relpath(name, top).replace(os.sep, "/") for path, name in spelled.items()},
        own=frozenset(spelled.values()),
        cells=dict(cells.values()),
        stamp=tuple(hash(loaded_file.data) for loaded_file in loaded),
    )


def _root(near: str) -> str:
    """The root of a file's project, as a run in the working directory finds it; empty if no folder above is marked as
    one."""
    place = local(near).replace(os.sep, "/")
    folder = place if os.path.isdir(place) else os.path.dirname(place) or "."
    outside = folder.startswith(("/", "..")) or ":" in folder
    root_folder = ProjectRoots().root(folder, _home() if outside else ".")
    return root_folder if root_folder and not (outside and root_folder == _home()) else ""


def _home() -> str:
    return os.path.expanduser("~").replace(os.sep, "/")


def _folder_files(near: str) -> list[str]:
    """The files in the folder of a file without a marked project."""
    folder = local(near)
    folder = folder if os.path.isdir(folder) else os.path.dirname(folder) or "."
    with os.scandir(folder) as entries:
        names = sorted(
            entry.name for entry in entries if kinds_of(entry.path) not in ((), ("graph",)) and entry.is_file()
        )
    return [os.path.join(folder, name) for name in names[:_MOST]]


def _cells(paths: Iterable[str]) -> dict[str, tuple[str, bytes]]:
    """Code without a file whose source Python knows, such as notebook cells: frame path to name and text."""
    cells = {}
    for path in paths:
        text = "".join(linecache.getlines(path))
        if text:
            cells[path] = (_cell_name(path), text.encode("utf-8", "surrogatepass"))
    return cells


def _cell_name(path: str) -> str:
    """``In[3]`` for an IPython cell, else the name of its pseudo file."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", None)
    number = numbers.get(path) if isinstance(numbers, dict) else None
    return f"In[{number}]" if number is not None else os.path.basename(path)
