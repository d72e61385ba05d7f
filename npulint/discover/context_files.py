"""Context files: further files of the projects of single files, needed to analyze whole programs."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping
from functools import cache

from npulint.discover.files import DiscoverOptions, Discovery, discover
from npulint.discover.kinds import SourceFile
from npulint.discover.projects import ProjectRoots, marked_root

_CODE = ("python", "notebook")


def context_files(
    discovery: Discovery, options: DiscoverOptions, contents: Mapping[str, bytes] = {}
) -> list[SourceFile]:
    """The files to read in addition to those found: when single files were named, the rest of their project, or of
    their folder if no project is marked. No findings are reported in them unless a named file causes them. Graphs are
    excluded; run artifacts need context only if no code was named with them. `contents` is as for `discover`."""
    has_code = any(file.kind in _CODE for file in discovery.files)
    named = (file for file in discovery.files if file.path in discovery.named)
    alone = {posixpath.dirname(file.path) or "." for file in named if not (has_code and file.kind == "artifact")}
    if not alone:
        return []
    roots = ProjectRoots()

    @cache
    def home(folder: str) -> str | None:
        return marked_root(folder, roots)

    have = {(file.path, file.kind) for file in discovery.files}
    marked = {root for root in map(home, alone) if root is not None}
    flat = {folder for folder in alone if home(folder) is None}
    near = discover(sorted(marked | flat), options, contents, flat=flat - marked).files
    code = (file for file in near if file.kind not in ("graph", "artifact"))
    return [file for file in code if (file.path, file.kind) not in have and _belongs(file, alone, home)]


def _belongs(file: SourceFile, alone: Collection[str], home: Callable[[str], str | None]) -> bool:
    """Without a marked project only files in the same folder as named ones belong."""
    folder = posixpath.dirname(file.path) or "."
    return home(folder) is not None or folder in alone
