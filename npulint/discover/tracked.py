"""Files that git tracks although .gitignore names them: they belong to the project like any other.

git ignores only what it does not track. Code and configurations are often ignored by a rule that is meant for something
else (``lib/``, ``*.yaml``) and committed all the same."""

from __future__ import annotations

import os

from npulint.core.links import below
from npulint.discover.git_index import tracked_paths
from npulint.discover.ignore import Chain, IgnoreRules
from npulint.discover.kinds import CODE, CONFIGURATION, possible_kinds
from npulint.discover.safe_open import read_head

_TAKEN = CODE.union(CONFIGURATION)
_GENERATED = frozenset(
    """build _build dist generated site htmlcov output outputs runs log logs lightning_logs
    wandb mlruns .hydra .idea .vscode""".split()
)
"""Folders with what programs have written: committed or not, it is no source."""
_MARK = b"gitdir: "
_HEAD = 4096  # bytes of a file `.git`


class Tracked:
    """Answers whether git tracks an ignored path. An index is read when some path in its repository is ignored."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}
        self._paths: dict[str, frozenset[str]] = {}

    def holds(self, path: str, folder: bool) -> bool:
        """Whether the absolute `path` is tracked code or a tracked configuration, or a `folder` that has some."""
        root = self._root(os.path.dirname(path))
        if not root:
            return False
        if root not in self._paths:
            self._paths[root] = _known(root)
        return path[len(root) :].strip(os.sep).replace(os.sep, "/") + ("/" if folder else "") in self._paths[root]

    def _root(self, folder: str) -> str:
        """The folder of the repository around an absolute folder; empty outside of one."""
        if folder not in self._roots:
            parent = os.path.dirname(folder)
            if os.path.lexists(os.path.join(folder, ".git")):
                self._roots[folder] = folder
            else:
                self._roots[folder] = "" if parent == folder else self._root(parent)
        return self._roots[folder]


def all_ignored(folder: str) -> Chain:
    """The rules in an ignored folder: git ignores all that is in it."""
    return (IgnoreRules(["*"], folder),)


def _known(root: str) -> frozenset[str]:
    """The tracked code and configurations of a repository, and the folders with some, which end with a slash."""
    index = _index(root)
    found: set[str] = set()
    for path in tracked_paths(index) if index else ():
        folders = path.split("/")[:-1]
        if _GENERATED.isdisjoint(folders) and not _TAKEN.isdisjoint(possible_kinds(path)):
            found.add(path)
            while folders and (folder := "/".join(folders) + "/") not in found:
                found.add(folder)
                folders.pop()
    return frozenset(found)


def _index(root: str) -> str:
    """The index of the repository at `root`; empty if its place is not certain. A file ``.git`` may name any folder: it
    must be that of this work tree, or of a submodule in the repository around."""
    mark = os.path.join(root, ".git")
    if os.path.isdir(mark):
        return os.path.join(mark, "index") if below(os.path.join(mark, "index"), root) else ""
    head = read_head(mark, _HEAD)
    if not head.startswith(_MARK):
        return ""
    place = os.path.join(root, os.fsdecode(head.removeprefix(_MARK).partition(b"\n")[0]))
    back = os.fsdecode(read_head(os.path.join(place, "gitdir"), _HEAD).partition(b"\n")[0])
    if back and _same(os.path.join(place, back), mark):
        return os.path.join(place, "index")
    return os.path.join(place, "index") if _around(place, root) else ""


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def _around(place: str, root: str) -> bool:
    """Whether a folder is below the folder ``.git`` of a repository around `root`."""
    parent = os.path.dirname(root)
    while parent != os.path.dirname(parent):
        if os.path.isdir(os.path.join(parent, ".git", "modules")):
            return below(place, os.path.join(parent, ".git", "modules"))
        parent = os.path.dirname(parent)
    return False
