"""Finds the files to read below the paths that a user names."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

import msgspec

from npulint.core.atomic_files import is_temporary
from npulint.discover.candidates import Candidates
from npulint.discover.file_filter import (
    artifact_kinds,
    counts,
    is_read,
    is_switch_file,
    limit_of,
    may_be_run,
    of_named_json,
    of_text,
    special,
)
from npulint.discover.graphs import SAVED_MODEL, superseded
from npulint.discover.ignore import Chain, Excludes, Git, chain_above, enter, ignored
from npulint.discover.kinds import (
    ARTIFACT,
    CODE,
    CONFIGURATION,
    DATA,
    DOCKERFILE,
    GRAPH,
    JSON_LIMIT,
    PASSING,
    SourceFile,
    kinds_by_content,
    kinds_of,
    may_be_loaded,
    may_configure,
    possible_kinds,
)
from npulint.discover.models import unsupported_reason
from npulint.discover.paths import Boundary, local, shown
from npulint.discover.projects import base_of
from npulint.discover.safe_open import read_head
from npulint.discover.tracked import Tracked, all_ignored
from npulint.facts.model import Problem

EXCLUDED = (
    *(".git", ".hg", ".svn", ".bzr", ".venv", "venv", ".env", "node_modules", "site-packages", ".tox", ".nox"),
    *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"),
    *(".eggs", "*.egg", "*.egg-info"),
)
"""Names excluded by default."""

MAX_ENTRIES = 5_000_000
"""Maximum files and folders below a named path that are looked at; a run stops there and says so."""

MAX_FILES = 200_000
"""Maximum files below a named path that are read."""

_MAX_DATA = 10_000  # files that programs may load; what else there is are records

_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")


class DiscoverOptions(msgspec.Struct, frozen=True):
    """Options of discovery. `exclude` replaces the default exclusions, `extend_exclude` adds to them; both hold
    patterns in .gitignore syntax relative to `base` (default: the working directory). Paths that the user names are
    read although excluded, unless `force_exclude`. `max_bytes` limits a Python file; a notebook may have ten times as
    many. `configurations`: find all files that may hold settings of a program, except large ones, not only those that
    are recognized as configurations of training frameworks."""

    exclude: tuple[str, ...] = EXCLUDED
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    force_exclude: bool = False
    max_bytes: int = 2_000_000
    base: str = ""
    configurations: bool = False


class Discovery(msgspec.Struct, frozen=True):
    """The result. `aliases` maps a path to the already listed file that it links to; `named` are the paths of the
    command line, as results spell them; `excluded` counts excluded folders and files. `folders` are the entered folders
    with their modification time in nanoseconds."""

    files: list[SourceFile]
    problems: list[Problem]
    aliases: dict[str, str]
    named: frozenset[str]
    excluded: int
    folders: dict[str, int] = {}


def discover(
    paths: Sequence[str],
    options: DiscoverOptions | None = None,
    contents: Mapping[str, bytes] = {},
    only: str = "",
    flat: Collection[str] = (),
) -> Discovery:
    """Find the files to read below `paths`, in a fixed order. Never raises for file contents.

    `contents` maps absolute locations to contents that override the disk; the files need not exist. With `only`, an
    absolute folder, only that folder, its parents and its subfolders are entered; of `flat` paths no subfolders."""
    finder = _Finder(options or DiscoverOptions(), contents, only, Boundary(paths), flat)
    for path in sorted(paths, key=lambda path: len(os.path.abspath(path))):  # outer folders see the whole project
        finder.named_path(path)
    return finder.result()


def _entered(folder: str, of_run: bool) -> tuple[bool, ...]:
    """Whether files of a folder may be run artifacts, as a one-element tuple; empty if the folder is not entered."""
    return () if of_run and not is_read(folder) else (of_run or may_be_run(folder),)


class _Finder:
    def __init__(
        self,
        options: DiscoverOptions,
        contents: Mapping[str, bytes],
        only: str,
        boundary: Boundary,
        flat: Collection[str] = (),
    ) -> None:
        self._flat = frozenset(flat)
        self._options = options
        self._boundary = boundary
        self._contents = contents
        self._contents_in: dict[str, list[str]] = {}
        for location in contents:
            folder = os.path.dirname(location)
            while not os.path.isdir(folder) and folder != os.path.dirname(folder):
                folder = os.path.dirname(folder)
            self._contents_in.setdefault(folder, []).append(os.path.relpath(location, folder))
        self._only = os.path.join(only, "") if only else ""
        self._times: dict[str, int] = {}
        self._excludes = Excludes((*options.exclude, *options.extend_exclude), options.base)
        self._found: list[tuple[bool, SourceFile, tuple[int, int]]] = []
        self._data: list[tuple[bool, SourceFile, tuple[int, int]]] = []
        self._problems: dict[str, Problem] = {}
        self._folders: set[tuple[int, int]] = set()
        self._named: set[str] = set()
        self._bases: dict[str, str] = {}
        self._git = Git()
        self._tracked = Tracked()
        self._kept: dict[str, Chain] = {}  # ignored folders with tracked files
        self._excluded = 0
        self._listed = 0

    def result(self) -> Discovery:
        files: dict[tuple[str, str], SourceFile] = {}
        first: dict[tuple[int, int], str] = {}
        aliases: dict[str, str] = {}
        loading = any(file.kind in ("python", "notebook") for _, file, _ in self._found)
        candidates = [*self._found, *(self._data if loading else ())]
        candidates.sort(key=lambda candidate: (candidate[0], candidate[1].path))  # real files before links to them
        for _, file, identity in candidates:
            kept = first.setdefault(identity, file.path) if identity[1] else file.path
            if kept == file.path:
                files.setdefault((file.path, file.kind), file)
            else:
                aliases[file.path] = kept
        problems = [self._problems[path] for path in sorted(self._problems)]
        listed = sorted(files.values(), key=lambda file: (file.path, file.kind))
        return Discovery(listed, problems, aliases, frozenset(self._named), self._excluded, self._times)

    def named_path(self, path: str) -> None:
        location = local(path)
        self._named.add(shown(location))
        if self._options.force_exclude and self._forbidden(location):
            self._excluded += 1
            return
        if self._contents and self._listed_content(location, os.path.abspath(location)):
            return
        try:
            status = os.stat(location)
        except (OSError, ValueError) as error:
            self._unreachable(location, error)
            return
        if stat.S_ISDIR(status.st_mode):
            self._saved_model(location)
            self._walk(location)
        else:
            self._named_file(location, status)

    def _saved_model(self, folder: str) -> None:
        """Naming the folder of a SavedModel means its graph."""
        for name in SAVED_MODEL if not self._options.force_exclude else ():
            location = os.path.join("" if folder == "." else folder, name)
            if os.path.isfile(location):
                if os.path.islink(location) and not self._boundary.holds(location):
                    self._outside(location)
                else:
                    self._named_file(location, os.stat(location))

    def _listed_content(self, location: str, absolute: str) -> bool:
        """List a named file whose content is provided by the caller."""
        data = self._contents.get(absolute)
        if data is not None:
            kinds = possible_kinds(location) or kinds_by_content(data[:200])
            if kinds:
                self._take_content(location, self._base(location), kinds, data, not self._options.force_exclude)
            elif not self._options.force_exclude:
                self._problem(location, unsupported_reason(location))
        return data is not None

    def _named_file(self, location: str, status: os.stat_result) -> None:
        kinds = kinds_of(location)
        if is_temporary(os.path.basename(location)):
            self._problem(location, "unsupported")
            return
        if not kinds and stat.S_ISREG(status.st_mode):
            kinds = kinds_by_content(read_head(location, 200)) or artifact_kinds(location)
            if (
                not kinds
                and may_configure(os.path.basename(location))
                and self._counts(location, CONFIGURATION, status.st_size)
            ):
                kinds = CONFIGURATION
            if not kinds:
                if not self._options.force_exclude:
                    self._problem(location, unsupported_reason(location) if status.st_size else "empty")
                return
        base, named = self._base(location), not self._options.force_exclude
        self._take(location, base, kinds, status, os.path.islink(location), named)

    def _base(self, location: str) -> str:
        """The base of a location, cached because thousands of files of a folder may be named."""
        folder = os.path.dirname(location)
        base = self._bases.get(folder)
        if base is None:
            base = self._bases[folder] = base_of(location, folder=False)
        return base

    def _forbidden(self, location: str) -> bool:
        """Whether a walk would exclude the named path."""
        if self._excludes.within(location):
            return True
        absolute, folder = os.path.abspath(location), os.path.isdir(location)
        if not self._options.respect_gitignore or not self._git.ignores(absolute, folder):
            return False
        return not self._tracked.holds(absolute, folder)

    def _unreachable(self, location: str, error: OSError | ValueError) -> None:
        if isinstance(error, PermissionError):
            self._problem(location, "unreadable", "permission denied")
        elif "\0" not in location and os.path.islink(location):
            self._problem(location, "missing", "dangling link")
        else:
            self._problem(location, "missing")

    def _problem(self, location: str, reason: str, detail: str = "") -> None:
        path = shown(location)
        self._problems.setdefault(path, Problem(path, reason, detail))

    def _walk(self, top: str) -> None:
        base = base_of(top, folder=True)
        top_absolute = os.path.abspath(top)
        is_of_run = may_be_run(top_absolute)  # artifacts are rarely under version control
        chain = chain_above(top_absolute) if self._options.respect_gitignore and not is_of_run else None
        candidates, begun = Candidates(self._excludes), len(self._found)
        # The prefix is the folder with a trailing separator, or empty for the working directory.
        start = "" if top == "." else os.path.join(top, "")
        stack: list[tuple[str, str, Chain | None, bool]] = [(start, top_absolute, chain, is_of_run)]
        while stack and self._has_room(top):
            prefix, absolute, chain, of_run = stack.pop()
            entries = self._entries(prefix, top=absolute == top_absolute)
            names = {entry.name for entry in entries}
            chain = self._rules_in(absolute, names, chain)
            packaged = "setup.py" in names or "pyproject.toml" in names
            contents = self._contents_in.get(absolute, ())
            old = superseded(names)
            for name in contents:
                self._walked_content(prefix, name, absolute, base, chain)
            for entry in entries:
                name = entry.name
                if name in contents or is_temporary(name) or len(self._found) > MAX_FILES:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    if top in self._flat:
                        continue
                    location, below = prefix + name, os.path.join(absolute, name)
                    if (packaged and name == "build") or self._left_out(location, name, absolute, chain, folder=True):
                        self._excluded += 1
                    else:
                        rules = self._kept.get(below, chain)
                        stack += [(location + os.sep, below, rules, run) for run in _entered(below, of_run)]
                    continue
                kinds = self._kinds(entry, prefix + name, of_run)
                candidates.see(entry, prefix + name, () if kinds == CONFIGURATION else kinds)
                if kinds:
                    if name in old or self._left_out(prefix + name, name, absolute, chain, folder=False):
                        self._excluded += 1
                    else:
                        self._entry(entry, prefix + name, base, kinds)
        self._has_room(top)
        self._left_behind(candidates, base, begun)

    def _rules_in(self, folder: str, names: Collection[str], chain: Chain | None) -> Chain | None:
        """The rules inside an absolute folder that contains `names`; `chain` are those above it."""
        if self._options.respect_gitignore:
            if ".git" in names:
                chain = chain_above(folder)
            if chain is not None and ".gitignore" in names:
                chain = enter(chain, folder)
        return chain

    def _kinds(self, entry: os.DirEntry[str], location: str, of_run: bool) -> tuple[str, ...]:
        """The kinds of a file by its name, or by its content in a folder of run artifacts."""
        if of_run and not self._leads_out(entry, location):
            kinds = artifact_kinds(location)
            if kinds:
                return kinds
        if is_switch_file(entry.name) and not self._leads_out(entry, location):
            return ARTIFACT
        return possible_kinds(location)

    def _left_behind(self, candidates: Candidates, base: str, begun: int) -> None:
        """List run artifacts among files of no other kind, unless the walk has found code."""
        alone = CODE.isdisjoint(file.kind for _, file, _ in self._found[begun:])
        for entry, location in candidates.files() if alone else ():
            kinds = () if self._leads_out(entry, location) else artifact_kinds(location)
            if kinds:
                self._entry(entry, location, base, kinds)

    def _has_room(self, top: str) -> bool:
        """Whether the walk below `top` may go on. The limits end checks of a whole disk, which would take hours."""
        limit = MAX_ENTRIES if self._listed > MAX_ENTRIES else MAX_FILES if len(self._found) > MAX_FILES else 0
        if limit:
            self._problems.setdefault(shown(top), Problem(shown(top), "too-many-files", f"> {limit}", fatal=False))
        return not limit

    def _leads_out(self, entry: os.DirEntry[str], location: str) -> bool:
        """Whether an entry is a symbolic link to something that the user did not name."""
        return entry.is_symlink() and not self._boundary.holds(location)

    def _outside(self, location: str) -> None:
        self._problem(location, "link-outside", shown(os.readlink(location)))

    def _on_the_way(self, folder: str) -> bool:
        """Whether a folder (with a trailing separator) is the requested one, or above or below it."""
        return folder.startswith(self._only) or self._only.startswith(folder)

    def _walked_content(self, prefix: str, relative: str, parent: str, base: str, chain: Chain | None) -> None:
        """List a file whose content is provided by the caller, in a folder of the walk or a subfolder that does not
        exist on disk."""
        names = relative.split(os.sep)
        kinds = possible_kinds(prefix + relative)
        if not kinds:
            return
        location = prefix
        for place, name in enumerate(names):
            folder = place < len(names) - 1
            location += name
            if self._left_out(location, name, parent, chain, folder):
                self._excluded += 1
                return
            parent = os.path.join(parent, name)
            location += os.sep if folder else ""
        self._take_content(location, base, kinds, self._contents[parent], named=False)

    def _take_content(self, location: str, base: str, kinds: tuple[str, ...], data: bytes, named: bool) -> None:
        verdict = of_text(location, kinds, data, self._options.max_bytes, named)
        if isinstance(verdict, Problem):
            self._problem(location, verdict.reason, verdict.detail)
            return
        for kind in verdict:
            self._add(False, SourceFile(shown(location), kind, location, base, len(data)), (0, 0))

    def _entries(self, prefix: str, top: bool) -> list[os.DirEntry[str]]:
        location = prefix or "."
        try:
            status = os.stat(location)
            identity = (status.st_dev, status.st_ino)
            if identity[1] and identity in self._folders:
                return []
            self._folders.add(identity)
            self._times[location] = status.st_mtime_ns
            with os.scandir(location) as scan:
                entries = list(islice(scan, MAX_ENTRIES + 1))
            self._listed += len(entries)
        except OSError as error:
            self._problem(location.rstrip(os.sep), "unreadable", error.strerror or "")
            return []
        if not top and any(entry.name in _ENVIRONMENT_MARKS for entry in entries):
            self._excluded += 1
            return []
        return entries

    def _left_out(self, location: str, name: str, parent: str, chain: Chain | None, folder: bool) -> bool:
        if folder and self._only and not self._on_the_way(os.path.join(parent, name, "")):
            return True
        if self._excludes.name(name) or self._excludes.path(location, folder):
            return True
        if not chain or not ignored(chain, parent, name, folder):
            return False
        path = os.path.join(parent, name)
        kept = self._tracked.holds(path, folder)
        if kept and folder:
            self._kept[path] = all_ignored(path)
        return not kept

    def _entry(self, entry: os.DirEntry[str], location: str, base: str, kinds: tuple[str, ...]) -> None:
        link = entry.is_symlink()
        if self._leads_out(entry, location):
            if kinds not in PASSING and not os.path.isdir(location):
                self._outside(location)
            return
        try:
            status = entry.stat()
        except OSError as error:
            if kinds not in PASSING:
                detail = "dangling link" if isinstance(error, FileNotFoundError) else error.strerror or ""
                self._problem(location, "not-a-file" if link else "unreadable", detail)
            return
        if stat.S_ISDIR(status.st_mode):  # links to folders are not followed
            return
        self._take(location, base, kinds, status, link)

    def _take(
        self, location: str, base: str, kinds: tuple[str, ...], status: os.stat_result, link: bool, named: bool = False
    ) -> None:
        """List the file if it is readable. A JSON or C++ file counts if its content says so, or if named."""
        passing = kinds in PASSING and not named
        if not stat.S_ISREG(status.st_mode):
            if not passing:
                self._problem(location, "not-a-file", special(status.st_mode))
            return
        size = status.st_size
        if passing and not self._counts(location, kinds, size):
            kinds = self._otherwise(location, kinds, size)
            if not kinds:
                return
        elif named and kinds == ("mixlist",):
            kinds = of_named_json(location, size)
            if not kinds:
                self._problem(location, "unsupported")
                return
        limit = limit_of(kinds, self._options.max_bytes)
        if size > limit:
            self._problem(location, "too-large", f"{size} > {limit}")
            return
        if status.st_mode & 0o444 != 0o444 and not os.access(location, os.R_OK):
            self._problem(location, "unreadable", "permission denied")
            return
        if kinds == DOCKERFILE and not named and not counts(location, kinds[0], size, 0):
            return
        identity = (status.st_dev, status.st_ino)
        for kind in kinds:
            self._add(link, SourceFile(shown(location), kind, location, base, size), identity)

    def _add(self, link: bool, file: SourceFile, identity: tuple[int, int]) -> None:
        if file.kind != "data":
            self._found.append((link, file, identity))
        elif len(self._data) < _MAX_DATA:
            self._data.append((link, file, identity))

    def _otherwise(self, location: str, kinds: tuple[str, ...], size: int) -> tuple[str, ...]:
        """The kinds of a file whose content does not match its name."""
        if kinds == ("mixlist",) and counts(location, "graph", size, 0):
            return GRAPH
        name = os.path.basename(location)
        settings = kinds != CONFIGURATION and may_configure(name)
        if settings and self._counts(location, CONFIGURATION, size):
            return CONFIGURATION
        return DATA if may_be_loaded(name, size) else ()

    def _counts(self, location: str, kinds: tuple[str, ...], size: int) -> bool:
        """Whether a file whose name only hints at its kind is of that kind."""
        if kinds == CONFIGURATION and self._options.configurations:
            return size <= JSON_LIMIT
        return counts(location, kinds[0], size, self._options.max_bytes)
