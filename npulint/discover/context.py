"""The company of single files: what else belongs to their projects, so that programs are judged whole."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from npulint.discover.files import DiscoverOptions, Discovery, discover
from npulint.discover.kinds import SourceFile
from npulint.discover.projects import marked_root


def company(found: Discovery, options: DiscoverOptions) -> list[SourceFile]:
    """The files to read besides those found: when a file was named alone, the rest of its project, or of
    its folder where no project is marked. Nothing is said about them."""
    alone = [file for file in found.files if file.path in found.named]
    folders = sorted({_home(file.path) for file in alone})
    if not folders:
        return []
    have = {(file.path, file.kind) for file in found.files}
    near = discover(folders, options).files
    return [file for file in near if (file.path, file.kind) not in have and _belongs(file, alone)]


def _home(path: str) -> str:
    folder = posixpath.dirname(path) or "."
    return marked_root(folder) or folder


def _belongs(file: SourceFile, alone: Sequence[SourceFile]) -> bool:
    """Without a marked project only the files beside the named ones count."""
    folder = posixpath.dirname(file.path) or "."
    if marked_root(folder) is not None:
        return True
    return any((posixpath.dirname(one.path) or ".") == folder for one in alone)
