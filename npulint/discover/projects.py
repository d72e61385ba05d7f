"""Which files form one project: in a model zoo hundreds of them lie side by side."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from npulint.discover.kinds import REQUIREMENTS
from npulint.lazy_regex import lazy_compile

if TYPE_CHECKING:
    from npulint.discover.kinds import SourceFile

_DECISIVE = frozenset(("npulint.toml", ".npulint.toml", "modelzoo_level.txt"))
_CERTAIN = frozenset((".git", "pyproject.toml", *_DECISIVE))
_README = lazy_compile(r"readme(?:[._-].*)?", re.IGNORECASE)
_PACKAGING = lazy_compile(r"setuptools|distutils|skbuild|\bsetup\(")
_BEGINNING = 1 << 16  # of a setup.py, in which it says what it is
_START = lazy_compile(r"(?:\w*_)?(?:train|main|run)(?:n?ing|n?er|_\w+|-\w+)?\.py|.+\.sh", re.IGNORECASE)
_HELPER = lazy_compile(r"(?:utils?|ops?|helpers?|lib|common|config|hooks?|loop|data|base)\.py$", re.IGNORECASE)
_CODE = ("python", "notebook")
_START_FOLDERS = frozenset("test tests scripts script src code bin shell tools train".split())


class _Marks(NamedTuple):
    """What speaks for a folder being a project: a declaration, a sure sign, a README; code in it, a
    script to start there or in a usual place below, and a Python one right there; only requirements."""

    decisive: bool = False
    certain: bool = False
    readme: bool = False
    code: bool = False
    starts: bool = False
    leads: bool = False
    listed: bool = False


class Roots:
    """Finds project roots and remembers what it saw of each folder."""

    def __init__(self) -> None:
        self._marks: dict[str, _Marks] = {}

    def root(self, folder: str, stop: str) -> str | None:
        """The nearest root at or above `folder` and not above `stop`, or None.

        A declared project holds everything below it. A README alone may describe a part of a project or
        a shelf of projects: it makes a root when a script to start lies there too and no program further
        out, or when all above it is a shelf without code. Requirements alone may be those of a copied
        library, whose program starts further out. A package is a part, unless nothing else does.
        """
        found: str | None = None
        described: str | None = None
        settled = False
        listed = False
        for place in _upwards(folder, stop):
            marks = self._of(place)
            if marks.decisive:
                return place
            if settled:
                found = place if listed and marks.leads else found
                continue
            listed = marks.listed
            if marks.certain:
                found = place if marks.leads else found or (place if marks.code else described) or place
                settled = True
            elif marks.readme and marks.starts:
                found = place if marks.leads else found or place
            elif marks.readme and marks.code:
                described = place
        return found or described

    def _of(self, folder: str) -> _Marks:
        marks = self._marks.get(folder)
        if marks is None:
            marks = self._marks[folder] = _look(folder)
        return marks


def _look(folder: str) -> _Marks:
    names = _names(folder)
    package = "__init__.py" in names
    certain = not _CERTAIN.isdisjoint(names)
    listed = not certain and not package and any(REQUIREMENTS.fullmatch(name) for name in names)
    certain = certain or listed
    readme = any(_README.fullmatch(name) for name in names) or ("setup.py" in names and _packs(folder))
    if not certain and not readme:
        return _Marks(leads=not package and _starts(names, ".py"))
    code = any(name.endswith((".py", ".sh", "pyproject.toml")) for name in names)
    if package:
        return _Marks(not _DECISIVE.isdisjoint(names), certain, readme, code)
    leads = _starts(names, ".py")
    starts = (
        leads
        or _starts(names)
        or any(_starts(_names(posixpath.join(folder, name))) for name in _START_FOLDERS.intersection(names))
    )
    return _Marks(not _DECISIVE.isdisjoint(names), certain, readme, code, starts, leads, listed)


def _packs(folder: str) -> bool:
    """Whether the ``setup.py`` of a folder installs something; others set up a training run. An empty one may."""
    try:
        with open(posixpath.join(folder, "setup.py"), encoding="utf-8", errors="replace") as file:
            text = file.read(_BEGINNING)
    except OSError:
        return True
    return not text.strip() or bool(_PACKAGING.search(text))


def _starts(names: list[str], ending: str = "") -> bool:
    return any(_START.fullmatch(name) and not _HELPER.search(name) for name in names if name.endswith(ending))


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _upwards(folder: str, stop: str) -> Iterable[str]:
    yield folder
    while folder != stop:
        parent = posixpath.dirname(folder) or ("/" if folder.startswith("/") else ".")
        if parent == folder:
            return
        folder = parent
        yield folder


def project_root(path: str, stop: str) -> str:
    """The folder of the project that the file `path` belongs to: the nearest one above it with a mark
    (requirements, pyproject, configuration, ``.git``, ``modelzoo_level.txt``; README and setup.py where a
    script to start lies beside them), but not a package and never above `stop`, which also answers
    when nothing is marked. Paths are POSIX, `stop` is a folder above `path`."""
    return Roots().root(posixpath.dirname(path) or ".", stop) or stop


def marked_root(folder: str, roots: Roots | None = None) -> str | None:
    """The root of the project that a folder below the working directory belongs to, if one is marked. `roots` are
    handed in by who asks often."""
    return None if folder.startswith(("/", "..")) or ":" in folder else (roots or Roots()).root(folder, ".")


def base_of(location: str, folder: bool) -> str:
    """The highest folder that may be the root of files found at a path the user named.

    A part of a project that is named alone (``npulint check proj/models``) belongs to the same project
    as in a run over everything, as long as that project lies below the working directory.
    """
    start = location.replace(os.sep, "/") if folder else posixpath.dirname(location.replace(os.sep, "/")) or "."
    if start.startswith(("/", "..")) or ":" in start:
        return start
    return Roots().root(start, ".") or (start if folder else ".")


def with_runs(groups: dict[str, list[SourceFile]]) -> dict[str, list[SourceFile]]:
    """The groups; what a run left behind belongs to the code that ran, wherever it lies, if there is only one project
    with code among them. Else what lies outside of all projects with code belongs together: the ranks of one run."""
    homes = [root for root, files in groups.items() if any(file.kind in _CODE for file in files)]
    away = [root for root in groups if root not in homes and any(file.kind == "artifact" for file in groups[root])]
    if not away or (len(homes) != 1 and len(away) == 1):
        return groups
    home = homes[0] if len(homes) == 1 else _common(away, homes)
    kept: dict[str, list[SourceFile]] = {}
    for root, files in groups.items():
        own = files if root not in away else [file for file in files if file.kind != "artifact"]
        if own:
            kept[root] = own
    moved = [file for root in away for file in groups[root] if file.kind == "artifact"]
    return {**kept, home: [*kept.get(home, ()), *moved]}


def _common(roots: list[str], taken: list[str]) -> str:
    """The folder that all `roots` lie in; the first of them where there is none, or it is `taken`."""
    try:
        common = posixpath.commonpath(roots) or "."
    except ValueError:
        return roots[0]
    return roots[0] if common in taken else common


def group(files: Iterable[SourceFile]) -> dict[str, list[SourceFile]]:
    """The files by the root of their project, both in path order; ``"."`` is the working directory."""
    roots = Roots()
    memo: dict[tuple[str, str], str] = {}
    groups: dict[str, list[SourceFile]] = {}
    for file in files:
        key = (posixpath.dirname(file.path) or ".", file.base)
        root = memo.get(key)
        if root is None:
            root = memo[key] = roots.root(*key) or file.base
        groups.setdefault(root, []).append(file)
    return {root: sorted(groups[root], key=lambda file: (file.path, file.kind)) for root in sorted(groups)}
