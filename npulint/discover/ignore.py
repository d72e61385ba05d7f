"""Exclusion by configured names and patterns, and by .gitignore files.

pathspec is imported on demand: many trees have no patterns."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from npulint.core.lazy_regex import lazy_compile
from npulint.core.links import below
from npulint.discover.safe_open import read_head

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_GLOB = lazy_compile(r"[*?\[\]!\\]")
_WILDCARDS = lazy_compile(r"\*+")
_GROUP_NAME = lazy_compile(r"\(\?P<\w+>")
_RULES_LIMIT = 256 * 1024  # bytes of one .gitignore
# What makes matching slow, since the expressions of pathspec backtrack, and does not occur in practice: more wildcards
# in a name, or in a segment of a path, than these; more segments ``**`` in a line; more lines with several of these.
_STARS, _STARS_IN_PATH, _DEEP, _DEEP_LINES = 4, 2, 3, 50


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


class Excludes:
    """Configured patterns in .gitignore syntax, relative to the folder `base`."""

    def __init__(self, patterns: Iterable[str], base: str = "") -> None:
        plain, globs, paths = set(), [], []
        for pattern in patterns:
            name = pattern.rstrip("/")
            if "/" in name or name.startswith("!"):
                paths.append(pattern)
            elif _GLOB.search(name):
                globs.append(fnmatch.translate(name))
            elif name:
                plain.add(name)
        self._names = frozenset(plain)
        self._globs = re.compile("|".join(globs)) if globs else None
        self._paths = IgnoreRules(paths, os.path.abspath(base)) if paths else None

    def name(self, name: str) -> bool:
        """Whether every file or folder called `name` is excluded."""
        return name in self._names or (self._globs is not None and self._globs.match(name) is not None)

    def path(self, location: str, folder: bool) -> bool:
        """Whether a pattern with a slash excludes the path itself."""
        if self._paths is None:
            return False
        absolute = os.path.abspath(location)
        return self._paths.verdict(absolute, os.path.basename(absolute), folder) is True

    def within(self, location: str) -> bool:
        """Whether `location` or a folder above it is excluded."""
        folder = False
        while location not in ("", ".", "..", os.path.dirname(location)):
            name = os.path.basename(location)
            if self.name(name) or self.path(location, folder) or self.path(location, True):
                return True
            location, folder = os.path.dirname(location), True
        return False


class IgnoreRules:
    """One set of patterns and the absolute folder they are relative to.

    Most files are not ignored. So a fast test of the last name comes first; only if it matches does pathspec evaluate
    order, negations and slashes."""

    def __init__(self, lines: Sequence[str], folder: str) -> None:
        self._last_first = tuple(reversed(list(_spec(lines).patterns)))
        self._skip = len(folder.rstrip(os.sep)) + 1
        self._folder = folder
        names, globs, paths = set(), [], []
        for line in lines:
            name = line.strip().lstrip("!").rstrip("/")
            if "/" in name or "\\" in name:
                paths.append(line)
            elif _GLOB.search(name):
                globs.append(fnmatch.translate(name))
            else:
                names.add(name)
        self._names = frozenset(names)
        self._globs = re.compile("|".join(globs)) if globs else None
        bodies = [_GROUP_NAME.sub("(?:", p.regex.pattern) for p in _spec(paths).patterns if p.regex is not None]
        bodies = [body if body.startswith("^") else f"(?s:.*?){body}" for body in bodies]
        self._paths = re.compile("|".join(bodies)) if bodies else None

    def verdict(self, path: str, name: str, folder: bool) -> bool | None:
        """True if the absolute `path`, whose last part is `name`, is ignored, False if it is explicitly re-included,
        else None."""
        relative = ""
        if name not in self._names and (self._globs is None or self._globs.match(name) is None):
            if self._paths is None:
                return None
            relative = self._relative(path, folder)
            if self._paths.match(relative) is None:
                return None
        if not path.startswith(self._folder):
            return None
        relative = relative or self._relative(path, folder)
        for pattern in self._last_first:
            if pattern.regex is not None and _matches(pattern.regex, relative):
                return pattern.include
        return None

    def _relative(self, path: str, folder: bool) -> str:
        return path[self._skip :].replace(os.sep, "/") + ("/" if folder else "")


def _matches(regex: re.Pattern[str], relative: str) -> bool:
    """Whether the path itself matches; pathspec's expressions also match everything below a matching folder, but the
    walk has already tested that folder."""
    match = regex.search(relative)
    if match is None:
        return False
    if "ps_d" not in regex.groupindex:  # ``folder/**`` matches the contents, not the folder
        return match.end() < len(relative) or not regex.pattern.endswith("/")
    if match.end() == len(relative) or not match.group("ps_d"):
        return True
    return any(m.end() == len(relative) for m in regex.finditer(relative)) or regex.fullmatch(relative) is not None


Chain = tuple[IgnoreRules, ...]
"""The rules that apply in a folder, nearest first."""


def ignored(chain: Chain, parent: str, name: str, folder: bool) -> bool:
    """Whether git ignores `name` in the absolute folder `parent`, which it does not ignore."""
    path = parent + name if parent.endswith(os.sep) else parent + os.sep + name
    for rules in chain:
        verdict = rules.verdict(path, name, folder)
        if verdict is not None:
            return verdict
    return False


def chain_above(folder: str) -> Chain | None:
    """The rules that apply to the absolute `folder` from above; None outside a git repository.

    A folder that is itself ignored was named explicitly: then no rules from above apply."""
    root = folder
    while not os.path.lexists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return None
        root = parent
    chain = _excludes(root)
    between = folder[len(root) :].strip(os.sep)
    here = root
    for part in between.split(os.sep) if between else ():
        chain = enter(chain, here)
        if ignored(chain, here, part, True):
            return ()
        here = os.path.join(here, part)
    return chain


def enter(chain: Chain, folder: str) -> Chain:
    """The rules inside the absolute `folder`, which may hold a .gitignore. Like git, do not follow a link there."""
    location = os.path.join(folder, ".gitignore")
    return chain if os.path.islink(location) else _file_rules(location, folder) + chain


class Git:
    """Answers which paths git ignores, one at a time; caches the rules of folders."""

    def __init__(self) -> None:
        self._inside: dict[str, Chain | None] = {}
        self._outside: set[str] = set()

    def ignores(self, path: str, folder: bool) -> bool:
        """Whether git ignores the absolute `path`, or a folder above it in its repository."""
        parent, name = os.path.split(path)
        rules = self._rules(parent)
        return rules is None or ignored(rules, parent, name, folder)

    def _rules(self, folder: str) -> Chain | None:
        """The rules of a folder, empty outside a repository; None if the folder is ignored."""
        if folder not in self._inside:
            self._inside[folder] = self._found(folder)
        return self._inside[folder]

    def _found(self, folder: str) -> Chain | None:
        parent, name = os.path.split(folder)
        if os.path.lexists(os.path.join(folder, ".git")):
            return enter(_excludes(folder), folder)
        above = self._rules(parent) if name else ()
        if not name or parent in self._outside:
            self._outside.add(folder)
            return ()
        return None if above is None or ignored(above, parent, name, True) else enter(above, folder)


def _excludes(root: str) -> Chain:
    """The rules of the repository at `root` that are not part of it, unless links lead out of it."""
    location = os.path.join(root, ".git", "info", "exclude")
    return _file_rules(location, root) if below(location, root) else ()


def _file_rules(location: str, folder: str) -> Chain:
    text = read_head(location, _RULES_LIMIT).decode("utf-8", "replace")
    lines = _affordable(line.rstrip("\r") for line in text.split("\n") if line.strip() and line[0] != "#")
    if not lines:
        return ()
    try:
        return (IgnoreRules(lines, folder),)
    except (ValueError, re.error):  # skip the malformed line, keep the others
        good = [line for line in lines if _valid(line)]
        return (IgnoreRules(good, folder),) if good else ()


def _affordable(lines: Iterable[str]) -> list[str]:
    """The lines that are matched in little time whatever the path is; others ignore nothing."""
    affordable, deep = [], 0
    for line in lines:
        several = _levels(line) > 1
        deep += several
        if not is_costly(line) and not (several and deep > _DEEP_LINES):
            affordable.append(line)
    return affordable


def is_costly(pattern: str) -> bool:
    """Whether matching a pattern in .gitignore syntax may take long on some paths, because of many wildcards."""
    parts = pattern.strip().strip("/").split("/")
    most = _STARS if len(parts) == 1 else _STARS_IN_PATH
    return _levels(pattern) > _DEEP or any(part != "**" and len(_WILDCARDS.findall(part)) > most for part in parts)


def _levels(pattern: str) -> int:
    return pattern.strip().strip("/").split("/").count("**")


def _valid(line: str) -> bool:
    try:
        _spec([line])
    except (ValueError, re.error):
        return False
    return True
