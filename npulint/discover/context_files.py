"""The company of single files: what else belongs to their projects, so that programs are judged whole."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping
from functools import cache

from npulint.discover.files import DiscoverOptions, Discovery, discover
from npulint.discover.kinds import SourceFile
from npulint.discover.projects import Roots, marked_root

_CODE = ("python", "notebook")


def context_files(found: Discovery, options: DiscoverOptions, given: Mapping[str, bytes] = {}) -> list[SourceFile]:
    """The files to read besides those found: when a file was named alone, the rest of its project, or of
    its folder where no project is marked. Nothing is said about them that does not come from the named ones.
    Graphs are none of them: nothing else is judged by what they say. What a run left behind needs company only where
    no code was named with it. `given` is as for `discover`."""
    code_given = any(file.kind in _CODE for file in found.files)
    named = (file for file in found.files if file.path in found.named)
    alone = {posixpath.dirname(file.path) or "." for file in named if not (code_given and file.kind == "artifact")}
    if not alone:
        return []
    roots = Roots()

    @cache
    def home(folder: str) -> str | None:
        return marked_root(folder, roots)

    have = {(file.path, file.kind) for file in found.files}
    near = discover(sorted({home(folder) or folder for folder in alone}), options, given).files
    code = (file for file in near if file.kind not in ("graph", "artifact"))
    return [file for file in code if (file.path, file.kind) not in have and _belongs(file, alone, home)]


def _belongs(file: SourceFile, alone: Collection[str], home: Callable[[str], str | None]) -> bool:
    """Without a marked project only the files beside the named ones count."""
    folder = posixpath.dirname(file.path) or "."
    return home(folder) is not None or folder in alone
