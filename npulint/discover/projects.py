"""Groups files into projects; a model zoo has hundreds in one tree."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.core.links import leads_out
from npulint.discover.kinds import REQUIREMENTS
from npulint.discover.safe_open import read_head

if TYPE_CHECKING:
    from npulint.discover.kinds import SourceFile

_DECISIVE = frozenset(("npulint.toml", ".npulint.toml", "modelzoo_level.txt"))
_CERTAIN = frozenset((".git", "pyproject.toml", *_DECISIVE))
_README = lazy_compile(r"readme(?:[._-].*)?", re.IGNORECASE)
_PACKAGING = lazy_compile(rb"setuptools|distutils|skbuild|\bsetup\(")
_IMPORT = lazy_compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_FRAMEWORK = lazy_compile(
    rb"^[ \t]*(?:torch|tensorflow(?:[-_][cg]pu)?)[ \t]*(?:[=<>~!;#@]|$)", re.MULTILINE | re.IGNORECASE
)
_BEGINNING = 1 << 16  # bytes of a module that are examined
_MODULES = 32  # of a folder whose imports are looked at
_START = lazy_compile(r"(?:\w*_)?(?:train|main|run)(?:n?ing|n?er|_\w+|-\w+)?\.py|.+\.sh", re.IGNORECASE)
_HELPER = lazy_compile(r"(?:utils?|ops?|helpers?|lib|common|config|hooks?|loop|data|base)\.py$", re.IGNORECASE)
_CODE = ("python", "notebook")

MOST_DATA = 1000
"""Maximum data files of a project that its programs may load; more are records."""
_START_FOLDERS = frozenset("test tests scripts script src code bin shell tools train".split())


class _Marks(NamedTuple):
    """Evidence that a folder is a project: an explicit declaration, a strong indication, a README; code in it, an entry
    point in it or in a usual subfolder, a Python one directly in it; only requirements; only launchers as entry points;
    the metadata of a package; requirements of any kind."""

    decisive: bool = False
    certain: bool = False
    readme: bool = False
    code: bool = False
    starts: bool = False
    leads: bool = False
    listed: bool = False
    launches: bool = False
    packs: bool = False
    requires: bool = False


class ProjectRoots:
    """Finds project roots; caches the evidence of each folder."""

    def __init__(self) -> None:
        self._marks: dict[str, _Marks] = {}
        self._imports: dict[str, set[str]] = {}
        self._needed: dict[tuple[str, str], bool] = {}
        self._frameworks: dict[str, bool] = {}

    def root(self, folder: str, stop: str) -> str | None:
        """The nearest root at or above `folder` and not above `stop`, or None.

        A declared project includes everything below it. A README alone may describe a part of a project or a collection
        of projects: it marks a root if the folder also has an entry point and no parent folder is a program, or if all
        parents are collections without entry points; it marks none below requirements of a framework, which are those
        of its programs, unless it has its own. Requirements alone may be those of a vendored library, whose program is
        further up. A package is part of a project, unless nothing else marks one. Described launchers below
        a package start what it installs: they are examples of it; described scripts below its ``src`` are installed
        themselves."""
        nearest: str | None = None
        launchers: str | None = None
        described: str | None = None
        settled = False
        listed = False
        for place in _upwards(folder, stop):
            marks = self._of(place)
            if marks.decisive:
                return place
            if settled:
                nearest = place if listed and marks.leads else nearest
                continue
            listed = marks.listed
            if marks.packs and (nearest == launchers or _is_installed(nearest, place)):
                nearest = None
            if self._needs(nearest, place):
                nearest = None
            if self._needs(described, place):
                described = None
            if marks.certain:
                shared = marks.requires and self._shares(nearest or described, place)
                nearest = place if marks.leads or shared else nearest or (place if marks.code else described) or place
                settled = True
            elif marks.readme and marks.starts:
                launchers = place if marks.launches and nearest is None else launchers
                nearest = place if marks.leads else nearest or place
            elif marks.readme and marks.code:
                described = place
            elif marks.leads:
                described = None
        return nearest or described

    def _shares(self, inner: str | None, folder: str) -> bool:
        """Whether what is required in a folder above is also for the programs of a folder that requires nothing."""
        if inner is None or inner == folder or self._of(inner).requires or self._of(inner).packs:
            return False
        if folder not in self._frameworks:
            listed = [name for name in _names(folder) if REQUIREMENTS.fullmatch(name)]
            inside = (path for name in listed if not leads_out(path := posixpath.join(folder, name), folder))
            self._frameworks[folder] = any(_FRAMEWORK.search(read_head(path, _BEGINNING)) for path in inside)
        return self._frameworks[folder]

    def _needs(self, described: str | None, folder: str) -> bool:
        """Whether code directly in a described folder imports a package that stands in a folder above it, or in the
        ``src`` there."""
        if described is None or described == folder or self._of(described).packs:
            return False
        if described not in self._imports:
            self._imports[described] = _imported(described)
        if (described, folder) not in self._needed:
            places = (posixpath.join(folder, inner, name) for name in self._imports[described] for inner in ("", "src"))
            self._needed[described, folder] = any(map(_is_package, places))
        return self._needed[described, folder]

    def _of(self, folder: str) -> _Marks:
        marks = self._marks.get(folder)
        if marks is None:
            marks = self._marks[folder] = _look(folder)
        return marks


def _look(folder: str) -> _Marks:
    names = _names(folder)
    package = "__init__.py" in names
    certain = not _CERTAIN.isdisjoint(names)
    requires = any(REQUIREMENTS.fullmatch(name) for name in names)
    listed = not certain and not package and requires
    certain = certain or listed
    packs = "setup.py" in names and _packs(folder)
    readme = packs or any(_README.fullmatch(name) for name in names)
    packs = packs or "pyproject.toml" in names
    if not certain and not readme:
        return _Marks(leads=not package and _starts(names, ".py"))
    code = any(name.endswith((".py", ".sh", "pyproject.toml")) for name in names)
    if package:
        return _Marks(not _DECISIVE.isdisjoint(names), certain, readme, code, packs=packs, requires=requires)
    leads = _starts(names, ".py")
    within = [_names_inside(posixpath.join(folder, name)) for name in sorted(_START_FOLDERS.intersection(names))]
    starts = any(map(_starts, (names, *within)))
    launches = starts and not any(_starts(some, ".py") for some in (names, *within))
    decisive = not _DECISIVE.isdisjoint(names)
    return _Marks(decisive, certain, readme, code, starts, leads, listed, launches, packs, requires)


def _packs(folder: str) -> bool:
    """Whether the ``setup.py`` of a folder installs a package; others configure a training. An empty one counts."""
    location = posixpath.join(folder, "setup.py")
    text = b"" if leads_out(location, folder) else read_head(location, _BEGINNING)
    return not text.strip() or bool(_PACKAGING.search(text))


def _imported(folder: str) -> set[str]:
    """The packages that modules directly in a folder import at their beginnings, but for those that it has itself."""
    names = [name for name in _names_inside(folder) if name.endswith(".py")]
    inside = [name for name in sorted(names)[:_MODULES] if not leads_out(posixpath.join(folder, name), folder)]
    heads = (read_head(posixpath.join(folder, name), _BEGINNING) for name in inside)
    packages = {package.decode() for head in heads for package in _IMPORT.findall(head)}
    return {name for name in packages if f"{name}.py" not in names and not _is_package(posixpath.join(folder, name))}


def _is_package(folder: str) -> bool:
    return os.path.isfile(posixpath.join(folder, "__init__.py"))


def _starts(names: list[str], ending: str = "") -> bool:
    return any(_START.fullmatch(name) and not _HELPER.search(name) for name in names if name.endswith(ending))


def _names_inside(folder: str) -> list[str]:
    """The names in a folder; none for a link, because a check does not enter it."""
    return [] if os.path.islink(folder) else _names(folder)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_installed(folder: str | None, package: str) -> bool:
    """Whether a folder is among the sources of a package that keeps them below ``src``."""
    return folder is not None and folder.startswith(posixpath.normpath(posixpath.join(package, "src")) + "/")


def _upwards(folder: str, stop: str) -> Iterable[str]:
    yield folder
    while folder != stop:
        parent = posixpath.dirname(folder) or ("/" if folder.startswith("/") else ".")
        if parent == folder:
            return
        folder = parent
        yield folder


def project_root(path: str, stop: str) -> str:
    """The project folder of the file `path`: the nearest folder above it with a mark (requirements, pyproject,
    configuration, ``.git``, ``modelzoo_level.txt``; README and setup.py next to an entry point), but not a package and
    never above `stop`, which is also the result if nothing is marked. Paths are POSIX, `stop` is a folder above `path`.
    """
    return ProjectRoots().root(posixpath.dirname(path) or ".", stop) or stop


def marked_root(folder: str, roots: ProjectRoots | None = None) -> str | None:
    """The root of the project of a folder below the working directory, if one is marked. Pass `roots` for repeated
    calls."""
    return None if folder.startswith(("/", "..")) or ":" in folder else (roots or ProjectRoots()).root(folder, ".")


def base_of(location: str, folder: bool) -> str:
    """The highest folder that may be the project root of files below a path that the user named.

    A part of a project that is named alone (``npulint check proj/models``) belongs to the same project as in a check of
    everything, as long as that project is below the working directory."""
    start = location.replace(os.sep, "/") if folder else posixpath.dirname(location.replace(os.sep, "/")) or "."
    if start.startswith(("/", "..")) or ":" in start:
        return start
    return ProjectRoots().root(start, ".") or (start if folder else ".")


def with_runs(groups: dict[str, list[SourceFile]]) -> dict[str, list[SourceFile]]:
    """The groups, with all run artifacts assigned to the project with code if there is exactly one. Otherwise artifacts
    outside all projects with code form one group: the ranks of one run."""
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
    """The common parent folder of all `roots`; the first of them if there is none, or it is in `taken`."""
    try:
        common = posixpath.commonpath(roots) or "."
    except ValueError:
        return roots[0]
    return roots[0] if common in taken else common


def group(files: Iterable[SourceFile]) -> dict[str, list[SourceFile]]:
    """The files by project root, both in path order; ``"."`` is the working directory."""
    roots = ProjectRoots()
    memo: dict[tuple[str, str], str] = {}
    groups: dict[str, list[SourceFile]] = {}
    for file in files:
        key = (posixpath.dirname(file.path) or ".", file.base)
        root = memo.get(key)
        if root is None:
            root = memo[key] = roots.root(*key) or file.base
        groups.setdefault(root, []).append(file)
    by_root = {root: _without_idle_data(groups[root]) for root in sorted(groups)}
    return {root: sorted(files, key=lambda file: (file.path, file.kind)) for root, files in by_root.items() if files}


def _without_idle_data(files: list[SourceFile]) -> list[SourceFile]:
    """The files of a project without data files that no program there can load, or that are so many that they are
    records."""
    data = sum(1 for file in files if file.kind == "data")
    if data and (data > MOST_DATA or not any(file.kind in _CODE for file in files)):
        return [file for file in files if file.kind != "data"]
    return files
